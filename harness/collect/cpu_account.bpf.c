// Books every nanosecond of every CPU to what ran in it: an interrupt, a softirq vector, idle, or a
// task.
//
// Each CPU has one `Account`. Whenever what runs there changes, the time since the last change is
// booked first, so the sums of an account are always equal to `until - since`. An interrupt may
// come in the middle of a booking: the exchange and the additions are atomic, so time is neither
// lost nor booked twice. At a task switch, and at every reading, the time of the current task is
// also added to that task's own entry.
//
// Time that the hypervisor took away is inside whatever was interrupted by it. The entry code that
// runs before an interrupt's first tracepoint is booked to what was interrupted.
//
// BTF-typed raw tracepoints: they need no tracefs, and cost a few nanoseconds each. With
// TRACE_SYSCALLS task time is split into user and system at every system call; without, all of
// it is booked as system and the reader knows not to tell them apart.

// clang-format off
#include <linux/bpf.h>  // first: the others need its types
// clang-format on

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define SOFTIRQS 10
#define INTERRUPTS 6
#define MAX_TASKS 16384
#define KERNEL_THREAD 0x00200000  // PF_KTHREAD, include/linux/sched.h

// Laid out as `Account` in cpu_account.py. Nanoseconds; `since` and `until` of CLOCK_MONOTONIC.
struct Account {
  __u64 since;
  __u64 until;
  __u64 idle;
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
  __u32 padding;
};

// Laid out as `TaskKey` and `Task` in cpu_account.py.
struct TaskKey {
  __u32 cpu;
  __u32 thread;
};

struct Task {
  __u64 user;
  __u64 system;
  __u32 process;
  char command[16];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct Account);
} accounts SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, MAX_TASKS);
  __type(key, struct TaskKey);
  __type(value, struct Task);
} tasks SEC(".maps");

#ifdef TRACE_SYSCALLS

struct pt_regs {
  long orig_ax;
} __attribute__((preserve_access_index));

struct task_struct {
  int pid;
  unsigned int flags;
} __attribute__((preserve_access_index));

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, __u32);
} modes SEC(".maps");

// Whether a task that is about to run will run in user mode. One that never ran since the trace
// began came into the kernel either by a system call, whose number its saved registers then
// hold, or by an interrupt, which leaves -1 there (arch/x86/entry/entry_64.S).
static __always_inline __u32 resumes_in_user(struct task_struct* task) {
  if (!task->pid || task->flags & KERNEL_THREAD) return 0;
  __u32* in_user = bpf_task_storage_get(&modes, task, 0, 0);
  if (in_user) return *in_user;
  struct pt_regs* registers = (struct pt_regs*)bpf_task_pt_regs(task);
  return registers->orig_ax < 0;
}

#endif

static __always_inline void add(__u64* sum, __u64 length) {
  __sync_fetch_and_add(sum, length);
}

// Books the time since the last booking to what has been running until now.
static __always_inline struct Account* book(void) {
  __u32 first = 0;
  struct Account* account = bpf_map_lookup_elem(&accounts, &first);
  if (!account) return 0;
  __u64 now = bpf_ktime_get_ns();
  __u64 before = __sync_lock_test_and_set(&account->until, now);
  if (!before) {
    account->since = now;
#ifdef TRACE_SYSCALLS
    account->in_user = resumes_in_user((struct task_struct*)bpf_get_current_task_btf());
#endif
    return account;
  }
  // Negative (as two's complement) when an interrupt booked between the two lines above; the sum
  // holds.
  __u64 length = now - before;
  __u32 interrupt = account->in_interrupt;
  __u32 softirq = account->in_softirq;
  if (interrupt) {
    if (interrupt <= INTERRUPTS) add(&account->interrupt[interrupt - 1], length);
  } else if (softirq) {
    if (softirq <= SOFTIRQS) add(&account->softirq[softirq - 1], length);
  } else if (!(__u32)bpf_get_current_pid_tgid()) {
    add(&account->idle, length);
  } else if (account->in_user) {
    add(&account->user, length);
  } else {
    add(&account->system, length);
  }
  return account;
}

// Adds to the current task's entry what its CPU's account got since the last settling.
static __always_inline void settle(struct Account* account) {
  __u64 user = account->user - account->settled_user;
  __u64 system = account->system - account->settled_system;
  if (!user && !system) return;
  account->settled_user += user;
  account->settled_system += system;
  __u64 id = bpf_get_current_pid_tgid();
  struct TaskKey key = {.cpu = bpf_get_smp_processor_id(), .thread = id};
  struct Task* task = bpf_map_lookup_elem(&tasks, &key);
  if (task) {
    task->user += user;
    task->system += system;
    bpf_get_current_comm(task->command, sizeof task->command);  // it may have run exec since
    return;
  }
  struct Task fresh = {.user = user, .system = system, .process = id >> 32};
  bpf_get_current_comm(fresh.command, sizeof fresh.command);
  bpf_map_update_elem(&tasks, &key, &fresh, BPF_NOEXIST);  // full: the account still has the time
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(enter_softirq, unsigned int vector) {
  struct Account* account = book();
  if (!account || vector >= SOFTIRQS) return 0;
  account->in_softirq = vector + 1;
  add(&account->softirq_count[vector], 1);
  return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(leave_softirq) {
  struct Account* account = book();
  if (account) account->in_softirq = 0;
  return 0;
}

static __always_inline void enter_interrupt(__u32 kind) {
  struct Account* account = book();
  if (!account) return;
  account->in_interrupt = kind + 1;
  add(&account->interrupt_count[kind], 1);
}

static __always_inline void leave_interrupt(void) {
  struct Account* account = book();
  if (account) account->in_interrupt = 0;
}

#define INTERRUPT(tracepoint, kind)   \
  SEC("tp_btf/" #tracepoint "_entry") \
  int BPF_PROG(enter_##tracepoint) {  \
    enter_interrupt(kind);            \
    return 0;                         \
  }                                   \
  SEC("tp_btf/" #tracepoint "_exit")  \
  int BPF_PROG(leave_##tracepoint) {  \
    leave_interrupt();                \
    return 0;                         \
  }

INTERRUPT(irq_handler, 0)
INTERRUPT(local_timer, 1)
INTERRUPT(reschedule, 2)
INTERRUPT(call_function, 3)
INTERRUPT(call_function_single, 4)
INTERRUPT(irq_work, 5)

#ifdef TRACE_SYSCALLS

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_task, _Bool preempt, struct task_struct* from, struct task_struct* to) {
  struct Account* account = book();
  if (!account) return 0;
  ++account->switches;
  settle(account);
  if (from->pid) {
    __u32* in_user = bpf_task_storage_get(&modes, from, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (in_user) *in_user = account->in_user;
  }
  account->in_user = resumes_in_user(to);
  return 0;
}

static __always_inline void enter_mode(__u32 user) {
  struct Account* account = book();
  if (account) account->in_user = user;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter_syscall) {
  enter_mode(0);
  return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave_syscall) {
  enter_mode(1);
  return 0;
}

#else

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_task) {
  struct Account* account = book();
  if (!account) return 0;
  ++account->switches;
  settle(account);
  return 0;
}

#endif

// Run by the reader on each CPU: brings its account up to this moment.
SEC("raw_tp")
int update_account(void* context) {
  struct Account* account = book();
  if (account) settle(account);
  return 0;
}

char program_license[] SEC("license") = "GPL";  // bpf_ktime_get_ns and raw tracepoints ask for it
