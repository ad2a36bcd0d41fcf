// Any bytes as a request: an answer, and the control plane serves on. Input is one message as sent,
// or, when it begins with '!', several divided by 0x1e that get the handles of the context's owner;
// one that begins with '~' is a frame that passes a port, as its next byte says which way.
// script/fuzz builds and runs it.

#include <netdb.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "rpc/control.h"
#include "rpc/engine_stand_in.h"

namespace {

using engine::Json;

constexpr char kManyMark = '!';
constexpr char kDivider = 0x1e;
constexpr char kFrameMark = '~';

class Fixture {
 public:
  Fixture() : control_(engine_.subjects(), config_) {
    api_ = call("api_sync_v2", {{"name", "ASTF"}, {"major", 2}, {"minor", 3}})["api_h"];
    handlers_ = call("acquire", {{"user", "u"}, {"session_id", 1}, {"force", false}});
  }

  /// Every message has been answered by now, once.
  ~Fixture() {
    control_.abandon("the end");
    if (unanswered_ != 0) std::abort();
  }

  void send(std::string_view bytes) {
    ++unanswered_;
    control_.handle(bytes, [this](const std::string& reply) {
      if (reply.empty()) std::abort();
      --unanswered_;
    });
    pass_time();
  }

  /// The lowest bits of the first byte: the port, and whether it sends the frame.
  void pass_frame(std::string_view bytes) {
    if (bytes.empty()) return;
    const auto how = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    engine_.pass({{how & 1u, (how & 2) != 0, {bytes.begin(), bytes.end()}}});
    pass_time();
  }

  /// Gives a request of the right form the handles it cannot guess.
  void send_as_owner(std::string_view text) {
    Json request = Json::parse(text, nullptr, false);
    if (!request.is_object() || !request["params"].is_object()) return send(text);
    Json& params = request["params"];
    params["api_h"] = api_;
    const Json port = params.value("port_id", Json());
    params["handler"] = port == 0   ? handlers_["ports"]["0"]
                        : port == 1 ? handlers_["ports"]["1"]
                                    : handlers_["handler"];
    send(engine::dump_json(request));
  }

 private:
  void pass_time() {
    engine_.now += 0.02;
    control_.advance();
  }

  Json call(const std::string& method, Json params) {
    params["api_h"] = api_;
    const Json request = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    Json answer;
    control_.handle(request.dump(), [&](const std::string& reply) { answer = Json::parse(reply); });
    return answer["result"];
  }

  engine::EngineConfig config_;
  engine::EngineStandIn engine_;
  engine::Control control_;
  std::string api_;
  Json handlers_;
  int unanswered_ = 0;
};

}  // namespace

// A capture's filter may name a host: nothing here asks the network for it.
extern "C" int getaddrinfo(const char*, const char*, const addrinfo*, addrinfo**) {
  return EAI_NONAME;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Fixture fixture;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty() || bytes.front() != kManyMark) {
    fixture.send(bytes);
    return 0;
  }
  bytes.remove_prefix(1);
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find(kDivider), bytes.size());
    const std::string_view message = bytes.substr(0, end);
    if (message.starts_with(kFrameMark))
      fixture.pass_frame(message.substr(1));
    else
      fixture.send_as_owner(message);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return 0;
}
