#include "impairment/delay_line.h"

#include <algorithm>

#include "net/copied_frame.h"

namespace engine {

DelayLine::DelayLine(size_t bytes) : ring_(bytes) {
  waiting_.reserve(bytes / kLeastBytes);
  taken_.reserve(bytes / kLeastBytes);
}

bool DelayLine::later(const Waiting& left, const Waiting& right) {
  return left.due != right.due ? left.due > right.due : left.number > right.number;
}

Frame* DelayLine::put(const Frame& frame, Nanoseconds due) {
  if (waiting_.empty() && taken_.empty()) ring_.rewind();
  uint8_t* const room = ring_.reserve(copied_length(frame));
  if (room == nullptr) return nullptr;
  Record* const record = ring_.commit({copy_to(room, frame)});
  record->frame.owner = nullptr;
  waiting_.push_back({due, ++put_, record});
  std::ranges::push_heap(waiting_, later);
  return &record->frame;
}

const Frame* DelayLine::take(Nanoseconds now) {
  if (next_due() > now) return nullptr;
  Record* const record = waiting_.front().record;
  std::ranges::pop_heap(waiting_, later);
  waiting_.pop_back();
  taken_.push_back(record);
  return &record->frame;
}

void DelayLine::release() {
  for (Record* const record : taken_) record->over = true;
  taken_.clear();
  const uint64_t end = ring_.end();
  for (const Record* oldest = ring_.peek(end); oldest != nullptr && oldest->over;
       oldest = ring_.peek(end))
    ring_.next(end);
  ring_.release();
}

}  // namespace engine
