#include "io/memif/waker.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace engine::memif {
namespace {

/// Reads that have ended and of which the kernel keeps a note. It makes room for at least as many.
constexpr long kNotes = 64;

}  // namespace

Waker::Waker() : empty_(memfd_create("stackcost-nothing", MFD_CLOEXEC)) {
  if (empty_ >= 0 && syscall(SYS_io_setup, kNotes, &context_) == 0) return;
  const int reason = errno;
  if (empty_ >= 0) close(empty_);
  throw std::system_error(
      reason, std::generic_category(),
      "asynchronous I/O, which a memif wakes its peer with (fs.aio-max-nr limits it)");
}

Waker::~Waker() {
  syscall(SYS_io_destroy, context_);
  close(empty_);
}

void Waker::wake(int event) {
  iocb read{};
  read.aio_lio_opcode = IOCB_CMD_PREAD;
  read.aio_fildes = static_cast<uint32_t>(empty_);
  read.aio_flags = IOCB_FLAG_RESFD;
  read.aio_resfd = static_cast<uint32_t>(event);
  iocb* reads[] = {&read};
  if (syscall(SYS_io_submit, context_, 1, reads) == 1 || errno != EAGAIN) return;
  // All room is taken by notes.
  std::array<io_event, kNotes> notes;
  timespec at_once{};
  syscall(SYS_io_getevents, context_, 0, kNotes, notes.data(), &at_once);
  syscall(SYS_io_submit, context_, 1, reads);
}

}  // namespace engine::memif
