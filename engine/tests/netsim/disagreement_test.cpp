// Two ends that disagree about a connection: their answers to each other come to an end.

#include <gtest/gtest.h>

#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

using enum Counter;

/// One connection that stays open for a minute, and of which somebody else has sent the server ten
/// bytes. Returns how many frames both ends then send in `duration`.
uint64_t frames_after_forged_bytes(double duplication, Nanoseconds duration) {
  Settings settings;
  settings.offloads.checksum = true;  // a forged frame needs none
  settings.to_server.duplication = settings.to_client.duplication = duplication;
  Network network(
      settings,
      profile({.cps = 10,
               .limit = 1,
               .client_tcp = R"({"keepidle":60})",
               .server_tcp = R"({"keepidle":60})",
               .client_commands = R"({"name":"connect"},{"name":"delay","usec":60000000})"}),
      forever());
  std::vector<uint8_t> last;
  network.filter = [&last](Seen& seen) {
    if (seen.from == Side::client) last = seen.bytes;
    return true;
  };
  network.run_until(kSecond);
  EXPECT_EQ(network.count(Side::server, tcps_accepts), 1u);
  std::vector<uint8_t> forged = last;
  forged.insert(forged.end(), 10, 'x');
  uint8_t* const length = forged.data() + 14 + 2;
  store_be<uint16_t>(length, static_cast<uint16_t>(load_be<uint16_t>(length) + 10));
  const auto frames = [&network] {
    return network.frames_sent(Side::client) + network.frames_sent(Side::server);
  };
  const uint64_t before = frames();
  network.inject(Side::client, std::move(forged));
  network.run_until(network.now() + duration);
  EXPECT_EQ(network.count(Side::server, tcps_rcvbyte), 10u) << "the forged bytes were taken";
  return frames() - before;
}

TEST(Disagreement, AnswersToForgedBytesComeToAnEnd) {
  EXPECT_LE(frames_after_forged_bytes(0, 200 * kMillisecond), 10u);
  EXPECT_LE(frames_after_forged_bytes(0, 20 * kSecond), 10u);
}

TEST(Disagreement, DuplicationDoesNotMultiplyThem) {
  EXPECT_LE(frames_after_forged_bytes(0.3, 20 * kSecond), 10u);
}

}  // namespace
}  // namespace engine::netsim
