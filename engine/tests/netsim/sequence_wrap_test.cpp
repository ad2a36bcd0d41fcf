// Sequence numbers that wrap in the middle of a transfer, with loss and reordering around the wrap.

#include <gtest/gtest.h>

#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

using enum Counter;

constexpr uint32_t kBytes = 200'000;
constexpr uint32_t kBeforeWrap = 50'000;

/// A flow with `kBytes` each way; returns the initial sequence number of `sender`.
uint32_t run(const Settings& settings, Side sender) {
  Network network(settings, profile({.request = kBytes, .response = kBytes, .limit = 1}),
                  forever());
  uint32_t first = 0;
  network.filter = [&](const Seen& seen) {
    if (seen.from == sender && seen.segment.is(tcp::kSyn)) first = seen.segment.sequence;
    return true;
  };
  EXPECT_TRUE(network.drain(100 * kSecond));
  for (Side side : {Side::client, Side::server}) {
    EXPECT_EQ(network.count(side, tcps_rcvbyte), kBytes);
    EXPECT_EQ(network.count(side, tcps_closed), 1u);
    EXPECT_EQ(network.count(side, tcps_drops), 0u);
    EXPECT_EQ(network.count(side, tcps_rcvacktoomuch), 0u);
  }
  return first;
}

class SequenceWrap : public testing::TestWithParam<uint64_t> {};

TEST_P(SequenceWrap, InTheMiddleOfATransferLosesNothing) {
  for (const Side sender : {Side::client, Side::server}) {
    Settings settings;
    settings.seed = GetParam();
    settings.to_server =
        settings.to_client = {.loss = 0.03, .duplication = 0.02, .reordering = 0.05};
    const uint32_t usual = run(settings, sender);
    // Initial sequence numbers advance by one in 4096 ns (RFC 6528: a clock and a hash).
    settings.epoch = Nanoseconds{uint32_t{0} - kBeforeWrap - usual} << 12;
    EXPECT_GT(run(settings, sender), uint32_t{0} - kBeforeWrap - 300'000);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SequenceWrap, testing::Range<uint64_t>(1, 9));

}  // namespace
}  // namespace engine::netsim
