#include "rpc/server.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <zmq.hpp>
#include <zmq_addon.hpp>

#include "rpc/control.h"
#include "rpc/json_rpc.h"

namespace engine {

namespace {

/// A longer message is not received at all: it ends its connection.
constexpr int64_t kMaxMessageBytes = kRequestLimit - 1;
/// Messages that wait for each client, either way: a client of TRex asks, and waits for the answer.
constexpr int kWaitingMessages = 1;
constexpr std::string_view kDoorbell = "{}";
constexpr const char* kStops = "the server stops";  // what those are told that still wait
/// How long clients have to collect the news that the server stops.
constexpr std::chrono::milliseconds kFarewell{300};

void bind_socket(zmq::socket_t& socket, const std::string& address, uint16_t port,
                 const char* purpose, const char* option) {
  socket.set(zmq::sockopt::linger, 0);
  const std::string endpoint = fmt::format("tcp://{}:{}", address, port);
  try {
    socket.bind(endpoint);
  } catch (const zmq::error_t& error) {
    const std::string hint =
        error.num() == EADDRINUSE
            ? fmt::format(
                  "end the program that uses it (ss -ltnp 'sport = :{}' names it) or "
                  "choose another port with {}",
                  port, option)
            : fmt::format("choose an address of this machine with --bind, and a port with {}",
                          option);
    throw ConfigError(
        fmt::format("cannot listen for {} on {}: {}; {}", purpose, endpoint, error.what(), hint));
  }
}

}  // namespace

struct RpcServer::Implementation {
  Implementation(const Subjects& engine, const EngineConfig& config)
      : control(engine, config), requests(context, ZMQ_ROUTER), doorbell(context, ZMQ_PUB) {
    requests.set(zmq::sockopt::maxmsgsize, kMaxMessageBytes);
    requests.set(zmq::sockopt::rcvhwm, kWaitingMessages);
    requests.set(zmq::sockopt::sndhwm, kWaitingMessages);
    bind_socket(requests, config.bind, config.rpc_port, "RPC requests", "--rpc-port");
    bind_socket(doorbell, config.bind, config.async_port, "event subscribers", "--async-port");
  }

  /// Waits up to `patience` seconds for one request and answers it.
  void serve(double patience) {
    zmq::pollitem_t item{requests.handle(), 0, ZMQ_POLLIN, 0};
    try {
      if (zmq::poll(&item, 1, std::chrono::milliseconds(static_cast<int64_t>(patience * 1000))) > 0)
        answer();
    } catch (const zmq::error_t& error) {
      if (error.num() != EINTR) throw;  // a signal: the caller looks why
    }
  }

  /// Wakes all subscribers when there are events for them.
  void ring() {
    if (control.state().subscribers.take_doorbell())
      doorbell.send(zmq::buffer(kDoorbell), zmq::send_flags::dontwait);
  }

  /// A client may have its answer later than one that asked after it (RFC 28 of ZeroMQ: what
  /// stands before a request, up to an empty part, is whom the answer is for).
  void answer() {
    zmq::multipart_t parts(requests);
    auto client = std::make_shared<std::vector<std::string>>();
    do {
      if (parts.empty()) return;  // of no client that waits for an answer
      client->push_back(parts.popstr());
    } while (!client->back().empty());
    const bool whole = parts.size() == 1;  // nobody sends requests in parts
    control.handle(whole ? parts[0].to_string_view() : "",
                   [this, client](const std::string& reply) { send(*client, reply); });
  }

  /// A client without its answer would wait for ever, so a signal does not cut it. Of one that is
  /// gone the socket drops it.
  void send(const std::vector<std::string>& client, const std::string& reply) {
    for (const std::string& part : client) send_part(part, zmq::send_flags::sndmore);
    send_part(reply, zmq::send_flags::none);
  }

  void send_part(const std::string& part, zmq::send_flags flags) {
    for (;;) {
      try {
        requests.send(zmq::buffer(part), flags);
        return;
      } catch (const zmq::error_t& error) {
        if (error.num() != EINTR) throw;
      }
    }
  }

  void say_farewell() {
    RpcSubscribers& subscribers = control.state().subscribers;
    control.abandon(kStops);
    subscribers.publish(Event::server_stopped, {{"cause", "server shutdown"}},
                        control.state().engine.clock.now());
    const auto deadline = std::chrono::steady_clock::now() + kFarewell;
    do {
      ring();
      serve(0.01);
      control.abandon(kStops);
    } while (!subscribers.all_delivered() && std::chrono::steady_clock::now() < deadline);
  }

  Control control;
  zmq::context_t context{1};
  zmq::socket_t requests;
  zmq::socket_t doorbell;
};

RpcServer::RpcServer(const Subjects& engine, const EngineConfig& config)
    : implementation_(std::make_unique<Implementation>(engine, config)) {}

RpcServer::~RpcServer() = default;

void RpcServer::run(const std::atomic<bool>& stop) {
  Control& control = implementation_->control;
  double patience = 0;
  while (!stop && !control.state().shutdown) {
    implementation_->serve(patience);
    patience = control.advance();
    implementation_->ring();
  }
  implementation_->say_farewell();
}

}  // namespace engine
