#pragma once
// Objects of one type under 32-bit numbers, in one piece of lazily touched virtual memory.

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace engine {

/// A pool of at most `capacity` objects. Memory is reserved at once and used page by page as the
/// pool grows, so cost follows what was ever open. Freed numbers are used again, last freed first,
/// while they are still in cache.
template <typename T>
class Pool {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit Pool(uint32_t capacity) : capacity_(capacity), bytes_(size_t{capacity} * sizeof(T)) {
    if (bytes_ == 0) bytes_ = sizeof(T);
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    // Fewer TLB misses with millions of flows; the kernel may refuse, nothing depends on it.
    madvise(memory, bytes_, MADV_HUGEPAGE);
    objects_ = static_cast<T*>(memory);
  }
  ~Pool() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (uint32_t i = 0; i < used_; ++i) objects_[i].~T();
    munmap(objects_, bytes_);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// A number for a new object, or kNone when the pool is full. The object keeps what it held when
  /// it was freed; the first time it is value-initialised.
  uint32_t take() {
    if (free_ != kNone) {
      uint32_t index = free_;
      free_ = objects_[index].pool_next();
      ++in_use_;
      return index;
    }
    if (used_ == capacity_) return kNone;
    new (&objects_[used_]) T();
    ++in_use_;
    return used_++;
  }

  void give_back(uint32_t index) {
    objects_[index].pool_next() = free_;
    free_ = index;
    --in_use_;
  }

  T& operator[](uint32_t index) { return objects_[index]; }
  const T& operator[](uint32_t index) const { return objects_[index]; }
  uint32_t number_of(const T& object) const { return static_cast<uint32_t>(&object - objects_); }

  uint32_t capacity() const { return capacity_; }
  uint32_t in_use() const { return in_use_; }
  /// One past the highest number ever taken.
  uint32_t used() const { return used_; }
  size_t touched_bytes() const { return size_t{used_} * sizeof(T); }

 private:
  T* objects_;
  uint32_t capacity_;
  size_t bytes_;
  uint32_t used_ = 0;
  uint32_t in_use_ = 0;
  uint32_t free_ = kNone;
};

}  // namespace engine
