#include "io/cpu_wait.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace engine {

CpuWait::CpuWait() : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {
  take();
}

CpuWait::~CpuWait() {
  if (file_ >= 0) close(file_);
}

Nanoseconds CpuWait::take() {
  std::array<char, 80> bytes;
  const ssize_t length = pread(file_, bytes.data(), bytes.size(), 0);
  if (length <= 0) return 0;
  const std::string_view text{bytes.data(), static_cast<size_t>(length)};
  Nanoseconds now = told_;
  std::from_chars(text.data() + text.find(' ') + 1, text.data() + text.size(), now);
  return now - std::exchange(told_, now);
}

}  // namespace engine
