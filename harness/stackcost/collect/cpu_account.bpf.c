// Books every nanosecond of every CPU to what ran in it: an interrupt, a softirq vector, idle, the
// entry to an idle state or the exit from it, or a task.
//
// Each CPU has one `Account`. Whenever what runs there changes, the time since the last change is
// booked first, so the sums of an account are always equal to `until - since`. Where an interrupt may
// come in the middle of a booking the exchange and the addition are atomic, so time is neither
// lost nor booked twice. At a task switch, and at every reading, the time of the current task is
// also added to that task's own entry.
//
// Time that the hypervisor took away is inside whatever was interrupted by it. The entry code that
// runs before an interrupt's first tracepoint is booked to what was interrupted.
//
// BTF-typed raw tracepoints: they need no tracefs, and cost a few nanoseconds each. With
// TRACE_SYSCALLS task time is split into user and system at every system call; without, all of
// it is booked as system and the reader knows not to tell them apart. With TASKS_ONLY interrupts and
// softirqs are not told apart from what they came on top of.

// clang-format off
#include <linux/bpf.h>  // first: the others need its types
// clang-format on

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "cpu_account.bpf.h"

#define MAX_TASKS 16384
#define IDLE_EXIT ((__u32)-1)     // PWR_EVENT_EXIT, include/trace/events/power.h
#define KERNEL_THREAD 0x00200000  // PF_KTHREAD, include/linux/sched.h

// Laid out as `TaskKey` in cpu_account.py.
struct TaskKey {
  __u32 cpu;
  __u32 thread;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, MAX_TASKS);
  __type(key, struct TaskKey);
  __type(value, struct Task);
} tasks SEC(".maps");

struct task_struct {
  int pid;
  int tgid;
  unsigned int flags;
} __attribute__((preserve_access_index));

#ifdef TRACE_SYSCALLS

struct pt_regs {
  long orig_ax;
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

// The account's first moment: nothing to book yet.
static __always_inline void open_account(struct Account* account, __u64 now) {
  struct task_struct* task = (struct task_struct*)bpf_get_current_task_btf();
  account->since = now;
  account->in_idle = task->pid ? 0 : RESTING;
#ifdef TRACE_SYSCALLS
  account->in_user = resumes_in_user(task);
#endif
}

// The sum of what has been running until now.
static __always_inline __u64* running(struct Account* account) {
  __u32 interrupt = account->in_interrupt;
  __u32 softirq = account->in_softirq;
  if (interrupt && interrupt <= INTERRUPTS) return &account->interrupt[interrupt - 1];
  if (softirq && softirq <= SOFTIRQS) return &account->softirq[softirq - 1];
  if (account->in_idle == ENTERING) return &account->idle_entry;
  if (account->in_idle == LEAVING) return &account->idle_exit;
  if (account->in_idle) return &account->idle;
  return account->in_user ? &account->user : &account->system;
}

// Books the time since the last booking to what has been running until now, where an interrupt may
// come at any moment: the exchange and the addition are atomic.
static __always_inline struct Account* book(void) {
  struct Account* account = this_account();
  if (!account) return 0;
  __u64 now = bpf_ktime_get_ns();
  __u64 before = __sync_lock_test_and_set(&account->until, now);
  // Negative (as two's complement) when an interrupt booked between the two lines above; the sum
  // holds.
  if (before) {
    __sync_fetch_and_add(running(account), now - before);
  } else {
    open_account(account, now);
  }
  return account;
}

// The same where interrupts are off, as at a task switch and in an interrupt: without the atomic
// operations, which are a tenth of a booking.
static __always_inline struct Account* book_alone(void) {
  struct Account* account = this_account();
  if (!account) return 0;
  __u64 now = bpf_ktime_get_ns();
  __u64 before = account->until;
  account->until = now;
  if (before) {
    *running(account) += now - before;
  } else {
    open_account(account, now);
  }
  return account;
}

// Moves one of the recent tasks into the table of all.
static __always_inline void put_away(struct Recent* all, __u32 at) {
  struct Task* from = &all->slots[at].task;
  struct TaskKey key = {.cpu = bpf_get_smp_processor_id(), .thread = all->slots[at].thread};
  all->slots[at].thread = 0;
  struct Task* task = bpf_map_lookup_elem(&tasks, &key);
  if (!task) {
    bpf_map_update_elem(&tasks, &key, from, BPF_NOEXIST);  // full: the account still has the time
    return;
  }
  task->user += from->user;
  task->system += from->system;
  __builtin_memcpy(task->command, from->command, sizeof task->command);
}

// Adds to the current task's entry what its CPU's account got since the last settling.
static __always_inline void settle(struct Account* account, struct task_struct* current) {
  __u64 user = account->user - account->settled_user;
  __u64 system = account->system - account->settled_system;
  if (!user && !system) return;
  account->settled_user += user;
  account->settled_system += system;
  struct Recent* all = &account->recent;
  __u32 thread = current->pid, at = thread % RECENT;
  struct Task* task = &all->slots[at].task;
  if (all->slots[at].thread != thread) {
    if (all->slots[at].thread) put_away(all, at);
    all->slots[at].thread = thread;
    task->user = task->system = 0;
    task->process = current->tgid;
    bpf_get_current_comm(task->command, sizeof task->command);
  }
  task->user += user;
  task->system += system;
}

#ifndef TASKS_ONLY

SEC("tp_btf/softirq_entry")
int BPF_PROG(enter_softirq, unsigned int vector) {
  struct Account* account = book();
  if (!account || vector >= SOFTIRQS) return 0;
  account->in_softirq = vector + 1;
  ++account->softirq_count[vector];
  return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(leave_softirq) {
  struct Account* account = book();
  if (account) account->in_softirq = 0;
  return 0;
}

// An interrupt ends an idle state. On a kernel that does not trace the states none is known to end.
static __always_inline void wake(struct Account* account) {
  if (account->idle_states && account->in_idle >= RESTING) account->in_idle = LEAVING;
}

static __always_inline void enter_interrupt(__u32 kind) {
  struct Account* account = book_alone();
  if (!account) return;
  account->in_interrupt = kind + 1;
  ++account->interrupt_count[kind];
  account->interrupted = account->in_idle;
  wake(account);
}

static __always_inline void leave_interrupt(void) {
  struct Account* account = book_alone();
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
INTERRUPT(call_function, 2)
INTERRUPT(call_function_single, 3)
INTERRUPT(irq_work, 4)

// The handler of the reschedule interrupt only returns (arch/x86/kernel/smp.c): it is not booked
// as an interrupt, but may end an idle state.
SEC("tp_btf/reschedule_entry")
int BPF_PROG(enter_reschedule) {
  struct Account* account = this_account();
  if (!account || account->in_idle < RESTING) return 0;
  book_alone();
  wake(account);
  return 0;
}

SEC("tp_btf/cpu_idle")
int BPF_PROG(change_idle_state, __u32 state) {
  struct Account* account = book();
  if (!account || !account->in_idle) return 0;
  if (state != IDLE_EXIT) {
    account->in_idle = RESTING;
    ++account->idle_states;
  } else if (account->in_idle != SAMPLED) {
    account->in_idle = LEAVING;
  }
  return 0;
}

#endif

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_task, _Bool preempt, struct task_struct* from, struct task_struct* to) {
  struct Account* account = book_alone();
  if (!account) return 0;
  ++account->switches;
  if (!account->in_idle) settle(account, from);
  account->in_idle = to->pid ? 0 : account->idle_states ? ENTERING : RESTING;
#ifdef TRACE_SYSCALLS
  if (from->pid) {
    __u32* in_user = bpf_task_storage_get(&modes, from, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (in_user) *in_user = account->in_user;
  }
  account->in_user = resumes_in_user(to);
#endif
  return 0;
}

// What a task took before exec(2) was booked under its parent's name.
SEC("tp_btf/sched_process_exec")
int BPF_PROG(name_task, struct task_struct* current) {
  struct Account* account = this_account();
  if (!account) return 0;
  __u32 thread = current->pid, at = thread % RECENT;
  struct Task* task = &account->recent.slots[at].task;
  if (account->recent.slots[at].thread == thread)
    bpf_get_current_comm(task->command, sizeof task->command);
  return 0;
}

#ifdef TRACE_SYSCALLS

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

#endif

// Run by the reader on each CPU: brings its account and its tasks up to this moment.
SEC("raw_tp")
int update_account(void* context) {
  struct Account* account = book();
  if (!account) return 0;
  settle(account, (struct task_struct*)bpf_get_current_task_btf());
  struct Recent* all = &account->recent;
  for (__u32 at = 0; at < RECENT; ++at)
    if (all->slots[at].thread) put_away(all, at);
  return 0;
}

char program_license[] SEC("license") = "GPL";  // bpf_ktime_get_ns and raw tracepoints ask for it
