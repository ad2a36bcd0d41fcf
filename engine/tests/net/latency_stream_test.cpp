#include "net/latency_stream.h"

#include <gtest/gtest.h>

#include <tuple>

#include "net/checksum.h"
#include "net/recording_device.h"

namespace engine {
namespace {

constexpr uint32_t kClient = 0x10000001, kServer = 0x30000001;

/// Two ports whose frames the test carries.
class LatencyStreamTest : public ::testing::Test {
 protected:
  struct End {
    explicit End(Side side)
        : l2_headers(L2Header{{2, 2, 2, 2, 2, 2}, {4, 4, 4, 4, 4, 4}, {}}),
          queue(device, {}),
          stream(side, l2_headers, queue) {}
    RecordingDevice device;
    L2HeaderTable l2_headers;
    TransmitQueue queue;
    LatencyStream stream;
  };

  LatencyStreamTest() {
    LatencyOptions options;
    options.interval = 10 * kMillisecond;
    options.epoch = 7;
    options.sends = true;
    options.source = kClient;
    options.destination = kServer;
    client_.stream.start(options, 0);
    std::swap(options.source, options.destination);
    options.port = 1;
    server_.stream.start(options, 0);
  }

  static bool give(End& to, std::vector<uint8_t> bytes, Nanoseconds now,
                   Checksums checksums = Checksums::in_frame) {
    Frame frame;
    frame.head = bytes.data();
    frame.head_length = static_cast<uint16_t>(bytes.size());
    frame.checksums = checksums;
    return to.stream.receive(parse(frame), now);
  }

  /// Gives a changed frame the checksums that go with it.
  static void seal(std::vector<uint8_t>& bytes) {
    for (const auto& [begin, length, field] : {std::tuple{14, 20, 24}, std::tuple{34, 28, 36}}) {
      store_be<uint16_t>(&bytes[field], 0);
      store_be(&bytes[field],
               checksum_finish(checksum_add(0, &bytes[begin], static_cast<size_t>(length))));
    }
  }

  static void set_time(std::vector<uint8_t>& bytes, int64_t time) {
    std::memcpy(&bytes[42], &time, sizeof time);
    seal(bytes);
  }

  /// What `from` sends by `now`, without carrying it.
  static std::vector<std::vector<uint8_t>> sent(End& from, Nanoseconds now) {
    if (from.stream.next_deadline() <= now) from.stream.advance(now);
    from.queue.flush();
    return std::exchange(from.device.sent, {});
  }

  /// A millisecond at a time; each direction takes its own time.
  void run(Nanoseconds from, Nanoseconds until, Nanoseconds there, Nanoseconds back) {
    for (Nanoseconds now = from; now < until; now += kMillisecond) {
      for (auto& frame : sent(client_, now)) give(server_, frame, now + there);
      for (auto& frame : sent(server_, now)) give(client_, frame, now + back);
    }
  }

  End client_{Side::client};
  End server_{Side::server};
};

TEST_F(LatencyStreamTest, MeasuresEachDirectionByItself) {
  run(0, kSecond, 200 * kMicrosecond, 30 * kMicrosecond);
  const LatencyReport& at_client = client_.stream.report();
  const LatencyReport& at_server = server_.stream.report();
  EXPECT_NEAR(static_cast<double>(at_client.sent), 90, 2);
  EXPECT_EQ(at_client.sent, at_server.received);
  EXPECT_EQ(at_server.sent, at_client.received);
  EXPECT_GE(at_server.sent + 2, at_client.sent);
  EXPECT_EQ(at_server.histogram.bucket(1, 1), at_server.received);
  EXPECT_EQ(at_client.histogram.bucket(0, 2), at_client.received);
  EXPECT_EQ(at_server.out_of_sequence + at_client.out_of_sequence, 0u);
  EXPECT_EQ(at_server.jitter_ns, 0);
}

TEST_F(LatencyStreamTest, ServerIsSilentUntilARequestComes) {
  for (Nanoseconds now = 0; now < kSecond; now += kMillisecond)
    EXPECT_TRUE(sent(server_, now).empty());
  EXPECT_EQ(server_.stream.next_deadline(), INT64_MAX);
}

TEST_F(LatencyStreamTest, FramesAreEchoRequestsWithValidChecksums) {
  const auto frames = sent(client_, 100 * kMillisecond);
  ASSERT_EQ(frames.size(), 1u);
  const uint8_t* const frame = frames[0].data();
  ASSERT_EQ(frames[0].size(), 62u);
  EXPECT_EQ(frame[15], 3);    // type of service
  EXPECT_EQ(frame[22], 255);  // time to live
  EXPECT_EQ(frame[34], 8);    // echo request
  EXPECT_EQ(load_be<uint16_t>(frame + 38), 0xaabb);
  EXPECT_EQ(load_be<uint32_t>(frame + 26), kClient);
  EXPECT_EQ(load_be<uint32_t>(frame + 30), kServer);
  EXPECT_EQ(checksum_fold(checksum_add(0, frame + 14, 20)), 0xffff);
  EXPECT_EQ(checksum_fold(checksum_add(0, frame + 34, 28)), 0xffff);
}

TEST_F(LatencyStreamTest, LossAndReorderingAreCountedAndNotMeasured) {
  std::vector<std::vector<uint8_t>> frames;
  for (Nanoseconds now = 0; now < 200 * kMillisecond; now += kMillisecond)
    for (auto& frame : sent(client_, now)) frames.push_back(frame);
  ASSERT_GE(frames.size(), 6u);
  const Nanoseconds now = 300 * kMillisecond;
  for (size_t i : {0, 2, 3, 1, 4}) EXPECT_TRUE(give(server_, frames[i], now));
  EXPECT_EQ(server_.stream.report().received, 2u);         // 0, 3
  EXPECT_EQ(server_.stream.report().out_of_sequence, 3u);  // 2, 1, 4
  EXPECT_EQ(server_.stream.report().histogram.count(), 2u);
}

TEST_F(LatencyStreamTest, WhatIsUnderWayAtTheEndStillCounts) {
  const auto frames = sent(client_, 100 * kMillisecond);
  client_.stream.stop();
  server_.stream.stop();
  EXPECT_TRUE(give(server_, frames[0], kSecond));
  EXPECT_EQ(server_.stream.report().received, 1u);
  EXPECT_EQ(server_.stream.next_deadline(), INT64_MAX);
  EXPECT_EQ(client_.stream.next_deadline(), INT64_MAX);
}

TEST_F(LatencyStreamTest, LeavesFramesOfOthersAlone) {
  auto frame = sent(client_, 100 * kMillisecond)[0];
  auto other_mark = frame, other_identifier = frame, tcp = frame, cut = frame;
  other_mark[42 + 8 + 1] ^= 1;  // the epoch
  other_identifier[39] ^= 1;
  tcp[23] = 6;
  for (auto* changed : {&other_mark, &other_identifier, &tcp}) seal(*changed);
  cut.resize(61);
  for (const auto& foreign : {other_mark, other_identifier, tcp, cut})
    EXPECT_FALSE(give(server_, foreign, kSecond));
  auto wrong_length = frame;
  wrong_length[17] = 47;
  seal(wrong_length);
  EXPECT_TRUE(give(server_, wrong_length, kSecond));
  EXPECT_EQ(server_.stream.report().wrong_length, 1u);
  EXPECT_EQ(server_.stream.report().received, 0u);
}

TEST_F(LatencyStreamTest, EveryDamagedBitIsCountedAndNotMeasured) {
  const auto frame = sent(client_, 100 * kMillisecond)[0];
  const Nanoseconds now = 100 * kMillisecond + 30 * kMicrosecond;
  const LatencyReport& report = server_.stream.report();
  for (size_t bit = 14 * 8; bit < 62 * 8; ++bit) {
    auto damaged = frame;
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_TRUE(give(server_, damaged, now)) << "bit " << bit;
  }
  EXPECT_EQ(report.received, 0u);
  EXPECT_EQ(report.bad_ip_sum, 20 * 8u);
  EXPECT_EQ(report.bad_icmp_sum, 28 * 8u);
  EXPECT_TRUE(give(server_, frame, now));
  EXPECT_EQ(report.received, 1u);
  EXPECT_EQ(report.out_of_sequence + report.wrong_length, 0u);
  EXPECT_EQ(report.histogram.maximum(), 30 * kMicrosecond);
}

TEST_F(LatencyStreamTest, ChecksumsThatTheDeviceVouchesForAreNotComputedAgain) {
  auto frame = sent(client_, 100 * kMillisecond)[0];
  for (const size_t field : {24, 36}) store_be<uint16_t>(&frame[field], 0);
  EXPECT_TRUE(give(server_, frame, kSecond, Checksums::trusted));
  EXPECT_EQ(server_.stream.report().received, 1u);
  EXPECT_EQ(server_.stream.report().bad_ip_sum + server_.stream.report().bad_icmp_sum, 0u);
}

TEST_F(LatencyStreamTest, TimesThatCannotBeAreCountedAndNotMeasured) {
  auto frame = sent(client_, 100 * kMillisecond)[0];
  const Nanoseconds now = 10 * kSecond;
  uint64_t impossible = 0;
  for (const int64_t time : {INT64_MIN, INT64_MIN + 1, int64_t{-60} * kSecond, now + kSecond,
                             INT64_MAX - 1, INT64_MAX}) {
    set_time(frame, time);
    EXPECT_TRUE(give(server_, frame, now));
    EXPECT_EQ(server_.stream.report().impossible_time, ++impossible) << time;
  }
  EXPECT_EQ(server_.stream.report().received, 0u);
  EXPECT_EQ(server_.stream.next_deadline(), INT64_MAX);  // none of them was a request
  set_time(frame, now + kMicrosecond);                   // as far as two cores' clocks may differ
  EXPECT_TRUE(give(server_, frame, now));
  EXPECT_EQ(server_.stream.report().received, 1u);
  EXPECT_EQ(server_.stream.report().histogram.maximum(), 0);
}

TEST_F(LatencyStreamTest, ReportsOfSeveralCoresAddUp) {
  LatencyReport sum, other;
  other.bad_ip_sum = 2;
  other.bad_icmp_sum = 3;
  other.impossible_time = 4;
  sum += other;
  sum += other;
  EXPECT_EQ(sum.bad_ip_sum, 4u);
  EXPECT_EQ(sum.bad_icmp_sum, 6u);
  EXPECT_EQ(sum.impossible_time, 8u);
}

TEST_F(LatencyStreamTest, RateChangesAtOnce) {
  run(0, kSecond, 0, 0);
  const uint64_t before = client_.stream.report().sent;
  client_.stream.set_interval(kMillisecond, kSecond);
  run(kSecond, 2 * kSecond, 0, 0);
  EXPECT_NEAR(static_cast<double>(client_.stream.report().sent - before), 1000, 10);
}

/// Frames of a pass are sent together: too many would keep the core from what has arrived.
TEST_F(LatencyStreamTest, AfterAPauseWhatIsDueIsSentInSeveralPasses) {
  client_.stream.set_interval(kMicrosecond, 0);
  const Nanoseconds began = client_.stream.next_deadline();
  const Nanoseconds now = began + 90 * kMillisecond;
  size_t all = 0;
  for (size_t now_sent; (now_sent = sent(client_, now).size()) != 0; all += now_sent)
    ASSERT_LE(now_sent, TransmitQueue::kBurst);
  EXPECT_EQ(all, 90'001u);
}

}  // namespace
}  // namespace engine
