#include "flow/timer_wheel.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace engine {

TimerWheel::TimerWheel(Pool<Flow>& flows) : flows_(flows) {
  std::fill(std::begin(heads_), std::end(heads_), Flow::kNone);
}

void TimerWheel::insert_elsewhere(Flow& flow, Tick tick) {
  const Tick distance = tick - current_;
  if (!tick_before(current_, tick))
    push(kDue, flow);
  else
    push(distance < (1u << (kNearBits + kFarBits)) ? far_list(tick) : farthest_list(tick), flow);
}

void TimerWheel::requeue(Flow& flow) {
  if (flow.armed == 0) return;
  int32_t soonest = INT32_MAX;  // in ticks from `current_`
  for (unsigned left = flow.armed; left != 0; left &= left - 1)
    soonest =
        std::min(soonest, static_cast<int32_t>(flow.deadlines[std::countr_zero(left)] - current_));
  const Tick earliest = current_ + static_cast<uint32_t>(soonest);
  if (flow.timer_slot != kNowhere) {
    if (!tick_before(earliest, flow.timer_tick)) return;
    unlink(flow);
  }
  insert(flow, earliest);
}

bool TimerWheel::cascade() {
  const bool farthest = (current_ & ((1u << (kNearBits + kFarBits)) - 1)) == 0;
  for (unsigned moved = 0; moved < kCascade; ++moved) {
    uint32_t number = farthest ? heads_[farthest_list(current_)] : Flow::kNone;
    if (number == Flow::kNone) number = heads_[far_list(current_)];
    if (number == Flow::kNone) {
      cascading_ = false;
      return true;
    }
    Flow& flow = flows_[number];
    unlink(flow);
    insert(flow, flow.timer_tick);
  }
  return false;
}

uint32_t TimerWheel::next_occupied(uint32_t from, uint32_t end) const {
  uint32_t word = from / 64;
  uint64_t bits = occupied_[word] & ~0ULL << (from % 64);
  while (bits == 0) {
    if (++word * 64 >= end) return end;
    bits = occupied_[word];
  }
  return std::min(end, word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
}

inline bool TimerWheel::step(Tick now) {
  if (!tick_before(current_, now)) return false;
  const uint32_t from = (current_ + 1) & (kNear - 1);
  Tick next = current_ + 1;
  if (from != 0)
    next = (current_ & ~Tick{kNear - 1}) +
           next_occupied(from, std::min(kNear, from + (now - current_)));
  if (tick_before(now, next)) {
    current_ = now;
    return false;
  }
  current_ = next;
  cascading_ = (current_ & (kNear - 1)) == 0;
  return true;
}

bool TimerWheel::turn(Tick now) {
  while (cascading_ || step(now)) {
    if (cascading_ && !cascade()) return false;
    const uint32_t slot = current_ & (kNear - 1);
    // A cascade may have found flows for this very tick.
    while (heads_[slot] != Flow::kNone && heads_[kDue] != Flow::kNone) {
      Flow& flow = flows_[heads_[slot]];
      unlink(flow);
      push(kDue, flow);
    }
    if (heads_[slot] != Flow::kNone) {
      heads_[kDue] = std::exchange(heads_[slot], Flow::kNone);
      occupied_[slot / 64] &= ~(1ULL << (slot % 64));
    }
    if (heads_[kDue] != Flow::kNone) {
      prefetch_due();
      return true;
    }
  }
  return false;
}

size_t TimerWheel::occupied() const {
  return static_cast<size_t>(
      std::ranges::count_if(heads_, [](uint32_t head) { return head != Flow::kNone; }));
}

}  // namespace engine
