#include "io/dpdk_queue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rte_ethdev.h>
#include <rte_memzone.h>

#include <string_view>

#include "base/byte_order.h"
#include "io/dpdk_port.h"
#include "io/engine_tools.h"
#include "io/test_memory.h"

namespace engine {
namespace {

constexpr size_t kRing = 1023;  // frames that DPDK's ring device holds of its own accord
constexpr uint32_t kNumberAt = 14;

/// One port on DPDK's ring device, which gives back what it is given.
class FullDevice : public testing::Test {
 protected:
  FullDevice() {
    start_test_memory();
    const std::string device = fmt::format("--vdev=net_ring{}", opened_++);
    port_ = open_dpdk_port(parse_device_name(device), 0, 1, notices_);
  }

  PortQueue& queue() { return port_->queue(0); }

  /// Sends so many frames, each with the next number.
  void send(size_t count) {
    TransmitQueue& transmit = queue().transmit();
    for (size_t i = 0; i < count; ++i) {
      Frame* const frame = transmit.next();
      ASSERT_NE(frame, nullptr);
      std::memset(frame->head, 0, 60);
      store_be<uint32_t>(frame->head + kNumberAt, sent_++);
      frame->head_length = 60;
      transmit.commit();
    }
    transmit.flush();
  }

  /// Receives one burst, and expects the numbers to go on. Returns how many came.
  size_t receive() {
    const std::span<const Frame> frames = queue().receive();
    for (const Frame& frame : frames)
      EXPECT_EQ(load_be<uint32_t>(frame.head + kNumberAt), received_++);
    const size_t count = frames.size();
    queue().release();
    return count;
  }

  void receive_all() {
    do queue().send_waiting();
    while (receive() != 0);
  }

  /// Sends one frame of a header and this payload.
  void send_payload(const uint8_t* payload, uint32_t length) {
    Frame* const frame = queue().transmit().next();
    ASSERT_NE(frame, nullptr);
    std::memset(frame->head, 0, 60);
    frame->head_length = 60;
    frame->payload = payload;
    frame->payload_length = length;
    queue().transmit().commit();
    queue().transmit().flush();
  }

  static inline int opened_ = 0;
  std::vector<std::string> notices_;
  std::unique_ptr<Port> port_;
  uint32_t sent_ = 0;
  uint32_t received_ = 0;
};

TEST_F(FullDevice, HasItsFramesWaitAndTakesThemInOrder) {
  send(3000);
  EXPECT_EQ(queue().counters().opackets, kRing);
  EXPECT_NE(queue().send_waiting(), 0u);
  receive();
  send(1);  // behind those that wait
  receive_all();
  EXPECT_EQ(received_, 3001u);
  EXPECT_EQ(queue().send_waiting(), 0u);
  EXPECT_EQ(queue().counters().opackets, 3001u);
  EXPECT_EQ(queue().counters().obytes, 3001u * 60);
  EXPECT_EQ(queue().counters().oerrors, 0u);
}

TEST_F(FullDevice, DropsWhatIsTooMuchAndLosesNoBuffer) {
  const uint32_t free = queue().buffers().free;
  send(kRing + DpdkQueue::kWaiting + 100);
  EXPECT_EQ(queue().drops()[Drop::device_full], 100u);
  EXPECT_EQ(queue().counters().oerrors, 100u);
  receive_all();
  EXPECT_EQ(received_, kRing + DpdkQueue::kWaiting);
  // The thread of this test has no cache of the pool, so what is free is counted at once.
  EXPECT_EQ(queue().buffers().free + TransmitQueue::kBurst, free);
}

TEST_F(FullDevice, CountsTheCopyOfPayloadApartFromHandingOver) {
  constexpr uint32_t kLong = 60000;
  const std::vector<uint8_t> payload(kLong, 1);
  const auto cycles = [&](uint32_t length) {
    const uint64_t copying = queue().copying_cycles();
    const uint64_t sending = queue().sending_cycles();
    for (int i = 0; i < 200; ++i) {
      send_payload(payload.data(), length);
      for (const Frame& frame : queue().receive()) EXPECT_EQ(frame.head_length, 60u + length);
      queue().release();
    }
    return std::pair{queue().copying_cycles() - copying, queue().sending_cycles() - sending};
  };
  const auto [of_short, handing_short] = cycles(100);
  const auto [of_long, handing_long] = cycles(kLong);
  EXPECT_GT(of_short, 0u);
  EXPECT_GT(of_long, 5 * of_short);
  EXPECT_LT(handing_long, of_long);
}

/// Refuses frames with an odd number, and counts how often it is asked.
struct Driver {
  static uint16_t prepare(void*, rte_mbuf** packets, uint16_t count) {
    ++asked;
    for (uint16_t i = 0; i < count; ++i)
      if (load_be<uint32_t>(rte_pktmbuf_mtod_offset(packets[i], uint8_t*, kNumberAt)) % 2 == 1)
        return i;
    return count;
  }
  static inline int asked;
};

TEST_F(FullDevice, AsksItsDriverOnceForABurstAndLeavesOutWhatThatRefuses) {
  uint16_t device = RTE_MAX_ETHPORTS;
  ASSERT_EQ(rte_eth_dev_get_port_by_name(fmt::format("net_ring{}", opened_ - 1).c_str(), &device),
            0);
  rte_eth_fp_ops[device].tx_pkt_prepare = Driver::prepare;
  TransmitQueue& transmit = queue().transmit();
  const uint32_t free = queue().buffers().free;
  const auto numbers = [&](std::initializer_list<uint32_t> sent, Checksums checksums) {
    Driver::asked = 0;
    for (const uint32_t number : sent) {
      Frame* const frame = transmit.next();
      std::memset(frame->head, 0, 60);
      store_be<uint32_t>(frame->head + kNumberAt, number);
      frame->head_length = 60;
      frame->checksums = checksums;
      transmit.commit();
    }
    transmit.flush();
    std::vector<uint32_t> received;
    for (const Frame& frame : queue().receive())
      received.push_back(load_be<uint32_t>(frame.head + kNumberAt));
    queue().release();
    return received;
  };
  EXPECT_THAT(numbers({0, 2, 4, 6}, Checksums::partial), testing::ElementsAre(0, 2, 4, 6));
  EXPECT_EQ(Driver::asked, 1);
  EXPECT_THAT(numbers({1, 2, 3, 5, 6, 7}, Checksums::partial), testing::ElementsAre(2, 6));
  EXPECT_EQ(queue().drops()[Drop::frame_refused], 4u);
  EXPECT_EQ(queue().counters().oerrors, 4u);
  EXPECT_THAT(numbers({1, 2}, Checksums::in_frame), testing::ElementsAre(1, 2));
  EXPECT_EQ(Driver::asked, 0);
  EXPECT_EQ(queue().buffers().free + 6, free) << "the slots of the longest burst have buffers";
}

/// How many payloads of profiles DPDK's memory holds.
size_t payloads() {
  size_t count = 0;
  rte_memzone_walk(
      [](const rte_memzone* zone, void* counted) {
        if (std::string_view(zone->name).starts_with("payload")) ++*static_cast<size_t*>(counted);
      },
      &count);
  return count;
}

constexpr uint32_t kMss = 1460;

/// The same port, with a profile's payload.
class Payload : public FullDevice {
 protected:
  Payload() : external_(ExternalPayload::copy_of(profile_)) {
    EXPECT_NE(external_, nullptr);
    queue().refer_to(external_);
    send(1);  // it takes buffers for all slots of the queue
    receive_all();
  }

  /// Has nobody but packets use the payload.
  void forget() {
    queue().forget(external_);
    external_.reset();
  }

  const std::vector<Buffer> profile_ = {{"GET", 3, ""}, {"HTTP/1.1 200 OK", 200000, ""}};
  std::shared_ptr<const ExternalPayload> external_;
};

TEST_F(Payload, IsReferredToAndNotCopied) {
  const Buffer& response = profile_[1];
  const uint32_t free = queue().buffers().free;
  // Where it is kept once, and behind that, where it repeats.
  for (const uint32_t offset : {0u, 65000u, 200000 - kMss})
    send_payload(response.at(offset, kMss), kMss);
  EXPECT_EQ(queue().buffers().free + 3, free) << "a packet takes one buffer, for its headers";
  const std::span<const Frame> frames = queue().receive();
  ASSERT_EQ(frames.size(), 3u);
  const uint8_t* const first = external_->copy_at(response.at(0, kMss));
  EXPECT_NE(first, response.at(0, kMss));
  size_t number = 0;
  for (const uint32_t offset : {0u, 65000u, 200000 - kMss}) {
    const Frame& frame = frames[number++];
    EXPECT_EQ(frame.head_length, 60);
    ASSERT_EQ(frame.payload_length, kMss);
    EXPECT_EQ(frame.payload, external_->copy_at(response.at(offset, kMss)));
    EXPECT_EQ(std::memcmp(frame.payload, response.at(offset, kMss), kMss), 0);
  }
  EXPECT_EQ(queue().counters().ibytes, 60u + 3 * (60 + kMss));
  queue().release();
}

TEST_F(Payload, IsCopiedWhereItIsShortOrNoProfiles) {
  const std::string own(kMss, 'x');
  const auto* const other = reinterpret_cast<const uint8_t*>(own.data());
  send_payload(profile_[1].at(0, 1), ExternalPayload::kWorthwhile - 1);
  send_payload(other, kMss);
  const std::span<const Frame> frames = queue().receive();
  ASSERT_EQ(frames.size(), 2u);
  for (const Frame& frame : frames) EXPECT_EQ(frame.payload, nullptr);
  EXPECT_EQ(frames[0].head_length, 60 + ExternalPayload::kWorthwhile - 1);
  EXPECT_EQ(std::memcmp(frames[0].head + 60, profile_[1].at(0, 1), frames[0].head_length - 60), 0);
  EXPECT_EQ(std::memcmp(frames[1].head + 60, other, kMss), 0);
  queue().release();
}

TEST_F(Payload, IsCopiedWhenNoReferenceIsLeft) {
  constexpr uint32_t kTwoReferences = ExternalPayload::kMost + 1;
  const auto buffers_of_the_next = [this] {
    const uint32_t free = queue().buffers().free;
    send_payload(profile_[1].at(0, kTwoReferences), kTwoReferences);
    return free - queue().buffers().free;
  };
  uint32_t referring = 0;
  while (buffers_of_the_next() == 1) ASSERT_LE(++referring, kRing + DpdkQueue::kWaiting);
  EXPECT_GT(referring, kRing);
  EXPECT_EQ(queue().drops()[Drop::no_payload_buffer], 0u);
  const uint64_t sent = 1 + referring + 1;
  while (queue().counters().ipackets < sent) {
    queue().send_waiting();
    EXPECT_TRUE(queue().receive().empty()) << "all are in three buffers or more";
    queue().release();
  }
  EXPECT_EQ(queue().drops()[Drop::multiple_segments], referring + 1);
  EXPECT_EQ(buffers_of_the_next(), 1u) << "all references came back";
}

TEST_F(Payload, LivesAsLongAsPacketsReferToIt) {
  const size_t others = payloads() - 1;
  send_payload(profile_[1].at(0, kMss), kMss);
  forget();
  EXPECT_EQ(payloads(), others + 1);
  const std::span<const Frame> frames = queue().receive();
  ASSERT_EQ(frames.size(), 1u);
  ASSERT_NE(frames[0].payload, nullptr);
  EXPECT_EQ(std::memcmp(frames[0].payload, profile_[1].at(0, kMss), kMss), 0);
  queue().release();
  EXPECT_EQ(payloads(), others);
  send_payload(profile_[1].at(0, kMss), kMss);
  EXPECT_EQ(queue().receive()[0].payload, nullptr) << "forgotten, so it is copied";
  queue().release();
}

TEST_F(Payload, OfShortBuffersTakesNoMemory) {
  EXPECT_EQ(ExternalPayload::copy_of({{"GET", ExternalPayload::kWorthwhile - 1, ""}}), nullptr);
}

// Each of these rings gives back to a port what it has sent, so no flow is opened.
TEST(PayloadOfRuns, IsReferredToFromTheirStartToTheirEnd) {
  start_test_memory();
  Engine machine(two_ports({"--vdev=net_ring_client", "--vdev=net_ring_server"}));
  const Subjects engine = machine.subjects();
  const size_t none = payloads();
  for (int again = 0; again < 3; ++again) {
    const auto run = engine.runs.start(small_http(20), {}, ~0u);
    EXPECT_EQ(payloads(), none + 1);
    run->remove();
    EXPECT_EQ(payloads(), none);
  }
}

}  // namespace
}  // namespace engine
