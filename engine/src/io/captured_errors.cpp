#include "io/captured_errors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace engine {

CapturedErrors::CapturedErrors()
    : memory_(memfd_create("errors", MFD_CLOEXEC)), standard_error_(dup(STDERR_FILENO)) {
  fflush(stderr);
  dup2(memory_, STDERR_FILENO);
}

CapturedErrors::~CapturedErrors() {
  fflush(stderr);
  dup2(standard_error_, STDERR_FILENO);
  close(standard_error_);
  close(memory_);
}

std::string CapturedErrors::text() const {
  std::string text;
  std::array<char, 4096> part;
  ssize_t length = 0;
  for (off_t at = 0; (length = pread(memory_, part.data(), part.size(), at)) > 0; at += length)
    text.append(part.data(), static_cast<size_t>(length));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at = 0; (at = text.find('\n', at)) != text.npos;) text.replace(at, 1, "; ");
  return text;
}

}  // namespace engine
