// Books how long each watched thread lay in uninterruptible sleep: waiting for a disk, mostly.
//
// From the switch that takes it off its CPU in that state to the one that brings it back, so the
// wait for a CPU after the disk has answered is inside: for what the thread serves it is the same.
//
// WATCHES(process) is given when it is compiled: whether a process is one of those looked at.

// clang-format off
#include <linux/bpf.h>  // first: the others need its types
// clang-format on

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define MAX_THREADS 1024
#define UNINTERRUPTIBLE 0x2  // TASK_UNINTERRUPTIBLE, include/linux/sched.h
#define NO_LOAD 0x400        // TASK_NOLOAD: idle kernel threads

struct task_struct {
  int pid;
  int tgid;
  unsigned int __state;
} __attribute__((preserve_access_index));

// Laid out as `ThreadKey` and `Wait` in blocked.py.
struct ThreadKey {
  __u32 process;
  __u32 thread;
};

struct Wait {
  __u64 nanoseconds;
  __u64 times;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, MAX_THREADS);
  __type(key, struct ThreadKey);
  __type(value, struct Wait);
} waits SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, MAX_THREADS);
  __type(key, __u32);  // thread
  __type(value, __u64);
} since SEC(".maps");

static void end_wait(__u32 process, __u32 thread, __u64 now) {
  __u64* began = bpf_map_lookup_elem(&since, &thread);
  if (!began)
    return;
  struct ThreadKey key = {process, thread};
  struct Wait none = {0, 0};
  struct Wait* wait = bpf_map_lookup_elem(&waits, &key);
  if (!wait) {
    bpf_map_update_elem(&waits, &key, &none, BPF_NOEXIST);
    wait = bpf_map_lookup_elem(&waits, &key);
  }
  if (wait) {
    wait->nanoseconds += now - *began;  // a thread runs on one CPU at a time: no other adds to it
    wait->times++;
  }
  bpf_map_delete_elem(&since, &thread);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct* previous, struct task_struct* next) {
  __u64 now = bpf_ktime_get_ns();
  __u32 process = previous->tgid, thread = previous->pid;
  unsigned int state = previous->__state;
  if (!preempt && (state & UNINTERRUPTIBLE) && !(state & NO_LOAD) && WATCHES(process))
    bpf_map_update_elem(&since, &thread, &now, BPF_ANY);
  if (WATCHES(next->tgid))
    end_wait(next->tgid, next->pid, now);
  return 0;
}

char _license[] SEC("license") = "GPL";
