#pragma once
// Records with bytes behind them, on their way from one thread to another.

#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

namespace engine {

/// One writer, one reader, no lock. A record that finds no room is not waited for.
template <typename Record>
class RecordRing {
 public:
  /// `bytes`: a power of two. Not initialised, so that memory which is never used is never touched.
  explicit RecordRing(size_t bytes)
      : bytes_(bytes), memory_(std::make_unique_for_overwrite<Line[]>(bytes / sizeof(Line))) {
    assert(std::has_single_bit(bytes));
  }

  /// Room for `length` bytes (at most a quarter of the ring), nullptr when there is none now.
  uint8_t* reserve(size_t length) {
    const uint64_t written = written_.load(std::memory_order_relaxed);
    const size_t needed = sizeof(Entry) + round_up(length);
    const size_t to_end = bytes_ - offset_of(written);
    const size_t skipped = to_end < needed ? to_end : 0;
    const uint64_t end = written + skipped + needed;
    if (end - released_seen_ > bytes_) {
      released_seen_ = released_.load(std::memory_order_acquire);
      if (end - released_seen_ > bytes_) return nullptr;
    }
    if (skipped != 0) new (at(written)) Entry{.next = written + skipped, .is_gap = true};
    reserved_ = written + skipped;
    return bytes_of(new (at(reserved_)) Entry{.next = end});
  }
  /// Publishes what was written to the room reserved last. Returns the record in the ring.
  Record* commit(const Record& record) {
    Entry* const entry = at(reserved_);
    entry->record = record;
    written_.store(entry->next, std::memory_order_release);
    return &entry->record;
  }

  /// Where the records that are published now end.
  uint64_t end() const { return written_.load(std::memory_order_acquire); }
  /// The next record before `end`, which stays the next one; nullptr when there is none.
  Record* peek(uint64_t end) {
    while (taken_ != end) {
      Entry* const entry = at(taken_);
      if (!entry->is_gap) return &entry->record;
      taken_ = entry->next;
    }
    return nullptr;
  }
  /// The next record before `end`, nullptr when there is none. It lives until `release`.
  Record* next(uint64_t end) {
    Record* const record = peek(end);
    if (record != nullptr) taken_ = at(taken_)->next;
    return record;
  }
  /// Gives back the room of all records that `next` has returned.
  void release() { released_.store(taken_, std::memory_order_release); }
  /// Hands over all that is there now, oldest first. What is written meanwhile waits, or a fast
  /// writer would keep the reader for ever. A record that `take` throws at is read as well, those
  /// behind it stay.
  template <typename Take>
  void read(Take&& take) {
    const uint64_t end = this->end();
    while (const Record* const record = next(end)) {
      try {
        take(*record);
      } catch (...) {
        release();
        throw;
      }
      release();
    }
  }

  /// Of a ring that one thread writes and reads, when all was released: the next record goes to the
  /// front, which the CPU's cache may still have.
  void rewind() {
    assert(released_ == written_);
    written_ = released_ = taken_ = released_seen_ = 0;
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  /// Begins at a multiple of its size, so one always fits before the end of the ring.
  struct alignas(64) Entry {
    Record record{};
    uint64_t next;        ///< position of the entry behind this one
    bool is_gap = false;  ///< nothing here, the rest of the ring was too short
  };
  static_assert(std::is_trivially_destructible_v<Record> && sizeof(Entry) == 64);

  static constexpr size_t round_up(size_t bytes) {
    return (bytes + sizeof(Entry) - 1) / sizeof(Entry) * sizeof(Entry);
  }
  static uint8_t* bytes_of(Entry* entry) { return reinterpret_cast<uint8_t*>(entry + 1); }
  size_t offset_of(uint64_t position) const { return position & (bytes_ - 1); }
  Entry* at(uint64_t position) const {
    return reinterpret_cast<Entry*>(memory_[offset_of(position) / sizeof(Line)].bytes);
  }

  const size_t bytes_;
  const std::unique_ptr<Line[]> memory_;
  uint64_t reserved_ = 0;       ///< position of the record being written
  uint64_t released_seen_ = 0;  ///< of `released_`, by the writer
  alignas(64) std::atomic<uint64_t> written_ = 0;
  alignas(64) std::atomic<uint64_t> released_ = 0;
  uint64_t taken_ = 0;  ///< by the reader
};

}  // namespace engine
