// The account of each CPU: written by cpu_account.bpf.c, and read by programs that ask what a CPU is
// doing at this moment.

#pragma once

// clang-format off
#include <linux/bpf.h>  // first: the others need its types
// clang-format on

#include <bpf/bpf_helpers.h>

#define SOFTIRQS 10
#define INTERRUPTS 5
#define RECENT 8  // a power of two

// What the idle task does. It is entering an idle state from the switch to it on. In the state it
// is resting, until an interrupt or the state's end; from then on it is leaving, until the switch
// away or the next state. One that the sampling clock woke is still resting by this account.
enum { ENTERING = 1, RESTING, LEAVING, SAMPLED };

// Laid out as `Task` and, of the slots, `Slot` in cpu_account.py.
struct Task {
  __u64 user;
  __u64 system;
  __u32 process;
  char command[16];
};

// Tasks that ran last on a CPU, by the lower bits of their number: a core that goes to and fro
// between a few tasks finds them here for a third of what the table of all costs.
struct Recent {
  struct {
    struct Task task;
    __u32 thread;  // 0 for none
  } slots[RECENT];
};

// Laid out as `Account` in cpu_account.py. Nanoseconds; `since` and `until` of CLOCK_MONOTONIC.
struct Account {
  __u64 since;
  __u64 until;
  __u64 idle;
  __u64 idle_entry;
  __u64 idle_exit;
  __u64 idle_states;  // how often one was entered
  __u64 user;
  __u64 system;
  __u64 softirq[SOFTIRQS];
  __u64 softirq_count[SOFTIRQS];
  __u64 interrupt[INTERRUPTS];
  __u64 interrupt_count[INTERRUPTS];
  __u64 settled_user;  // how much of `user` and `system` the tasks' own entries hold
  __u64 settled_system;
  __u64 switches;
  __u32 in_softirq;  // vector + 1; 0 for none
  __u32 in_interrupt;
  __u32 in_user;
  __u32 in_idle;      // 0 for another task
  __u32 interrupted;  // what `in_idle` was when the interrupt came that runs
  struct Recent recent;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct Account);
} accounts SEC(".maps");

static __always_inline struct Account* this_account(void) {
  __u32 first = 0;
  return bpf_map_lookup_elem(&accounts, &first);
}
