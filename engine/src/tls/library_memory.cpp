#include "tls/library_memory.h"

#include <malloc.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <cstdlib>

namespace engine::tls {

namespace {

/// Of a data core: its flows begin and end on its thread.
thread_local int64_t bytes = 0;

/// What the allocator keeps before each piece of memory.
constexpr size_t kHeader = sizeof(size_t);

int64_t size_of(void* memory) {
  return memory == nullptr ? 0 : static_cast<int64_t>(malloc_usable_size(memory) + kHeader);
}

void* allocate(size_t size, const char*, int) {
  void* const memory = std::malloc(size);
  bytes += size_of(memory);
  return memory;
}

void* reallocate(void* memory, size_t size, const char*, int) {
  const int64_t before = size_of(memory);
  void* const moved = std::realloc(memory, size);
  if (moved != nullptr) bytes += size_of(moved) - before;
  return moved;
}

void release(void* memory, const char*, int) {
  bytes -= size_of(memory);
  std::free(memory);
}

/// The library takes no other allocator once it has used its own: so this is done before `main`.
const bool counted = CRYPTO_set_mem_functions(allocate, reallocate, release) == 1;

}  // namespace

std::optional<uint64_t> library_bytes() {
  if (!counted) return std::nullopt;
  return static_cast<uint64_t>(std::max<int64_t>(bytes, 0));
}

}  // namespace engine::tls
