#include "flow/time_wait.h"

namespace engine {

bool TimeWaits::begin_chunk(Tick begin) {
  const uint32_t number = chunks_.take();
  if (number == kNone) return false;
  Chunk& chunk = chunks_[number];
  chunk.next = kNone;
  chunk.filled = 0;
  chunk.begin = begin;
  if (newest_ == kNone)
    oldest_ = number;
  else
    chunks_[newest_].next = number;
  newest_ = number;
  return true;
}

uint32_t TimeWaits::add(const FlowHead& flow, Tick end) {
  const bool goes_on = newest_ != kNone && chunks_[newest_].filled < kRecords &&
                       end - chunks_[newest_].begin <= UINT16_MAX;
  if (!goes_on && !begin_chunk(end)) return kNone;
  Chunk& chunk = chunks_[newest_];
  const uint32_t place = chunk.filled++;
  FlowHead& record = chunk.records[place];
  record = flow;
  record.delay = static_cast<uint16_t>(end - chunk.begin);
  ++in_use_;
  return newest_ * kRecords + place;
}

std::span<TimeWaits::Numbered> TimeWaits::due(Tick now, std::span<Numbered> room) {
  constexpr uint32_t kAhead = 16;  // records on their way to the cache before they are looked at
  size_t count = 0;
  while (oldest_ != kNone && count < room.size()) {
    Chunk& chunk = chunks_[oldest_];
    const uint32_t first = oldest_ * kRecords;
    uint32_t taken = taken_;
    for (; taken != chunk.filled && count < room.size(); ++taken) {
      FlowHead& record = chunk.records[taken];
      __builtin_prefetch(&record + kAhead);
      if (tick_before(now, chunk.begin + record.delay)) break;
      if (record.state != FlowState::free) room[count++] = {&record, first + taken};
    }
    taken_ = taken;
    if (taken != chunk.filled) break;
    const uint32_t empty = oldest_;
    oldest_ = chunk.next;
    if (oldest_ == kNone) newest_ = kNone;
    taken_ = 0;
    chunks_.give_back(empty);
  }
  return room.first(count);
}

}  // namespace engine
