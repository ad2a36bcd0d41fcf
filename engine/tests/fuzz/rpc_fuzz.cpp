// Any bytes as a request: an answer, and the control plane serves on. Input is one message as sent,
// or, when it begins with '!', several divided by 0x1e that get the handles of the context's owner.
// script/fuzz builds and runs it.

#include <cstdlib>
#include <memory>
#include <string>

#include "rpc/control.h"
#include "rpc/engine_stand_in.h"

namespace {

using engine::Json;

constexpr char kManyMark = '!';
constexpr char kDivider = 0x1e;

class Fixture {
 public:
  Fixture() : engine_(config_), control_(engine_, config_) {
    api_ = call("api_sync_v2", {{"name", "ASTF"}, {"major", 2}, {"minor", 3}})["api_h"];
    handlers_ = call("acquire", {{"user", "u"}, {"session_id", 1}, {"force", false}});
  }

  void send(std::string_view bytes) {
    const std::string reply = control_.handle(bytes);
    if (reply.empty()) std::abort();
    engine::stand_in().now += 0.02;
    control_.advance();
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
  Json call(const std::string& method, Json params) {
    params["api_h"] = api_;
    const Json request = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    return Json::parse(control_.handle(request.dump()))["result"];
  }

  engine::EngineConfig config_;
  engine::Engine engine_;
  engine::Control control_;
  std::string api_;
  Json handlers_;
};

}  // namespace

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
    fixture.send_as_owner(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return 0;
}
