#include "io/packet_socket.h"

#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "flow/tunables.h"
#include "io/config.h"
#include "net/compose.h"
#include "net/ethernet.h"
#include "net/latency_stream.h"
#include "net/rx_segment.h"

namespace engine {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kClient = 0x10000001;
constexpr uint32_t kServer = 0x30000001;
constexpr MacAddress kNobody{2, 0, 0, 0, 0, 9};

void set_loopback(short flags) {
  const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = flags;
  EXPECT_EQ(ioctl(any, SIOCSIFFLAGS, &request), 0);
  close(any);
}

/// Has `test` done on a thread in a network namespace of its own, with nothing but a loopback
/// interface; every frame sent there comes back.
void with_loopback(const std::function<void()>& test) {
  bool possible = true;
  std::thread([&] {
    possible = unshare(CLONE_NEWNET) == 0;
    if (!possible) return;
    set_loopback(IFF_UP);
    test();
  }).join();
  if (!possible) GTEST_SKIP() << "no network namespace to be had: run as root";
}

void set_loopback_mtu(int mtu) {
  const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_mtu = mtu;
  EXPECT_EQ(ioctl(any, SIOCSIFMTU, &request), 0);
  close(any);
}

/// Writes a TCP segment of `payload` for the next flush, its checksums left to the device.
void write(PortQueue& queue, const MacAddress& to, const Bytes& payload, VlanTags tags = {}) {
  Frame* const frame = queue.transmit().next();
  ASSERT_NE(frame, nullptr);
  const IpAddress source = IpAddress::v4(kClient);
  const IpAddress destination = IpAddress::v4(kServer);
  const auto length = static_cast<uint32_t>(20 + payload.size());
  L2Header l2;
  l2.destination = to;
  l2.tags = tags;
  uint8_t* const ip = frame->head + write_ethernet(frame->head, l2, kEtherTypeIpv4);
  uint8_t* const tcp =
      compose_ip(ip, source, destination, kProtocolTcp, length, 0, Tunables{}.ttl, false);
  std::memset(tcp, 0, 20);
  store_be<uint16_t>(tcp, 1024);
  store_be<uint16_t>(tcp + 2, 80);
  tcp[12] = 0x50;
  tcp[13] = 0x10;
  store_be<uint16_t>(tcp + 16,
                     checksum_fold(pseudo_header_sum(source, destination, kProtocolTcp, length)));
  leave_checksums(*frame, ip, tcp, 20);
  frame->payload = payload.data();
  frame->payload_length = static_cast<uint32_t>(payload.size());
  queue.transmit().commit();
}

void send(PortQueue& queue, const MacAddress& to, const Bytes& payload) {
  write(queue, to, payload);
  queue.transmit().flush();
}

/// Waits for a frame; the time is a limit, not a measure.
std::span<const Frame> receive(PortQueue& queue) {
  for (int i = 0; i < 5000; ++i) {
    if (const auto frames = queue.receive(); !frames.empty()) return frames;
    queue.release();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

TEST(PacketSocket, CarriesSegmentsWholeWithoutComputingTheirChecksums) {
  with_loopback([] {
    const auto port = open_packet_socket_port("lo", 1);
    EXPECT_TRUE(port->link_up());
    PortQueue& queue = port->queue(0);
    queue.set_filter(port->mac(), false);
    Bytes payload(700);
    for (size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<uint8_t>(i);
    send(queue, port->mac(), payload);
    const std::span<const Frame> frames = receive(queue);
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].checksums, Checksums::trusted);
    const RxSegment packet = parse(frames[0]);
    ASSERT_EQ(packet.kind, PacketKind::tcp);
    EXPECT_EQ(packet.source(), IpAddress::v4(kClient));
    EXPECT_EQ(packet.payload().size(), payload.size());
    ASSERT_EQ(packet.payload_length, payload.size());
    EXPECT_EQ(Bytes(packet.payload().begin(), packet.payload().end()), payload);
    queue.release();
    EXPECT_EQ(queue.counters().opackets, 1u);
    EXPECT_EQ(queue.counters().ipackets, 1u);
    EXPECT_EQ(queue.counters().obytes, 54 + payload.size());
    EXPECT_EQ(queue.counters().ibytes, 54 + payload.size());
  });
}

TEST(PacketSocket, HasTheBeginningOfWhatTheKernelPutsTogetherAndTheLengthOfAll) {
  with_loopback([] {
    const auto port = open_packet_socket_port("lo", 1);
    PortQueue& queue = port->queue(0);
    const Bytes payload(60'000, 7);
    send(queue, port->mac(), payload);
    const std::span<const Frame> frames = receive(queue);
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_LT(frames[0].head_length, payload.size());
    EXPECT_EQ(frames[0].length(), 54 + payload.size());
    const RxSegment packet = parse(frames[0]);
    ASSERT_EQ(packet.kind, PacketKind::tcp);
    EXPECT_EQ(packet.payload_length, payload.size());
    EXPECT_EQ(packet.payload().size(), frames[0].head_length - 54u);
    queue.release();
    EXPECT_EQ(queue.counters().ibytes, 54 + payload.size());
  });
}

TEST(PacketSocket, HasWhatTheKernelPutsTogetherWholeWhereItIsRead) {
  with_loopback([] {
    const auto port = open_packet_socket_port("lo", 1);
    PortQueue& queue = port->queue(0);
    port->receive_whole(true);
    // More than fit the ring's slots, between others that do, several times round the ring.
    for (uint32_t round = 0; round < 100; ++round) {
      std::vector<Bytes> payloads;
      for (uint32_t i = 0; i < 40; ++i) {
        Bytes& payload = payloads.emplace_back(i % 4 == 0 ? 100 : 60'000 + i);
        for (size_t at = 0; at < payload.size(); ++at)
          payload[at] = static_cast<uint8_t>(round + i + at / 251);
      }
      const VlanTags tags = vlan_tags(round % 2 == 0 ? 0 : 291);
      for (const Bytes& payload : payloads) write(queue, port->mac(), payload, tags);
      queue.transmit().flush();
      for (size_t seen = 0; seen < payloads.size();) {
        const std::span<const Frame> frames = receive(queue);
        ASSERT_FALSE(frames.empty());
        for (const Frame& frame : frames) {
          const RxSegment packet = parse(frame);
          ASSERT_EQ(packet.kind, PacketKind::tcp);
          ASSERT_EQ(read_ethernet(frame).tags, tags);
          ASSERT_EQ(Bytes(packet.payload().begin(), packet.payload().end()), payloads[seen++]);
        }
        queue.release();
      }
    }
    port->receive_whole(false);
    const Bytes payload(60'000, 7);
    send(queue, port->mac(), payload);
    const std::span<const Frame> frames = receive(queue);
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_GT(frames[0].payload_length, 0u);
    queue.release();
  });
}

TEST(PacketSocket, PassesOnlyWhatIsForItsAddressUnlessPromiscuous) {
  with_loopback([] {
    const auto port = open_packet_socket_port("lo", 1);
    PortQueue& queue = port->queue(0);
    queue.set_filter(port->mac(), false);
    const Bytes payload(100);
    send(queue, kNobody, payload);
    send(queue, port->mac(), payload);
    ASSERT_EQ(receive(queue).size(), 1u);
    queue.release();
    EXPECT_EQ(queue.drops()[Drop::not_ours], 1u);
    queue.set_filter(port->mac(), true);
    send(queue, kNobody, payload);
    EXPECT_EQ(receive(queue).size(), 1u);
    queue.release();
  });
}

// A kernel hands over what has its checksums as it is, and does not vouch for them.
TEST(PacketSocket, LatencyFramesAreTakenForWholeOnlyWhenTheyAre) {
  with_loopback([] {
    const auto port = open_packet_socket_port("lo", 1);
    PortQueue& queue = port->queue(0);
    queue.set_filter(port->mac(), false);
    const L2HeaderTable l2_headers(L2Header{port->mac(), port->mac()});
    LatencyStream stream(Side::client, l2_headers, queue.transmit());
    stream.start({.sends = true}, 0);
    stream.advance(kSecond);
    queue.transmit().flush();
    const std::span<const Frame> frames = receive(queue);
    ASSERT_EQ(frames.size(), 1u);
    frames[0].head[50] ^= 1;
    EXPECT_TRUE(stream.receive(parse(frames[0]), kSecond));
    EXPECT_EQ(stream.report().bad_icmp_sum, 1u);
    frames[0].head[50] ^= 1;
    EXPECT_TRUE(stream.receive(parse(frames[0]), kSecond));
    EXPECT_EQ(stream.report().received, 1u);
    queue.release();
  });
}

TEST(PacketSocket, GoesRoundItsRing) {
  with_loopback([] {
    const auto port = open_packet_socket_port("lo", 1);
    PortQueue& queue = port->queue(0);
    for (uint8_t round = 0; round < 250; ++round) {
      const Bytes payload(10, round);
      for (int i = 0; i < 10; ++i) send(queue, port->mac(), payload);
      for (size_t seen = 0; seen < 10;) {
        const std::span<const Frame> frames = receive(queue);
        ASSERT_FALSE(frames.empty());
        for (const Frame& frame : frames) EXPECT_EQ(frame.head[54], round);
        seen += frames.size();
        queue.release();
      }
    }
    EXPECT_EQ(queue.counters().ipackets, 2500u);
    EXPECT_EQ(port->losses().ierrors, 0u);
  });
}

// The kernel takes the tag out of what it receives, and says beside it of which kind it was.
TEST(PacketSocket, PutsBackTheTagThatTheKernelTookOut) {
  with_loopback([] {
    const auto port = open_packet_socket_port("lo", 1);
    PortQueue& queue = port->queue(0);
    queue.set_filter(port->mac(), true);
    for (const uint16_t type : {uint16_t{0x8100}, uint16_t{0x88a8}}) {  // IEEE 802.1Q, 802.1ad
      Frame* const frame = queue.transmit().next();
      ASSERT_NE(frame, nullptr);
      std::memset(frame->head, 0, 60);
      store_be<uint16_t>(frame->head + 12, type);
      store_be<uint16_t>(frame->head + 14, 0x2123);
      store_be<uint16_t>(frame->head + 16, 0x88b5);  // IEEE 802: for experiments
      frame->head_length = 60;
      queue.transmit().commit();
      queue.transmit().flush();
      const std::span<const Frame> frames = receive(queue);
      ASSERT_EQ(frames.size(), 1u);
      EXPECT_EQ(load_be<uint16_t>(frames[0].head + 12), type);
      EXPECT_EQ(load_be<uint16_t>(frames[0].head + 14), 0x2123);
      EXPECT_EQ(load_be<uint16_t>(frames[0].head + 16), 0x88b5);
      queue.release();
    }
  });
}

TEST(PacketSocket, AFrameThatIsTooLongIsDroppedByItselfAndTheRestOfItsBurstGoes) {
  with_loopback([] {
    set_loopback_mtu(1500);
    const auto port = open_packet_socket_port("lo", 1);
    PortQueue& queue = port->queue(0);
    const Bytes fits(100);
    const Bytes too_long(2000);
    for (const Bytes* payload : {&fits, &too_long, &fits, &too_long, &too_long, &fits})
      write(queue, port->mac(), *payload);
    queue.transmit().flush();
    EXPECT_EQ(queue.counters().opackets, 3u);
    EXPECT_EQ(queue.counters().obytes, 3 * 154u);
    EXPECT_EQ(queue.counters().oerrors, 3u);
    EXPECT_EQ(queue.drops()[Drop::frame_refused], 3u);
    EXPECT_EQ(queue.drops()[Drop::device_full], 0u);
  });
}

TEST(PacketSocket, ALinkThatIsDownCountsWhatItDropsAndSendsOnceItIsUpAgain) {
  with_loopback([] {
    const auto port = open_packet_socket_port("lo", 1);
    PortQueue& queue = port->queue(0);
    const Bytes payload(100);
    set_loopback(0);
    for (int i = 0; i < 5; ++i) write(queue, port->mac(), payload);
    queue.transmit().flush();
    EXPECT_EQ(queue.drops()[Drop::link_down], 5u);
    EXPECT_EQ(queue.drops()[Drop::device_full], 0u);
    EXPECT_EQ(queue.counters().oerrors, 5u);
    set_loopback(IFF_UP);
    send(queue, port->mac(), payload);
    EXPECT_EQ(queue.counters().opackets, 1u);
    EXPECT_EQ(queue.drops()[Drop::link_down], 5u);
  });
}

TEST(PacketSocket, AnInterfaceThatIsDownIsRefused) {
  with_loopback([] {
    EXPECT_NO_THROW(open_packet_socket_port("lo", 1));
    set_loopback(0);
    EXPECT_THROW(open_packet_socket_port("lo", 1), ConfigError);
  });
}

}  // namespace
}  // namespace engine
