#pragma once
// Wakes the receiver of a ring that does not poll.

#include <linux/aio_abi.h>

namespace engine::memif {

/// Adds to an eventfd that somebody else has, too, and never waits. A write may wait: its other
/// owner can fill the counter and clear O_NONBLOCK, which both share. What the kernel itself adds
/// when asynchronous I/O ends (io_submit(2), IOCB_FLAG_RESFD) does not: a full counter stays full.
class Waker {
 public:
  /// Throws std::system_error where the kernel has no asynchronous I/O, or none left.
  Waker();
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  /// Whatever is no eventfd is left alone.
  void wake(int event);

 private:
  int empty_ = -1;  ///< a file with nothing in it, so that a read of it ends at once
  aio_context_t context_ = 0;
};

}  // namespace engine::memif
