#include "flow/timer_wheel.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace engine {

TimerWheel::TimerWheel(Pool<Flow>& flows) : flows_(flows) {
  std::fill(std::begin(heads_), std::end(heads_), Flow::kNone);
}

void TimerWheel::push(uint16_t slot, Flow& flow) {
  const uint32_t number = flows_.number_of(flow);
  flow.timer_next = heads_[slot];
  flow.timer_previous = Flow::kNone;
  flow.timer_slot = slot;
  if (heads_[slot] != Flow::kNone) flows_[heads_[slot]].timer_previous = number;
  heads_[slot] = number;
  if (slot < kSlots) occupied_[slot / 64] |= 1ULL << (slot % 64);
}

void TimerWheel::insert(Flow& flow, Tick tick) {
  flow.timer_tick = tick;
  const Tick distance = tick - current_;
  if (!tick_before(current_, tick)) {
    push(kDue, flow);
    return;
  }
  const unsigned level = distance < (1u << 8)    ? 0
                         : distance < (1u << 16) ? 1
                         : distance < (1u << 24) ? 2
                                                 : 3;
  push(static_cast<uint16_t>(level * kSlots + ((tick >> (8 * level)) & (kSlots - 1))), flow);
}

void TimerWheel::unlink(Flow& flow) {
  const uint16_t slot = flow.timer_slot;
  if (flow.timer_previous != Flow::kNone)
    flows_[flow.timer_previous].timer_next = flow.timer_next;
  else if (heads_[kDue] == flows_.number_of(flow))  // a list keeps its number when it becomes due
    heads_[kDue] = flow.timer_next;
  else
    heads_[slot] = flow.timer_next;
  if (flow.timer_next != Flow::kNone) flows_[flow.timer_next].timer_previous = flow.timer_previous;
  if (slot < kSlots && heads_[slot] == Flow::kNone) occupied_[slot / 64] &= ~(1ULL << (slot % 64));
  flow.timer_slot = kNowhere;
}

void TimerWheel::requeue(Flow& flow) {
  if (flow.armed == 0) return;
  Tick earliest = 0;
  bool any = false;
  for (unsigned k = 0; k < kTimerKinds; ++k) {
    if (!((flow.armed >> k) & 1)) continue;
    if (!any || tick_before(flow.deadlines[k], earliest)) earliest = flow.deadlines[k];
    any = true;
  }
  if (flow.timer_slot != kNowhere) {
    if (!tick_before(earliest, flow.timer_tick)) return;
    unlink(flow);
  }
  insert(flow, earliest);
}

void TimerWheel::cascade(unsigned level) {
  const unsigned slot = (current_ >> (8 * level)) & (kSlots - 1);
  uint32_t number = std::exchange(heads_[level * kSlots + slot], Flow::kNone);
  while (number != Flow::kNone) {
    Flow& flow = flows_[number];
    number = flow.timer_next;
    insert(flow, flow.timer_tick);
  }
}

bool TimerWheel::turn(Tick now) {
  while (tick_before(current_, now)) {
    // Skip to the next occupied slot of the lowest level, or to where that level wraps.
    const unsigned from = (current_ + 1) & (kSlots - 1);
    Tick next = current_ + 1;
    if (from != 0) {
      unsigned slot = kSlots;
      for (unsigned word = from / 64; word < kSlots / 64 && slot == kSlots; ++word) {
        uint64_t bits = occupied_[word];
        if (word == from / 64) bits &= ~0ULL << (from % 64);
        if (bits != 0) slot = word * 64 + static_cast<unsigned>(std::countr_zero(bits));
      }
      next = (current_ & ~Tick{kSlots - 1}) + slot;  // slot kSlots: the wrap
    }
    if (tick_before(now, next)) {
      current_ = now;
      return false;
    }
    current_ = next;
    if ((current_ & 0xff) == 0) {
      if ((current_ & 0xffff) == 0) {
        if ((current_ & 0xffffff) == 0) cascade(3);
        cascade(2);
      }
      cascade(1);
    }
    const unsigned slot = current_ & (kSlots - 1);
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
