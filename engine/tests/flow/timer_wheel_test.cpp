#include "flow/timer_wheel.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace engine {
namespace {

class TimerWheelTest : public testing::Test {
 protected:
  Pool<Flow> flows{4096};
  TimerWheel wheel{flows};

  Flow& make() {
    Flow& flow = flows[flows.take()];
    flow.state = FlowState::established;
    flow.timer_slot = TimerWheel::kNowhere;
    flow.armed = 0;
    return flow;
  }
};

TEST_F(TimerWheelTest, EveryTimerExpiresAtItsTickWhateverTheStepOfTime) {
  std::mt19937 random(7);
  std::multimap<Tick, uint32_t> expected;
  for (int i = 0; i < 2000; ++i) {
    Flow& flow = make();
    const Tick delay = 1 + random() % (i % 3 == 0 ? 200u : i % 3 == 1 ? 60'000u : 3'000'000u);
    wheel.arm(flow, TimerKind::retransmit, 0, delay);
    expected.emplace(delay, flows.number_of(flow));
  }
  size_t count = 0;
  Tick now = 0;
  while (count < expected.size()) {
    const Tick previous = now;
    now += 1 + random() % 1000;
    wheel.advance(now, SIZE_MAX, [&](Flow& flow, TimerKind kind) {
      EXPECT_EQ(kind, TimerKind::retransmit);
      const Tick deadline = flow.deadlines[0];
      EXPECT_GT(deadline, previous);
      EXPECT_LE(deadline, now);
      ++count;
    });
    ASSERT_LT(now, 3'100'000u);
  }
  EXPECT_EQ(count, 2000u);
}

TEST_F(TimerWheelTest, DeadlinesOfEveryLevelAreKeptOverLongPauses) {
  std::mt19937 random(8);
  for (int i = 0; i < 3000; ++i)
    wheel.arm(make(), TimerKind::retransmit, 0,
              1 + random() % (i % 2 == 0 ? 1u << 24 : 0x6000'0000u));
  size_t count = 0;
  Tick now = 0;
  while (count < 3000) {
    const Tick previous = now;
    now += 1 + random() % 5'000'000;
    wheel.advance(now, SIZE_MAX, [&](const Flow& flow, TimerKind) {
      EXPECT_GT(flow.deadlines[0], previous);
      EXPECT_LE(flow.deadlines[0], now);
      ++count;
    });
    ASSERT_LT(now, 0x6100'0000u);
  }
  EXPECT_EQ(wheel.occupied(), 0u);
}

TEST_F(TimerWheelTest, MovingADeadlineToLaterOrEarlierIsKept) {
  Flow& flow = make();
  wheel.arm(flow, TimerKind::retransmit, 0, 10);
  wheel.arm(flow, TimerKind::retransmit, 0, 500);
  int fired = 0;
  auto handler = [&](Flow&, TimerKind) { ++fired; };
  wheel.advance(499, 10, handler);
  EXPECT_EQ(fired, 0);
  wheel.arm(flow, TimerKind::retransmit, 499, 1000);
  wheel.arm(flow, TimerKind::retransmit, 499, 3);
  wheel.advance(501, 10, handler);
  EXPECT_EQ(fired, 0);
  wheel.advance(502, 10, handler);
  EXPECT_EQ(fired, 1);
}

TEST_F(TimerWheelTest, TheKindsOfOneFlowAreIndependent) {
  Flow& flow = make();
  wheel.arm(flow, TimerKind::idle, 0, 400);
  wheel.arm(flow, TimerKind::delayed_ack, 0, 20);
  wheel.arm(flow, TimerKind::program, 0, 30);
  wheel.disarm(flow, TimerKind::program);
  std::vector<TimerKind> fired;
  for (Tick now = 0; now <= 500; now += 5)
    wheel.advance(now, 10, [&](Flow&, TimerKind kind) { fired.push_back(kind); });
  EXPECT_EQ(fired, (std::vector{TimerKind::delayed_ack, TimerKind::idle}));
}

TEST_F(TimerWheelTest, ARemovedFlowNeverFiresAndABudgetLeavesTheRestForLater) {
  for (int i = 0; i < 100; ++i) wheel.arm(make(), TimerKind::program, 0, 50);
  Flow& removed = make();
  wheel.arm(removed, TimerKind::program, 0, 50);
  wheel.remove(removed);
  int fired = 0;
  auto handler = [&](Flow& flow, TimerKind) {
    EXPECT_NE(&flow, &removed);
    ++fired;
  };
  wheel.advance(60, 30, handler);
  EXPECT_EQ(fired, 30);
  wheel.advance(60, 1000, handler);
  EXPECT_EQ(fired, 100);
}

TEST_F(TimerWheelTest, AHandlerMayRemoveAndMoveFlowsThatAreDueToo) {
  std::vector<Flow*> all;
  for (int i = 0; i < 30; ++i) all.push_back(&make());
  for (Flow* flow : all) wheel.arm(*flow, TimerKind::program, 0, 300);  // comes down a level
  std::map<Flow*, int> fired;
  wheel.advance(300, 1000, [&](Flow& flow, TimerKind) {
    ++fired[&flow];
    if (fired.size() != 1) return;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i] == &flow) continue;
      if (i % 3 == 0) wheel.remove(*all[i]);
      if (i % 3 == 1) {
        wheel.remove(*all[i]);
        wheel.arm(*all[i], TimerKind::program, 300, 256);  // the same list, one turn later
      }
    }
  });
  for (size_t i = 0; i < all.size(); ++i)
    if (i % 3 == 2 && fired[all[i]] != 1) ADD_FAILURE() << "flow " << i;
  wheel.advance(556, 1000, [&](Flow& flow, TimerKind) { ++fired[&flow]; });
  for (size_t i = 0; i < all.size(); ++i)
    if (i % 3 != 0 && fired[all[i]] != 1) ADD_FAILURE() << "flow " << i;
}

// As with millions of flows: a list of a higher level is spread over several calls.
TEST_F(TimerWheelTest, ALongListIsSpreadSomeFlowsACallAndNoneIsLost) {
  constexpr unsigned kFlows = 4000;
  constexpr Tick kBegin = 1u << 24;  // lists of both higher levels begin then
  for (unsigned i = 0; i < kFlows; ++i)
    wheel.arm(make(), TimerKind::retransmit, 0, kBegin + i * 7 % 30'000);
  const auto elsewhere = [this] {
    unsigned count = 0;
    for (unsigned i = 0; i < kFlows; ++i) count += flows[i].timer_slot >= 1u << 15;
    return count;
  };
  ASSERT_EQ(elsewhere(), kFlows);
  unsigned expired = 0;
  const auto count = [&expired](Flow&, TimerKind) { ++expired; };
  wheel.advance(kBegin + 30'000, SIZE_MAX, count);
  EXPECT_EQ(expired, 0u);
  EXPECT_EQ(elsewhere(), kFlows - TimerWheel::kCascade);
  for (unsigned calls = 1; calls <= kFlows / TimerWheel::kCascade; ++calls)
    wheel.advance(kBegin + 30'000, SIZE_MAX, count);
  EXPECT_EQ(expired, kFlows);
  EXPECT_EQ(wheel.occupied(), 0u);
}

TEST_F(TimerWheelTest, TimeMayWrap) {
  const Tick start = UINT32_MAX - 1000;
  wheel.advance(1u << 30, 1, [](Flow&, TimerKind) {});
  wheel.advance(2u << 30, 1, [](Flow&, TimerKind) {});
  wheel.advance(3u << 30, 1, [](Flow&, TimerKind) {});
  wheel.advance(start, 1, [](Flow&, TimerKind) {});
  Flow& flow = make();
  wheel.arm(flow, TimerKind::idle, start, 5000);
  int fired = 0;
  wheel.advance(start + 4999, 1, [&](Flow&, TimerKind) { ++fired; });
  EXPECT_EQ(fired, 0);
  wheel.advance(start + 5000, 1, [&](Flow&, TimerKind) { ++fired; });
  EXPECT_EQ(fired, 1);
}

}  // namespace
}  // namespace engine
