// Counts what a CPU was doing, by stack, each time that a clock of perf_event_open fires.
//
// The clock fires in the timer interrupt, so a sample shows what that interrupt came on top of. While
// interrupts are off it cannot fire: that time lands on the function that switches them on again.
//
// A sample is one entry of a hash, and the stack is part of its key. So nothing is lost to two stacks
// of one number, and nothing is done for a sample in user space. What the CPU is doing by the words
// of the exact account (task, or which softirq) is read from that account itself.

#include "cpu_account.bpf.h"

// Laid out as `StackKey` in stack_samples.py. In user mode only the innermost address is taken:
// most programs are built without frame pointers.
struct StackKey {
  __u64 addresses[STACK_FRAMES];  // from the innermost; 0 after the last
  __u32 cpu;
  __u32 process;
  __u32 softirq;  // vector + 1; 0 in a task
  __u32 idle;     // ENTERING or LEAVING an idle state; 0 in another task
  __u32 user;
  __u32 of_user;  // by an account that divides at system calls; of a task alone
  char command[16];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, MAX_STACKS);
  __type(key, struct StackKey);
  __type(value, __u64);
} stacks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct StackKey);
} scratch SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} lost SEC(".maps");  // samples for which the hash had no room

SEC("perf_event")
int sample_stack(void* context) {
  __u32 first = 0;
  struct Account* account = this_account();
  struct StackKey* key = bpf_map_lookup_elem(&scratch, &first);
  if (!account || !key) return 0;
  key->softirq = account->in_softirq;
  key->idle = key->softirq ? 0 : account->in_idle;
  key->of_user = !key->softirq && !key->idle && account->in_user;
  // A core that rested before this clock's own interrupt came rests on.
  if (key->idle && (account->interrupted == RESTING || account->interrupted == SAMPLED)) {
    account->in_idle = SAMPLED;
    return 0;
  }
  __builtin_memset(key->addresses, 0, sizeof key->addresses);
  key->user = bpf_get_stack(context, key->addresses, sizeof key->addresses, 0) <= 0;
  if (key->user) {
    __builtin_memset(key->addresses, 0, sizeof key->addresses);
    bpf_get_stack(context, key->addresses, sizeof key->addresses[0], BPF_F_USER_STACK);
  }
  key->cpu = bpf_get_smp_processor_id();
  key->process = bpf_get_current_pid_tgid() >> 32;
  bpf_get_current_comm(key->command, sizeof key->command);
  __u64* count = bpf_map_lookup_elem(&stacks, key);
  if (count) {
    __sync_fetch_and_add(count, 1);
    return 0;
  }
  __u64 one = 1;
  if (!bpf_map_update_elem(&stacks, key, &one, BPF_NOEXIST)) return 0;
  count = bpf_map_lookup_elem(&lost, &first);
  if (count) ++*count;
  return 0;
}

char program_license[] SEC("license") = "GPL";  // bpf_get_stack asks for it
