#include "impairment/delay_line.h"

#include <algorithm>
#include <new>

namespace engine {

/// Records begin at multiples of a block, so one always fits before the end of the ring.
struct DelayLine::Record {
  Frame frame;
  uint64_t next;      ///< position of the record behind this one
  bool over = false;  ///< needed no more, or never: the rest of the ring was too short
};

namespace {

constexpr size_t kBlock = 64;

constexpr size_t round_up(size_t bytes) {
  return (bytes + kBlock - 1) / kBlock * kBlock;
}

}  // namespace

// Not initialised, so that memory which is never used is never touched.
DelayLine::DelayLine(size_t bytes)
    : bytes_(bytes), memory_(std::make_unique_for_overwrite<Block[]>(bytes / kBlock)) {
  waiting_.reserve(bytes / (2 * kBlock));
  taken_.reserve(bytes / (2 * kBlock));
}

bool DelayLine::later(const Waiting& left, const Waiting& right) {
  return left.due != right.due ? left.due > right.due : left.position > right.position;
}

DelayLine::Record* DelayLine::at(uint64_t position) const {
  return reinterpret_cast<Record*>(memory_[position % bytes_ / kBlock].bytes);
}

Frame* DelayLine::put(const Frame& frame, Nanoseconds due) {
  static_assert(sizeof(Record) <= kBlock);
  if (first_ == last_) first_ = last_ = 0;  // the memory in the CPU's cache is used again
  const size_t needed = kBlock + round_up(frame.length());
  const size_t to_end = bytes_ - last_ % bytes_;
  const size_t skipped = to_end < needed ? to_end : 0;
  if (last_ + skipped + needed - first_ > bytes_) return nullptr;
  if (skipped != 0) {
    new (at(last_)) Record{.frame = {}, .next = last_ + skipped, .over = true};
    last_ += skipped;
  }
  Record* const record = new (at(last_)) Record{.frame = frame, .next = last_ + needed};
  uint8_t* const bytes = reinterpret_cast<uint8_t*>(record) + kBlock;
  Frame& copy = record->frame;
  copy.head = bytes;
  copy.owner = nullptr;
  std::copy_n(frame.head, frame.head_length, bytes);
  if (frame.payload != nullptr) {
    std::copy_n(frame.payload, frame.payload_length, bytes + frame.head_length);
    copy.payload = bytes + frame.head_length;
  }
  waiting_.push_back({due, last_});
  std::ranges::push_heap(waiting_, later);
  last_ += needed;
  return &copy;
}

const Frame* DelayLine::take(Nanoseconds now) {
  if (next_due() > now) return nullptr;
  const uint64_t position = waiting_.front().position;
  std::ranges::pop_heap(waiting_, later);
  waiting_.pop_back();
  taken_.push_back(position);
  return &at(position)->frame;
}

void DelayLine::release() {
  for (const uint64_t position : taken_) at(position)->over = true;
  taken_.clear();
  while (first_ != last_ && at(first_)->over) first_ = at(first_)->next;
}

}  // namespace engine
