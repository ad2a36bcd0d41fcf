// A data core over packet sockets against this machine's own TCP, in a network namespace of the
// test's: what a shortage of frame buffers does to connections that are open.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "astf/run.h"
#include "io/engine_tools.h"
#include "io/packet_socket.h"

namespace engine {
namespace {

using enum Counter;

constexpr int kConnections = 20;
constexpr uint32_t kPauseUs = 300'000;  ///< of the engine before its response
constexpr size_t kResponse = 32'000;
constexpr Nanoseconds kLimit = 20 * kSecond;

Nanoseconds now() {
  static const auto epoch = std::chrono::steady_clock::now();
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - epoch).count();
}

void command(const std::string& line) {
  EXPECT_EQ(std::system(line.c_str()), 0) << line;
}

/// What stands between a transmit queue and its port.
class Shortage final : TransmitDevice {
 public:
  enum class Mode { none, loses_frames, has_no_buffer };

  explicit Shortage(TransmitQueue& queue) : queue_(queue), port_(queue.redirect(*this)) {}

  void set(Mode mode) {
    mode_ = mode;
    if (mode != Mode::has_no_buffer) return;
    while (queue_.next() != nullptr) queue_.commit();
    queue_.flush();
  }

 private:
  void send(std::span<Frame> frames) override {
    if (mode_ == Mode::none) port_.send(frames);
    if (mode_ != Mode::has_no_buffer) return;
    for (Frame& frame : frames) taken_.push_back(std::exchange(frame.head, nullptr));
  }
  void refill(Frame& slot) override {
    if (mode_ == Mode::has_no_buffer) return;
    if (taken_.empty()) return port_.refill(slot);
    slot.head = taken_.back();
    taken_.pop_back();
  }

  TransmitQueue& queue_;
  TransmitDevice& port_;
  std::vector<uint8_t*> taken_;
  Mode mode_ = Mode::none;
};

/// The engine as a server at 48.0.0.1 on one end of a veth pair, whose other end is the kernel's.
class Server {
 public:
  Server() {
    command("ip link add engine0 type veth peer name kernel0");
    command("ip address add 16.0.0.1/8 dev kernel0");
    command("ip link set engine0 up");
    command("ip link set kernel0 up");
    command("ip route add 48.0.0.0/8 dev kernel0");
    port_ = open_packet_socket_port("engine0", 1);
    char address[18];
    const MacAddress& mac = port_->mac();
    std::snprintf(address, sizeof address, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
                  mac[3], mac[4], mac[5]);
    command(std::string("ip neighbor add 48.0.0.1 dev kernel0 lladdr ") + address);
    queue_ = &port_->queue(0);
    queue_->set_filter(mac, false);
    CoreConfig config;
    config.max_flows = 64;
    for (PortAddress& own : config.ports) own.mac = mac;
    core_ = std::make_unique<DataCore>(
        config, std::array<TransmitQueue*, kSides>{&queue_->transmit(), &queue_->transmit()});
    RunOptions options;
    options.opens_flows = false;
    auto run = core_->prepare(small_http(1, 80, false, kPauseUs), options);
    run_ = run.get();
    core_->attach(run, now());
  }

  TransmitQueue& transmit() { return queue_->transmit(); }
  uint64_t count(Counter counter) const { return run_->counters(Side::server)[0][counter]; }
  /// Lets the engine work until `happened`. The time is a limit, not a measure.
  void work_until(const std::function<bool()>& happened) {
    const Nanoseconds limit = now() + kLimit;
    while (!happened() && now() < limit) {
      core_->receive(Side::server, queue_->receive(), now());
      queue_->release();
      core_->advance(now());
      queue_->transmit().flush();
      std::this_thread::yield();
    }
  }

 private:
  std::unique_ptr<Port> port_;
  PortQueue* queue_ = nullptr;
  std::unique_ptr<DataCore> core_;
  ProfileRun* run_ = nullptr;
};

/// A connection of the kernel's TCP that sends a request as soon as it can.
class Client {
 public:
  Client() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(80);
    inet_pton(AF_INET, "48.0.0.1", &server.sin_addr);
    connect(socket_, reinterpret_cast<const sockaddr*>(&server), sizeof server);
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// The request has been sent and acknowledged: the kernel has nothing to say any more.
  bool is_silent() {
    if (!asked_) asked_ = send(socket_, "GET", 3, MSG_NOSIGNAL) == 3;
    tcp_info info{};
    socklen_t length = sizeof info;
    getsockopt(socket_, IPPROTO_TCP, TCP_INFO, &info, &length);
    return asked_ && info.tcpi_unacked == 0;
  }
  /// The whole response and the end have come.
  bool is_whole() {
    uint8_t bytes[4096];
    ssize_t length;
    while ((length = recv(socket_, bytes, sizeof bytes, 0)) > 0)
      received_ += static_cast<size_t>(length);
    ended_ = ended_ || length == 0;
    return ended_ && received_ == kResponse;
  }

 private:
  int socket_;
  bool asked_ = false;
  bool ended_ = false;
  size_t received_ = 0;
};

void expect_responses_after_a_shortage() {
  Server server;
  Shortage shortage(server.transmit());
  std::vector<Client> clients(kConnections);
  const auto all = [&clients](bool (Client::*is)()) {
    bool each = true;
    for (Client& client : clients) each &= (client.*is)();
    return each;
  };
  server.work_until([&] { return all(&Client::is_silent); });
  ASSERT_TRUE(all(&Client::is_silent));
  ASSERT_EQ(server.count(tcps_sndpack), 0u) << "the responses are due later";

  shortage.set(Shortage::Mode::loses_frames);
  server.work_until([&] { return server.count(tcps_sndpack) >= 10 * kConnections; });
  shortage.set(Shortage::Mode::has_no_buffer);
  // Twice the shortest retransmission timeout, after the tail loss probes.
  const Nanoseconds since = now();
  server.work_until([&] { return now() - since > kSecond; });
  EXPECT_GE(server.count(tcps_nombuf), uint64_t{kConnections});
  EXPECT_EQ(server.count(tcps_sndrexmitpack), 0u);
  EXPECT_EQ(server.count(tcps_drops), 0u);

  shortage.set(Shortage::Mode::none);
  server.work_until([&] { return all(&Client::is_whole); });
  int whole = 0;
  for (Client& client : clients) whole += client.is_whole();
  EXPECT_EQ(whole, kConnections);
}

/// The kernel has nothing to send or to send again, so that only the engine's timers can go on.
TEST(LinuxPeer, GetsEveryResponseWhoseRetransmissionFoundNoBuffer) {
  bool possible = true;
  std::thread([&possible] {
    possible = unshare(CLONE_NEWNET) == 0;
    if (possible) expect_responses_after_a_shortage();
  }).join();
  if (!possible) GTEST_SKIP() << "no network namespace to be had: run as root";
}

}  // namespace
}  // namespace engine
