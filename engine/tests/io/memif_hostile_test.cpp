// Peers of a memif that write what they like, whenever they like.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <string>
#include <vector>

#include "io/engine_tools.h"
#include "io/memif/control.h"
#include "io/memif/queue.h"
#include "io/syn.h"
#include "net/rx_segment.h"

namespace engine {
namespace {

using testing::HasSubstr;

memif::Settings of_a_server() {
  memif::Settings settings;
  settings.server = true;
  return settings;
}

/// A queue of a server whose client writes what it likes: no control channel.
class HostileClient : public testing::Test {
 protected:
  HostileClient() {
    link_.set(memory_);
    queue_.receive();
  }

  /// What the server makes of these descriptors.
  size_t frames(std::initializer_list<memif::Descriptor> descriptors) {
    publish(descriptors);
    const size_t count = queue_.receive().size();
    queue_.release();
    return count;
  }
  void publish(std::initializer_list<memif::Descriptor> descriptors) {
    memif::RingHeader& ring = *memory_->ring(memif::Way::to_server, 0).header;
    for (const memif::Descriptor& each : descriptors) ring.descriptors[ring.head++ & 7] = each;
  }
  uint64_t bad() const { return queue_.drops()[Drop::bad_descriptor]; }

  const std::shared_ptr<memif::Memory> memory_ = memif::Memory::make(1, 3, 2048);
  const uint32_t end_ = static_cast<uint32_t>(memory_->regions()[0].bytes);
  memif::Link link_{of_a_server()};
  memif::Queue queue_{link_, 0};
};

TEST_F(HostileClient, NamesMemoryThatIsNotThere) {
  EXPECT_EQ(frames({{0, 1, 64, 0, 0}}), 0u) << "no such region";
  EXPECT_EQ(frames({{0, 0, 64, end_ - 63, 0}}), 0u) << "goes on behind it";
  EXPECT_EQ(frames({{0, 0, UINT32_MAX, 64, 0}}), 0u);
  EXPECT_EQ(frames({{0, 0, 64, UINT32_MAX, 0}}), 0u);
  EXPECT_EQ(bad(), 4u);
  EXPECT_EQ(frames({{0, 0, 64, end_ - 64, 0}}), 1u) << "up to its end";
  EXPECT_EQ(queue_.drops()[Drop::too_short], 0u);
  EXPECT_EQ(frames({{0, 0, 13, 0, 0}}), 0u);
  EXPECT_EQ(queue_.drops()[Drop::too_short], 1u);
}

TEST_F(HostileClient, SendsAFrameWithoutEnd) {
  const memif::Descriptor more{memif::Descriptor::kNext, 0, 64, 0, 0};
  EXPECT_EQ(frames({more, more}), 0u) << "the rest may come";
  EXPECT_EQ(frames({{0, 0, 64, 0, 0}}), 1u);
  EXPECT_EQ(frames({more, more, more, more, more, more, more, more}), 0u);
  EXPECT_EQ(bad(), 1u) << "no more can come";
  EXPECT_EQ(frames({{0, 0, 64, 0, 0}}), 1u);
  const memif::Descriptor longest{memif::Descriptor::kNext, 0, 16000, 0, 0};
  EXPECT_EQ(frames({longest, longest, longest, longest, {0, 0, 2000, 0, 0}}), 0u);
  EXPECT_EQ(bad(), 2u) << "longer than a frame may be";
}

TEST_F(HostileClient, HasItsPositionsAnywhere) {
  memory_->ring(memif::Way::to_server, 0).header->head = 40'000;
  for (int i = 0; i < 10'000; ++i) {
    queue_.receive();
    queue_.release();
  }
  // It offers room in memory that is not there, and more of it than its ring has.
  memif::RingHeader& ring = *memory_->ring(memif::Way::to_client, 0).header;
  for (int slot = 0; slot < 8; ++slot) ring.descriptors[slot].offset = end_ - 1;
  ring.head = 50'000;
  for (uint32_t number = 0; number < 100; ++number) send(queue_, syn(1024));
  EXPECT_EQ(queue_.counters().opackets, 0u);
  EXPECT_EQ(ring.tail, 0u);
}

/// What a segment says must not change with the memory that it came in.
TEST_F(HostileClient, ChangesFramesThatWereReceived) {
  const std::vector<uint8_t> good = syn(1024, 1000);
  const uint32_t place = end_ - 2048;
  uint8_t* const shared = memory_->regions()[0].memory + place;
  const auto length = static_cast<uint32_t>(good.size());
  for (const bool reads_payload : {false, true}) {
    queue_.copy_payload(reads_payload);
    std::ranges::copy(good, shared);
    publish(
        {{0, 0, length, place, 0}, {1, 0, 200, place, 0}, {0, 0, length - 200, place + 200, 0}});
    const std::span<const Frame> frames = queue_.receive();
    ASSERT_EQ(frames.size(), 2u);
    std::memset(shared, 0xff, length);
    for (const Frame& frame : frames) {
      const bool whole = reads_payload || frame.payload == nullptr;
      Frame received = frame;
      if (!whole) received.checksums = Checksums::trusted;
      const RxSegment segment = parse(received);
      EXPECT_EQ(segment.kind, PacketKind::tcp);
      EXPECT_EQ(segment.source_port(), 1024);
      EXPECT_EQ(segment.sequence(), 7u);
      ASSERT_EQ(segment.payload().size(), 1000u);
      EXPECT_EQ(segment.payload()[999], whole ? 'x' : 0xff);
    }
    queue_.release();
  }
}

// Where headers end is looked for with care where they are no usual ones.
TEST_F(HostileClient, SendsHeadersOfAllKinds) {
  std::vector<uint8_t> frame = syn(1024, 1000);
  const uint32_t place = end_ - 2048;
  for (size_t at = 12; at < 64; ++at)
    for (const uint8_t value : {0x00, 0x08, 0x46, 0x4f, 0x60, 0x81, 0x86, 0xdd, 0xf0, 0xff}) {
      std::vector<uint8_t> changed = frame;
      changed[at] = value;
      std::ranges::copy(changed, memory_->regions()[0].memory + place);
      publish({{0, 0, static_cast<uint32_t>(frame.size()), place, 0}});
      const std::span<const Frame> frames = queue_.receive();
      ASSERT_EQ(frames.size(), 1u);
      EXPECT_EQ(frames[0].length(), frame.size());
      Frame whole;
      whole.head = changed.data();
      whole.head_length = static_cast<uint16_t>(frame.size());
      const RxSegment expected = parse(whole);
      const RxSegment found = parse(frames[0]);
      EXPECT_EQ(found.kind, expected.kind) << "byte " << at << ": " << int{value};
      EXPECT_EQ(found.payload_length, expected.payload_length);
      queue_.release();
    }
}

// A receiver that does not poll is woken by an eventfd, which it has, too: it can fill the counter,
// and decide whether a write to it waits.
TEST_F(HostileClient, SleepsAndCannotMakeACoreWait) {
  const memif::Ring ring = memory_->ring(memif::Way::to_client, 0);
  fcntl(ring.event, F_SETFL, 0);
  const auto send_one = [&] {
    ring.header->head = static_cast<uint16_t>(ring.header->tail + ring.size);
    send(queue_, syn(1024));
  };
  constexpr uint64_t kFrames = 1000;
  for (uint64_t frames = 0; frames < kFrames; ++frames) send_one();
  eventfd_t wakes = 0;
  ASSERT_EQ(eventfd_read(ring.event, &wakes), 0);
  EXPECT_EQ(wakes, kFrames);
  ASSERT_EQ(eventfd_write(ring.event, UINT64_MAX - 1), 0);
  const auto sent = std::async(std::launch::async, send_one);
  if (sent.wait_for(std::chrono::seconds(10)) != std::future_status::ready) {
    ADD_FAILURE() << "a core waits for its peer";
    eventfd_read(ring.event, &wakes);
  }
  sent.wait();
  fcntl(ring.event, F_SETFL, O_NONBLOCK);
  eventfd_read(ring.event, &wakes);
  ring.header->flags = memif::RingHeader::kNoInterrupt;
  send_one();
  EXPECT_NE(eventfd_read(ring.event, &wakes), 0) << "it polls";
  EXPECT_EQ(queue_.counters().opackets, kFrames + 2);
}

/// Bytes that the process has allocated.
size_t allocated() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

TEST(Memif, AHostileClientDecidesOnNoMemory) {
  const auto memory = memif::Memory::make(1, memif::kMostRingBits, 64);
  memif::Link link{of_a_server()};
  memif::Queue queue{link, 0};
  const size_t before = allocated();
  link.set(memory);
  memif::RingHeader& ring = *memory->ring(memif::Way::to_server, 0).header;
  // Two parts each, of which the last is bad; then positions that no ring has.
  for (uint32_t slot = 0; slot < 1u << memif::kMostRingBits; ++slot)
    ring.descriptors[slot] = {slot % 2 == 0 ? memif::Descriptor::kNext : uint16_t{0},
                              static_cast<uint16_t>(slot % 2), 64, 0, 0};
  uint64_t most = 0;
  for (const uint16_t jump : {16384, 65534, 40000}) {
    ring.head = static_cast<uint16_t>(ring.head + jump);
    uint64_t bad = 1;
    while (bad != 0) {
      bad = queue.drops()[Drop::bad_descriptor];
      queue.receive();
      queue.release();
      bad = queue.drops()[Drop::bad_descriptor] - bad;
      most = std::max(most, bad);
    }
  }
  EXPECT_LE(most, TransmitQueue::kBurst) << "in one pass of its core";
  constexpr size_t kBurst = TransmitQueue::kBurst * size_t{68} << 10;
  EXPECT_LT(allocated(), before + kBurst);
  link.set(nullptr);
  queue.receive();
  EXPECT_LT(allocated(), before + (size_t{64} << 10)) << "the peer has left";
}

TEST(MemifMemory, OfAHostileClientIsRefused) {
  const auto made = memif::Memory::make(1, 3, 2048);
  const memif::Memory::Region& whole = made->regions()[0];
  const memif::AddRing good = made->ring(memif::Way::to_server, 0).place;
  memif::Memory memory;
  EXPECT_THROW(memory.add(memif::AddRegion{0, whole.bytes}, -1), memif::Refused);
  EXPECT_THROW(memory.add(memif::AddRegion{1, whole.bytes}, dup(whole.file)), memif::Refused);
  EXPECT_THROW(memory.add(memif::AddRegion{0, whole.bytes + 1}, dup(whole.file)), memif::Refused);
  const int unsealed = memfd_create("stackcost-test", MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(unsealed, 4096), 0);
  EXPECT_THROW(memory.add(memif::AddRegion{0, 4096}, unsealed), memif::Refused);
  // What a file system has can be cut off by everyone who may write to it.
  char path[] = "/tmp/stackcost-memif-XXXXXX";
  const int plain = mkstemp(path);
  unlink(path);
  ASSERT_EQ(ftruncate(plain, 4096), 0);
  EXPECT_THAT(
      [&] {
        memory.add(memif::AddRegion{0, 4096}, plain);
      },
      testing::ThrowsMessage<memif::Refused>(HasSubstr("zero-copy=no")));
  EXPECT_THROW(memory.add(good, dup(whole.file)), memif::Refused) << "no region yet";
  memory.add(memif::AddRegion{0, whole.bytes}, dup(whole.file));
  EXPECT_THROW(memory.add(good, -1), memif::Refused);
  const auto refused = [&](auto change) {
    memif::AddRing ring = good;
    change(ring);
    EXPECT_THROW(memory.add(ring, dup(whole.file)), memif::Refused);
  };
  refused([](memif::AddRing& ring) { ring.index = 1; });
  refused([](memif::AddRing& ring) { ring.ring_bits = 15; });
  refused([](memif::AddRing& ring) { ring.ring_bits = 14; });
  refused([](memif::AddRing& ring) { ring.region = 1; });
  refused([](memif::AddRing& ring) { ring.offset += 8; });
  refused([](memif::AddRing& ring) { ring.offset = UINT32_MAX - 15; });
  refused([](memif::AddRing& ring) { ring.offset += 16; });
  refused([](memif::AddRing& ring) { ring.private_header = 1; });
  memory.add(good, eventfd(0, 0));
}

/// Sends SYNs whose source ports another thread changes all the time.
class TogglingPeer {
 public:
  explicit TogglingPeer(const memif::Settings& settings)
      : link_(settings), control_(memif::Control::with(link_)) {
    sender_ = std::thread([this] { send_syns(); });
    toggler_ = std::thread([this] { toggle(); });
  }
  ~TogglingPeer() {
    stopping_ = true;
    sender_.join();
    toggler_.join();
    control_->leave(link_);
  }
  TogglingPeer(const TogglingPeer&) = delete;

  uint64_t sent() const { return sent_; }

 private:
  // A SYN has a right checksum with either source port: what one byte gains, another one loses.
  static constexpr size_t kPortAt = kEthernetLength + kIpv4Length + 1;
  static constexpr size_t kWindowAt = kEthernetLength + kIpv4Length + 15;

  void send_syns() {
    memif::Queue queue{link_, 0};
    for (uint16_t port = 1024; !stopping_; ++port) {
      queue.receive();
      queue.release();
      if (link_.memory() == nullptr || queue.send_waiting() != 0) {
        std::this_thread::yield();
        continue;
      }
      send(queue, syn(port));
      sent_ = queue.counters().opackets;
    }
  }

  void toggle() {
    while (!stopping_) {
      const std::shared_ptr<memif::Memory> memory = link_.memory();
      if (memory == nullptr) continue;
      const memif::Way out =
          link_.settings().server ? memif::Way::to_client : memif::Way::to_server;
      const memif::Ring ring = memory->ring(out, 0);
      for (uint32_t slot = 0; slot < ring.size; ++slot) {
        const memif::Descriptor& descriptor = ring.header->descriptors[slot];
        volatile uint8_t* const frame = memory->at(descriptor.region, descriptor.offset, 64);
        if (frame == nullptr) continue;
        for (int times = 0; times < 32; ++times) {
          frame[kPortAt] = frame[kPortAt] ^ 1;
          frame[kWindowAt] = frame[kWindowAt] ^ 1;
        }
      }
    }
  }

  memif::Link link_;
  std::shared_ptr<memif::Control> control_;
  std::atomic<bool> stopping_ = false;
  std::atomic<uint64_t> sent_ = 0;
  std::thread sender_;
  std::thread toggler_;
};

/// A second, or as many as ENGINE_TEST_MEMIF_SECONDS has.
std::chrono::seconds hostile_time() {
  const char* const asked = std::getenv("ENGINE_TEST_MEMIF_SECONDS");
  return std::chrono::seconds(asked == nullptr ? 1 : std::atoi(asked));
}

class TogglingPeers : public testing::TestWithParam<bool> {};

TEST_P(TogglingPeers, CostNothingButTheirOwnFlows) {
  constexpr uint64_t kFlows = 300;
  const bool engine_serves = GetParam();
  const auto arguments = [](const char* role, const char* socket, int id) {
    return fmt::format("net_memif{},role={},socket=stackcost-test-{}-{}", id, role, socket,
                       getpid());
  };
  EngineConfig config =
      two_ports({"dummy", arguments(engine_serves ? "server" : "client", "bad", 0)});
  const EngineConfig good =
      two_ports({arguments("server", "good", 1), arguments("client", "good", 2)});
  config.ports.insert(config.ports.end(), good.ports.begin(), good.ports.end());
  Engine machine(config);
  const Subjects engine = machine.subjects();
  memif::Settings settings;
  settings.server = !engine_serves;
  settings.socket = fmt::format("stackcost-test-bad-{}", getpid());
  TogglingPeer peer(settings);
  eventually([&] {
    return std::ranges::all_of(std::array{1, 2, 3},
                               [&](uint32_t port) { return engine.ports.state(port).link_up; });
  });
  const auto end = std::chrono::steady_clock::now() + hostile_time();
  size_t most_allocated = 0;
  const size_t allocated_before = allocated();
  do {
    const uint64_t sent = peer.sent();
    // Half of them are the other pair's, whose clients' port is a dummy.
    const auto run = engine.runs.start(small_http(2 * kFlows), {}, ~0u);
    eventually([&] {
      const RunStatus status = run->status();
      // The peer's flows stay half open.
      return status.opened >= kFlows && status.client_flows == 0 && status.server_flows != 0 &&
             peer.sent() >= sent + kFlows;
    });
    EXPECT_GT(run->status().server_flows, 0u);
    const CounterBlock client = counters_of(engine, *run).sum(Side::client);
    EXPECT_EQ(client[Counter::tcps_connects], kFlows);
    EXPECT_EQ(client[Counter::tcps_rcvbyte], 32'000 * kFlows);
    ASSERT_FALSE(HasFailure());
    run->close();
    finish(*run);
    run->remove();
    most_allocated = std::max(most_allocated, allocated());
  } while (std::chrono::steady_clock::now() < end);
  EXPECT_LT(most_allocated, allocated_before + (size_t{64} << 20));
}

INSTANTIATE_TEST_SUITE_P(Memif, TogglingPeers, testing::Bool(),
                         [](const auto& its) { return its.param ? "OfAServer" : "OfAClient"; });

}  // namespace
}  // namespace engine
