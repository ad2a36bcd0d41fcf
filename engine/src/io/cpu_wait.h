#pragma once
// Time in which a thread was ready to run and other threads had its CPU.

#include "base/time.h"

namespace engine {

/// Linux keeps this account of every thread: the second number of /proc/PID/task/TID/schedstat
/// (Documentation/scheduler/sched-stats.rst). Interrupts and what the hypervisor took are not in
/// it, which wall time less the thread's CPU time contains on many kernels.
class CpuWait {
 public:
  /// Of the thread that makes it.
  CpuWait();
  ~CpuWait();
  CpuWait(const CpuWait&) = delete;
  CpuWait& operator=(const CpuWait&) = delete;

  /// How long the thread waited since the last call; takes 1 to 2 us. 0: the kernel has no such
  /// account (CONFIG_SCHED_INFO).
  Nanoseconds take();

 private:
  int file_;  ///< -1: none
  Nanoseconds told_ = 0;
};

}  // namespace engine
