#pragma once
// A hierarchical timer wheel over flows (Varghese and Lauck, scheme 7), bounded work per call.

#include <bit>
#include <cassert>
#include <cstdint>

#include "base/time.h"
#include "flow/flow.h"
#include "flow/pool.h"
#include "flow/timer_kind.h"

namespace engine {

/// A level of lists for the next half second, a tick each, and two for what lies further ahead: the
/// usual timers of a connection, its TIME_WAIT among them, are entered where they expire, and never
/// moved down a level. A flow stands in at most one list; moving a deadline to later leaves
/// it where it is (it is looked at early and put back), so that an ACK that restarts the
/// retransmission timer costs one store.
class TimerWheel {
 public:
  static constexpr uint16_t kNowhere = UINT16_MAX;
  /// Flows moved down a level in one call at most: with millions of them a list has hundreds of
  /// thousands. What is due meanwhile waits for them.
  static constexpr unsigned kCascade = 512;

  explicit TimerWheel(Pool<Flow>& flows);

  /// What the caller of `arm` knows of the flow.
  enum class Known : uint8_t {
    nothing,
    listed,       ///< it stands in the wheel
    running,      ///< and the timer runs
    looked_at_by  ///< and the wheel looks at it by the deadline, for another timer
  };

  /// Sets one deadline of `flow`, `delay` ticks from `now`.
  template <Known known = Known::nothing>
  [[gnu::always_inline]] void arm(Flow& flow, TimerKind kind, Tick now, Tick delay) {
    arm<known>(flow, kind, now, delay, delay);
  }
  /// The same, and the wheel looks at the flow by `look` ticks from `now`, at most `delay`: for
  /// timers that are armed later.
  template <Known known = Known::nothing>
  [[gnu::always_inline]] void arm(Flow& flow, TimerKind kind, Tick now, Tick delay, Tick look) {
    const Tick by = now + look;
    const auto k = static_cast<unsigned>(kind);
    flow.deadlines[k] = now + delay;
    if constexpr (known != Known::running)
      flow.armed = static_cast<uint8_t>(flow.armed | (1u << k));
    assert(known == Known::nothing || flow.timer_slot != kNowhere);
    assert(is_armed(flow, kind));
    if constexpr (known == Known::nothing) {
      if (flow.timer_slot == kNowhere || tick_before(by, flow.timer_tick)) move(flow, by);
    } else if constexpr (known == Known::looked_at_by) {
      assert(!tick_before(by, flow.timer_tick));
    } else if (tick_before(by, flow.timer_tick)) [[unlikely]] {
      move(flow, by);
    }
  }
  void disarm(Flow& flow, TimerKind kind) {
    flow.armed = static_cast<uint8_t>(flow.armed & ~(1u << static_cast<unsigned>(kind)));
  }
  static bool is_armed(const Flow& flow, TimerKind kind) {
    return (flow.armed >> static_cast<unsigned>(kind)) & 1;
  }
  /// Takes the flow out altogether.
  void remove(Flow& flow) {
    flow.armed = 0;
    if (flow.timer_slot != kNowhere) unlink(flow);
  }

  /// Moves time on to `now` and calls `expired(flow, kind)` for each deadline at or before it, at
  /// most `budget` flows; the rest comes with the next call. The handler may arm, disarm, remove
  /// any flow. Returns the number of flows looked at.
  template <typename Handler>
  size_t advance(Tick now, size_t budget, Handler&& expired) {
    size_t count = 0;
    for (; count < budget && (heads_[kDue] != Flow::kNone || turn(now)); ++count) {
      Flow& flow = take_due();
      prefetch_due();
      for (unsigned left = flow.armed; left != 0; left &= left - 1) {
        const auto k = static_cast<unsigned>(std::countr_zero(left));
        const bool armed = ((flow.armed >> k) & 1) != 0;  // another timer's handler may disarm it
        if (!armed || tick_before(now, flow.deadlines[k])) continue;
        flow.armed = static_cast<uint8_t>(flow.armed & ~(1u << k));
        expired(flow, static_cast<TimerKind>(k));
        if (flow.state == FlowState::free) break;
      }
      if (flow.state != FlowState::free) requeue(flow);
    }
    return count;
  }

  /// Lists that hold a flow; 0: no flow waits for anything.
  size_t occupied() const;
  size_t memory() const { return sizeof heads_ + sizeof occupied_; }

 private:
  // Bits of a tick that choose a list: of the lowest level the lowest ones, and so on.
  static constexpr unsigned kNearBits = 15;
  static constexpr unsigned kFarBits = 9;
  static constexpr unsigned kFarthestBits = 8;
  static_assert(kNearBits + kFarBits + kFarthestBits == 32);
  static constexpr uint32_t kNear = 1u << kNearBits;
  static constexpr uint16_t kFar = kNear;  ///< number of that level's first list
  static constexpr uint16_t kFarthest = kFar + (1u << kFarBits);
  /// List of flows whose time has come.
  static constexpr uint16_t kDue = kFarthest + (1u << kFarthestBits);

  static uint16_t far_list(Tick tick) {
    return static_cast<uint16_t>(kFar + ((tick >> kNearBits) & ((1u << kFarBits) - 1)));
  }
  static uint16_t farthest_list(Tick tick) {
    return static_cast<uint16_t>(kFarthest + (tick >> (kNearBits + kFarBits)));
  }

  /// Puts the flow where it is looked at by `tick`.
  void move(Flow& flow, Tick tick) {
    if (flow.timer_slot != kNowhere) unlink(flow);
    insert(flow, tick);
  }
  void insert(Flow& flow, Tick tick) {
    flow.timer_tick = tick;
    if (tick - current_ - 1 < kNear - 1) [[likely]] {
      const auto slot = static_cast<uint16_t>(tick & (kNear - 1));
      push(slot, flow);
      occupied_[slot / 64] |= 1ULL << (slot % 64);
    } else {
      insert_elsewhere(flow, tick);
    }
  }
  void insert_elsewhere(Flow& flow, Tick tick);
  void unlink(Flow& flow) {
    const uint16_t slot = flow.timer_slot;
    if (flow.timer_previous != Flow::kNone)
      flows_[flow.timer_previous].timer_next = flow.timer_next;
    else if (heads_[kDue] == flows_.number_of(flow))  // a list keeps its number when it becomes due
      heads_[kDue] = flow.timer_next;
    else
      heads_[slot] = flow.timer_next;
    if (flow.timer_next != Flow::kNone)
      flows_[flow.timer_next].timer_previous = flow.timer_previous;
    if (slot < kNear && heads_[slot] == Flow::kNone) occupied_[slot / 64] &= ~(1ULL << (slot % 64));
    flow.timer_slot = kNowhere;
  }
  /// Takes the first flow out of the list of those whose time has come.
  Flow& take_due() {
    Flow& flow = flows_[heads_[kDue]];
    heads_[kDue] = flow.timer_next;
    if (flow.timer_next != Flow::kNone) flows_[flow.timer_next].timer_previous = Flow::kNone;
    flow.timer_slot = kNowhere;
    return flow;
  }
  void push(uint16_t slot, Flow& flow) {
    const uint32_t number = flows_.number_of(flow);
    const uint32_t next = heads_[slot];
    flow.timer_next = next;
    flow.timer_previous = Flow::kNone;
    flow.timer_slot = slot;
    if (next != Flow::kNone) flows_[next].timer_previous = number;
    heads_[slot] = number;
  }
  /// With nothing due: moves on to the next flows that are due by `now`, or to `now`, where there
  /// are none: false.
  bool turn(Tick now);
  /// The flows to be handled next are on their way to the cache while this one is: a flow that
  /// waited long has left it. The first of them came with the call before, and tells the second.
  void prefetch_due() const {
    if (heads_[kDue] == Flow::kNone) return;
    const uint32_t second = flows_[heads_[kDue]].timer_next;
    if (second == Flow::kNone) return;
    const auto* flow = reinterpret_cast<const char*>(&flows_[second]);
    __builtin_prefetch(flow);
    __builtin_prefetch(flow + 64);
    __builtin_prefetch(flow + 128);
  }
  /// Moves on to the next list of the lowest level that holds a flow, or to where that level wraps.
  /// False: that is later than `now`, which the wheel has reached.
  bool step(Tick now);
  /// Spreads those lists of the higher levels that begin now over the lists below: kCascade flows.
  /// True: those were all.
  bool cascade();
  /// The first list of the lowest level from `from` on, before `end`, that holds a flow, or `end`.
  uint32_t next_occupied(uint32_t from, uint32_t end) const;
  /// Puts a flow back for its earliest deadline unless a handler did so already.
  void requeue(Flow& flow);

  Pool<Flow>& flows_;
  Tick current_ = 0;        ///< all ticks before this are handled, and this one unless `cascading_`
  bool cascading_ = false;  ///< lists that begin at `current_` are being spread
  uint32_t heads_[kDue + 1];
  uint64_t occupied_[kNear / 64] = {};  ///< which lists of the lowest level hold flows
};

}  // namespace engine
