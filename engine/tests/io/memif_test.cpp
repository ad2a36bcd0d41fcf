#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "io/dpdk_port.h"
#include "io/engine_tools.h"
#include "io/memif/control.h"
#include "io/memif/port.h"
#include "io/memif/queue.h"
#include "io/test_memory.h"

namespace engine {
namespace {

using testing::HasSubstr;

constexpr uint32_t kNumberAt = 14;
constexpr uint32_t kShortest = 60;

std::string arguments(const std::string& role, const std::string& more = "") {
  return fmt::format("role={},socket=stackcost-test-{}{}", role, getpid(), more);
}

DeviceName device(const std::string& role, const std::string& more = "") {
  static int opened = 0;
  return parse_device_name(
      fmt::format("--vdev=net_memif{},{}", 100 + opened++, arguments(role, more)));
}

std::unique_ptr<Port> open(const std::string& role, const std::string& more = "",
                           uint32_t cores = 1) {
  return open_memif_port(device(role, more), cores);
}

/// The same by DPDK's driver.
std::unique_ptr<Port> open_with_dpdk(const std::string& role, const std::string& more = "") {
  start_test_memory();
  std::vector<std::string> notices;
  DeviceName its = device(role, more);
  its.kind = DeviceKind::virtual_device;
  return open_dpdk_port(its, 0, 1, notices);
}

void await_link(const Port& port, bool up = true) {
  eventually([&] { return port.link_up() == up; });
  ASSERT_EQ(port.link_up(), up);
}

/// What is in the n-th frame of so many bytes, Ethernet's header left zero.
uint8_t byte_of(uint32_t number, size_t at) {
  return static_cast<uint8_t>(number * 7 + at);
}

/// Sends a frame: `head` bytes of it in the head, the rest as payload.
void send(PortQueue& queue, uint32_t number, size_t length, size_t head = kShortest) {
  Frame* const frame = queue.transmit().next();
  ASSERT_NE(frame, nullptr);
  static std::vector<uint8_t> payload(UINT16_MAX);
  std::memset(frame->head, 0, kNumberAt);
  for (size_t at = kNumberAt; at < head; ++at) frame->head[at] = byte_of(number, at);
  for (size_t at = head; at < length; ++at) payload[at - head] = byte_of(number, at);
  frame->head_length = static_cast<uint16_t>(head);
  frame->payload = length > head ? payload.data() : nullptr;
  frame->payload_length = static_cast<uint32_t>(length - head);
  queue.transmit().commit();
  queue.transmit().flush();
}

/// Lengths of the frames of one burst, which are to be numbered from `number` on.
std::vector<size_t> receive(PortQueue& queue, uint32_t number) {
  std::vector<size_t> lengths;
  for (const Frame& frame : queue.receive()) {
    lengths.push_back(frame.length());
    for (size_t at = kNumberAt; at < frame.head_length; ++at)
      EXPECT_EQ(frame.head[at], byte_of(number, at)) << "frame " << number << ", byte " << at;
    ++number;
  }
  queue.release();
  return lengths;
}

/// Frames of many lengths both ways, more than the rings have room for at once.
void exchange(Port& one, Port& other) {
  one.queue(0).receive();
  one.queue(0).release();
  other.queue(0).receive();
  other.queue(0).release();
  for (uint32_t number = 0; number < 3000; ++number) {
    const size_t length = number % 5 == 0 ? kShortest + number % 1400 : kShortest;
    send(one.queue(0), number, length);
    send(other.queue(0), number, length);
    EXPECT_THAT(receive(other.queue(0), number), testing::ElementsAre(length));
    EXPECT_THAT(receive(one.queue(0), number), testing::ElementsAre(length));
  }
}

TEST(Memif, CarriesFramesOfAllLengthsBothWays) {
  const auto server = open("server", ",rsize=6,bsize=256");
  const auto client = open("client", ",rsize=6,bsize=256");
  await_link(*server);
  await_link(*client);
  exchange(*server, *client);
  EXPECT_EQ(server->queue(0).counters().oerrors + client->queue(0).counters().ierrors, 0u);
}

TEST(Memif, CarriesFramesToAndFromAClientOnDpdk) {
  const auto server = open("server");
  const auto client = open_with_dpdk("client", ",rsize=8,bsize=2048");
  await_link(*server);
  await_link(*client);
  exchange(*server, *client);
}

TEST(Memif, CarriesFramesToAndFromAServerOnDpdk) {
  // It stays open: DPDK 22.11 polls the socket of a closed one for ever. So it has a socket of its
  // own.
  static const std::unique_ptr<Port> kept =
      open_with_dpdk("server", fmt::format(",socket=stackcost-test-dpdk-{}", getpid()));
  Port& server = *kept;
  const auto client =
      open("client", fmt::format(",rsize=8,bsize=2048,socket=stackcost-test-dpdk-{}", getpid()));
  await_link(server);
  await_link(*client);
  exchange(server, *client);
}

TEST(Memif, PutsAFrameOfSeveralBuffersOfDpdkTogether) {
  const auto server = open("server");
  const auto client = open_with_dpdk("client", ",rsize=5,bsize=128");
  await_link(*server);
  await_link(*client);
  server->queue(0).receive();
  // Twelve buffers each, so some go on at the ring's begin.
  for (uint32_t number = 0; number < 20; ++number) {
    send(client->queue(0), number, 1500);
    EXPECT_THAT(receive(server->queue(0), number), testing::ElementsAre(1500u));
  }
}

TEST(Memif, FramesWaitForRoomInTheirOrder) {
  const auto server = open("server");
  const auto client = open("client", ",rsize=4,bsize=2048");
  await_link(*server);
  await_link(*client);
  PortQueue& from = client->queue(0);
  from.receive();
  constexpr uint32_t kMany = 16 + PortQueue::kWaiting + 5;
  for (uint32_t number = 0; number < kMany; ++number) send(from, number, kShortest);
  EXPECT_EQ(from.drops()[Drop::device_full], 5u);
  EXPECT_EQ(from.counters().oerrors, 5u);
  uint32_t received = 0;
  while (received < kMany - 5) {
    const size_t count = receive(server->queue(0), received).size();
    ASSERT_GT(count, 0u);
    received += static_cast<uint32_t>(count);
    from.send_waiting();
  }
  EXPECT_EQ(from.send_waiting(), 0u);
  EXPECT_EQ(from.counters().opackets, kMany - 5);
}

TEST(Memif, AFrameThatTheWholeRingCannotHoldIsRefused) {
  const auto server = open("server");
  const auto client = open("client", ",rsize=2,bsize=256");
  await_link(*client);
  await_link(*server);
  client->queue(0).receive();
  send(client->queue(0), 0, 1025);
  EXPECT_EQ(client->queue(0).drops()[Drop::frame_refused], 1u);
  send(client->queue(0), 1, 1024);
  EXPECT_THAT(receive(server->queue(0), 1), testing::ElementsAre(1024u));
}

TEST(Memif, APeerThatComesAgainIsServedAgain) {
  const auto server = open("server");
  for (int again = 0; again < 3; ++again) {
    const auto client = open("client");
    await_link(*client);
    await_link(*server);
    exchange(*server, *client);
    client->queue(0).receive();
    server->queue(0).receive();
    send(client->queue(0), 7, kShortest);
  }
  await_link(*server, false);
  // What was received before the peer went lives until it is given back.
  server->queue(0).release();
  EXPECT_TRUE(server->queue(0).receive().empty());
  send(server->queue(0), 0, kShortest);
  EXPECT_EQ(server->queue(0).drops()[Drop::link_down], 1u);
}

TEST(Memif, PortsOfOneSocketAreToldApartByTheirIds) {
  const auto left = open("server", ",id=1");
  const auto right = open("server", ",id=2");
  const auto client = open("client", ",id=2");
  await_link(*client);
  await_link(*right);
  EXPECT_FALSE(left->link_up());
  EXPECT_THROW(open("server", ",id=2"), ConfigError);
}

TEST(Memif, WithTheWrongSecretThereIsNoLink) {
  const auto server = open("server", ",secret=right");
  {
    testing::internal::CaptureStderr();
    const auto client = open("client", ",secret=wrong");
    // The client asks again meanwhile; each user is told once.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(said, '\n'), 2) << said;
    EXPECT_FALSE(server->link_up() || client->link_up());
    EXPECT_THAT(said, HasSubstr("the peer says: another secret is wanted"));
    EXPECT_THAT(said, HasSubstr("the peer was told: another secret is wanted"));
  }
  const auto client = open("client", ",secret=right");
  await_link(*client);
}

/// The other end of a control channel, by hand.
class Channel {
 public:
  explicit Channel(int socket) : socket_(socket) {}
  ~Channel() { close(socket_); }
  Channel(const Channel&) = delete;

  /// To the server of this process.
  static int connected() {
    const int opened = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    const memif::Address server(fmt::format("stackcost-test-{}", getpid()), true);
    EXPECT_EQ(connect(opened, server.get(), server.length), 0);
    return opened;
  }

  static memif::Message message(memif::MessageType type) {
    memif::Message made{};
    made.type = type;
    return made;
  }
  static memif::Message init(uint32_t id = 0) {
    memif::Message made = message(memif::MessageType::init);
    made.init.version = memif::kVersion;
    made.init.id = id;
    return made;
  }

  void send(const memif::Message& message, size_t length = sizeof(memif::Message)) {
    EXPECT_EQ(::send(socket_, &message, length, 0), static_cast<ssize_t>(length));
  }
  memif::Message receive() {
    memif::Message message{};
    EXPECT_EQ(recv(socket_, &message, sizeof message, 0), static_cast<ssize_t>(sizeof message));
    return message;
  }
  /// The reason that the other end gives before it closes the channel.
  std::string reason() {
    const memif::Message last = receive();
    EXPECT_EQ(last.type, memif::MessageType::disconnect);
    char rest = 0;
    EXPECT_LE(recv(socket_, &rest, 1, 0), 0);
    return last.disconnect.reason;
  }

 private:
  const int socket_;
};

TEST(Memif, AServerTellsAClientWhatIsWrong) {
  using memif::MessageType;
  const auto server = open("server");
  const auto refused = [](auto talk) {
    Channel channel(Channel::connected());
    EXPECT_EQ(channel.receive().type, MessageType::hello);
    talk(channel);
    return channel.reason();
  };
  EXPECT_THAT(refused([](Channel& c) { c.send(Channel::init(), 10); }), HasSubstr("128 bytes"));
  EXPECT_THAT(refused([](Channel& c) {
                memif::Message init = Channel::init();
                init.init.version = 1;
                c.send(init);
              }),
              HasSubstr("version 2.0"));
  EXPECT_THAT(refused([](Channel& c) {
                memif::Message init = Channel::init();
                init.init.mode = 1;
                c.send(init);
              }),
              HasSubstr("Ethernet"));
  EXPECT_THAT(refused([](Channel& c) { c.send(Channel::init(77)); }), HasSubstr("has id 77"));
  for (const MessageType type : {MessageType::add_region, MessageType::connect, MessageType::ack,
                                 static_cast<MessageType>(999)})
    EXPECT_THAT(refused([&](Channel& c) { c.send(Channel::message(type)); }),
                HasSubstr("unexpected message"));
  const auto after_init = [&](MessageType type) {
    return refused([&](Channel& c) {
      c.send(Channel::init());
      EXPECT_EQ(c.receive().type, MessageType::ack);
      c.send(Channel::message(type));
    });
  };
  EXPECT_THAT(after_init(MessageType::add_region), HasSubstr("without its file"));
  EXPECT_THAT(after_init(MessageType::add_ring), HasSubstr("without its eventfd"));
  EXPECT_THAT(after_init(MessageType::connect), HasSubstr("1 rings each way"));
  EXPECT_FALSE(server->link_up());
  const auto client = open("client");
  await_link(*server);
  EXPECT_THAT(refused([](Channel& c) { c.send(Channel::init()); }), HasSubstr("a peer already"));
  await_link(*client);
}

TEST(Memif, AClientAsksAServerAgainThatWasWrong) {
  const memif::Address address(fmt::format("stackcost-test-{}", getpid()), true);
  const auto client = open("client");
  {
    const int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    ASSERT_EQ(bind(listener, address.get(), address.length), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    for (const bool rings : {false, true}) {
      Channel channel(accept(listener, nullptr, nullptr));
      memif::Message hello = Channel::message(memif::MessageType::hello);
      hello.hello.least_version = hello.hello.most_version = rings ? memif::kVersion : 1;
      hello.hello.last_ring_to_client = hello.hello.last_ring_to_server = 0;
      hello.hello.most_ring_bits = memif::kMostRingBits;
      channel.send(hello);
      if (!rings) {
        EXPECT_THAT(channel.reason(), HasSubstr("version 2.0"));
        continue;
      }
      EXPECT_EQ(channel.receive().type, memif::MessageType::init);
      channel.send(Channel::message(memif::MessageType::connected));
      EXPECT_THAT(channel.reason(), HasSubstr("unexpected message"));
    }
    close(listener);
  }
  EXPECT_FALSE(client->link_up());
  const auto server = open("server");
  await_link(*client);
}

TEST(Memif, EachDataCoreHasItsRings) {
  const auto server = open("server", "", 2);
  const auto client = open("client", "", 2);
  await_link(*client);
  await_link(*server);
  for (const uint32_t core : {0, 1}) {
    client->queue(core).receive();
    server->queue(core).receive();
  }
  send(client->queue(1), 5, kShortest);
  EXPECT_THAT(receive(server->queue(0), 0), testing::IsEmpty());
  EXPECT_THAT(receive(server->queue(1), 5), testing::ElementsAre(kShortest));
  EXPECT_NE(server->info().over_rings, "");
}

TEST(Memif, ASocketOfAKilledProgramIsInNobodysWay) {
  const std::string path = fmt::format("/tmp/stackcost-memif-{}", getpid());
  const std::string more = fmt::format(",socket={},socket-abstract=no", path);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path, path.data(), path.size());
  const int other = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  ASSERT_EQ(bind(other, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(other, 1), 0);
  EXPECT_THROW(open("server", more), ConfigError) << "somebody listens there";
  close(other);
  {
    const auto server = open("server", more);
    const auto client = open("client", more);
    await_link(*client);
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(Memif, AnArgumentThatIsNoneIsNamed) {
  const auto message = [](const std::string& more) -> std::string {
    try {
      open("client", more);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(message(",rsize=15"), HasSubstr("rsize=15: a number from 1 to 14"));
  EXPECT_THAT(message(",zero-copy=yes"), HasSubstr("what is zero-copy=yes?"));
  EXPECT_THAT(message(",role=peer"), HasSubstr("one of client, server"));
  EXPECT_THAT(message(",mac=1"), HasSubstr("what is mac=1?"));
  EXPECT_THAT(message(",socket=" + std::string(200, 'a')), HasSubstr("no name for a socket"));
}

TEST(Memif, FlowsOfARunAreWhole) {
  Engine machine(
      two_ports({"net_memif0," + arguments("server"), "net_memif1," + arguments("client")}));
  const Subjects engine = machine.subjects();
  eventually([&] { return engine.ports.state(0).link_up && engine.ports.state(1).link_up; });
  RunOptions check;
  check.payload_check.enabled = true;
  const auto run = engine.runs.start(small_http(200), check, ~0u);
  finish(*run);
  expect_all_flows_whole(engine, *run, 200);
  run->remove();
}

}  // namespace
}  // namespace engine
