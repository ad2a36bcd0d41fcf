#include "rpc/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <zmq.hpp>

#include "rpc/engine_stand_in.h"
#include "rpc/json_rpc.h"

namespace engine {
namespace {

using ::testing::HasSubstr;

/// A TCP port that was free a moment ago.
uint16_t free_port() {
  zmq::context_t context;
  zmq::socket_t socket(context, ZMQ_REP);
  socket.bind("tcp://127.0.0.1:*");
  const std::string endpoint = socket.get(zmq::sockopt::last_endpoint);
  return static_cast<uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
}

class RpcServerTest : public ::testing::Test {
 protected:
  RpcServerTest() {
    config_.rpc_port = free_port();
    config_.async_port = free_port();
  }

  EngineConfig config_;
  EngineStandIn engine_;
};

TEST_F(RpcServerTest, NamesAPortInUseAndItsRemedy) {
  RpcServer first(engine_.subjects(), config_);
  try {
    RpcServer second(engine_.subjects(), config_);
    FAIL() << "bound twice";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(config_.rpc_port)));
    EXPECT_THAT(error.what(), HasSubstr("end the program that uses it"));
    EXPECT_THAT(error.what(), HasSubstr("--rpc-port"));
  }
}

TEST_F(RpcServerTest, NamesAnAddressThatIsNotOurs) {
  config_.bind = "192.0.2.1";
  try {
    RpcServer server(engine_.subjects(), config_);
    FAIL() << "bound";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--bind"));
  }
}

TEST_F(RpcServerTest, MessagesOfAClientThatDoesNotWaitStayWithTheClient) {
  RpcServer busy(engine_.subjects(), config_);  // it does not run, and takes no request
  zmq::context_t context;
  zmq::socket_t hasty(context, ZMQ_DEALER);
  hasty.set(zmq::sockopt::linger, 0);
  hasty.set(zmq::sockopt::sndhwm, 1);
  hasty.set(zmq::sockopt::sndtimeo, 500);
  hasty.connect("tcp://127.0.0.1:" + std::to_string(config_.rpc_port));
  const std::string message(kRequestLimit - 1, 'x');
  int sent = 0;
  while (sent < 100 && hasty.send(zmq::str_buffer(""), zmq::send_flags::sndmore) &&
         hasty.send(zmq::buffer(message), zmq::send_flags::none))
    ++sent;
  EXPECT_LT(sent, 50);  // some are in the kernel's buffers
}

class RunningServerTest : public RpcServerTest {
 protected:
  RunningServerTest() : server_(engine_.subjects(), config_) {
    thread_ = std::thread([this] { server_.run(stop_); });
    requests_.connect("tcp://127.0.0.1:" + std::to_string(config_.rpc_port));
    requests_.set(zmq::sockopt::rcvtimeo, 5000);
    requests_.set(zmq::sockopt::linger, 0);
  }
  ~RunningServerTest() override {
    stop_ = true;
    thread_.join();
  }

  Json receive() {
    zmq::message_t reply;
    if (!requests_.recv(reply)) return "no reply";
    return Json::parse(reply.to_string_view());
  }
  Json ask(const std::string& bytes) {
    requests_.send(zmq::buffer(bytes), zmq::send_flags::none);
    return receive();
  }

  static constexpr const char* kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";

  RpcServer server_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
  zmq::context_t context_;
  zmq::socket_t requests_{context_, ZMQ_REQ};
};

TEST_F(RunningServerTest, ServesOnAfterWhatItCannotRead) {
  EXPECT_EQ(ask("")["error"]["code"], -32700);
  EXPECT_EQ(ask(std::string(1000, '\0'))["error"]["code"], -32700);
  EXPECT_EQ(ask(std::string(kRequestLimit - 1, 'x'))["error"]["code"], -32700);
  requests_.send(zmq::buffer(std::string_view(kPing)), zmq::send_flags::sndmore);
  requests_.send(zmq::buffer(std::string_view("more")), zmq::send_flags::none);
  EXPECT_EQ(receive()["error"]["code"], -32700);
  EXPECT_TRUE(ask(kPing).contains("result"));
}

TEST_F(RunningServerTest, AMessageThatWouldBeRefusedForItsLengthEndsItsConnection) {
  zmq::socket_t flood(context_, ZMQ_REQ);
  flood.set(zmq::sockopt::linger, 0);
  ASSERT_EQ(zmq_socket_monitor(flood.handle(), "inproc://ended", ZMQ_EVENT_DISCONNECTED), 0);
  zmq::socket_t ended(context_, ZMQ_PAIR);
  ended.set(zmq::sockopt::rcvtimeo, 20'000);
  ended.set(zmq::sockopt::linger, 0);
  ended.connect("inproc://ended");
  flood.connect("tcp://127.0.0.1:" + std::to_string(config_.rpc_port));
  flood.send(zmq::buffer(std::string(kRequestLimit, 'x')), zmq::send_flags::none);
  zmq::message_t event;
  EXPECT_TRUE(ended.recv(event).has_value()) << "received, to be refused";
  zmq_socket_monitor(flood.handle(), nullptr, 0);
  EXPECT_TRUE(ask(kPing).contains("result"));
}

TEST_F(RunningServerTest, ServesOnAfterAClientThatDoesNotWait) {
  for (int i = 0; i < 20; ++i) {
    zmq::socket_t hasty(context_, ZMQ_REQ);
    hasty.set(zmq::sockopt::linger, 100);
    hasty.connect("tcp://127.0.0.1:" + std::to_string(config_.rpc_port));
    hasty.send(zmq::buffer(std::string_view(kPing)), zmq::send_flags::none);
  }
  EXPECT_TRUE(ask(kPing).contains("result"));
}

/// Its clock stands still, so that who waits for a gateway waits until the test is over.
class WaitingServerTest : public RpcServerTest {
 protected:
  WaitingServerTest() {
    engine_.ports[0].resolved = false;
    engine_.ports[0].address.gateway = 0x01010101;
    server_ = std::make_unique<RpcServer>(engine_.subjects(), config_);
    thread_ = std::thread([this] { server_->run(stop_); });
  }
  ~WaitingServerTest() override { end(); }

  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  zmq::socket_t client() {
    zmq::socket_t socket(context_, ZMQ_REQ);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::rcvtimeo, 20'000);
    socket.connect("tcp://127.0.0.1:" + std::to_string(config_.rpc_port));
    return socket;
  }
  static void send(zmq::socket_t& client, const std::string& method, const Json& params) {
    const Json request = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    client.send(zmq::buffer(request.dump()), zmq::send_flags::none);
  }
  static Json receive(zmq::socket_t& client) {
    zmq::message_t reply;
    if (!client.recv(reply)) return "no reply";
    return Json::parse(reply.to_string_view());
  }
  static Json ask(zmq::socket_t& client, const std::string& method, const Json& params) {
    send(client, method, params);
    return receive(client);
  }
  /// Has `client` ask for what waits for the gateway.
  void start_latency(zmq::socket_t& client) {
    const Json api =
        ask(client, "api_sync_v2", {{"name", "ASTF"}, {"major", 2}, {"minor", 3}})["result"];
    const Json owner =
        ask(client, "acquire",
            {{"api_h", api["api_h"]}, {"user", "u"}, {"session_id", 1}, {"force", false}});
    send(client, "start_latency",
         {{"api_h", api["api_h"]},
          {"handler", owner["result"]["handler"]},
          {"mult", 1},
          {"src_addr", "16.0.0.1"},
          {"dst_addr", "48.0.0.1"},
          {"dual_port_addr", "1.0.0.0"},
          {"mask", 1}});
  }

  std::atomic<bool> stop_ = false;
  std::unique_ptr<RpcServer> server_;
  std::thread thread_;
  zmq::context_t context_;
};

TEST_F(WaitingServerTest, AnswersOneClientWhileAnotherWaits) {
  zmq::socket_t first = client();
  zmq::socket_t second = client();
  start_latency(first);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(ask(second, "ping", {}).contains("result"));
  zmq::pollitem_t item{first.handle(), 0, ZMQ_POLLIN, 0};
  EXPECT_EQ(zmq::poll(&item, 1, std::chrono::milliseconds(0)), 0) << "answered already";
  end();
  EXPECT_EQ(receive(first)["error"]["specific_err"], "the server stops");
}

TEST_F(WaitingServerTest, AClientThatLeavesWhileItWaitsIsMissedByNobody) {
  {
    zmq::socket_t gone = client();
    start_latency(gone);
  }
  zmq::socket_t second = client();
  EXPECT_TRUE(ask(second, "ping", {}).contains("result"));
  end();
}

TEST_F(RunningServerTest, AMessageThatSaysNotWhomToAnswerIsPassedOver) {
  zmq::socket_t bare(context_, ZMQ_DEALER);
  bare.set(zmq::sockopt::linger, 0);
  bare.connect("tcp://127.0.0.1:" + std::to_string(config_.rpc_port));
  bare.send(zmq::buffer(std::string_view(kPing)), zmq::send_flags::none);
  EXPECT_TRUE(ask(kPing).contains("result"));
}

TEST_F(RunningServerTest, RingsTheDoorbell) {
  zmq::socket_t doorbell(context_, ZMQ_SUB);
  doorbell.set(zmq::sockopt::subscribe, "");
  doorbell.set(zmq::sockopt::rcvtimeo, 20);
  doorbell.connect("tcp://127.0.0.1:" + std::to_string(config_.async_port));
  const std::string api =
      ask(R"({"jsonrpc":"2.0","id":1,"method":"api_sync_v2",)"
          R"("params":{"name":"ASTF","major":2,"minor":3}})")["result"]["api_h"];
  zmq::message_t ring;
  bool heard = false;
  for (int attempt = 0; attempt < 100 && !heard; ++attempt) {  // until the subscription is there
    ask(R"({"jsonrpc":"2.0","id":1,"method":"publish_now","params":{"api_h":")" + api + "\"}}");
    heard = doorbell.recv(ring).has_value();
  }
  ASSERT_TRUE(heard);
  EXPECT_EQ(ring.to_string_view(), "{}");
}

TEST_F(RunningServerTest, EndsWhenAskedTo) {
  const std::string api =
      ask(R"({"jsonrpc":"2.0","id":1,"method":"api_sync_v2",)"
          R"("params":{"name":"ASTF","major":2,"minor":3}})")["result"]["api_h"];
  EXPECT_TRUE(ask(R"({"jsonrpc":"2.0","id":1,"method":"shutdown","params":{"force":false,)"
                  R"("user":"u","api_h":")" +
                  api + "\"}}")
                  .contains("result"));
  thread_.join();  // without stop_
  thread_ = std::thread([] {});
}

}  // namespace
}  // namespace engine
