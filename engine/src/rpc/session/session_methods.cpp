// Sessions: handshake, ownership, events.

#include <fmt/format.h>

#include <algorithm>

#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

// The API of TRex 3.08 in ASTF mode.
constexpr const char* kApiName = "ASTF";
constexpr int kApiMajor = 2;
constexpr int kApiMinor = 3;

Json handshake(const ControlState& state, const Json& params) {
  const auto mismatch = [](const std::string& ours, const std::string& theirs) {
    return refused(fmt::format(
        "RPC configuration mismatch - server RPC configuration: '{}', client RPC configuration: "
        "'{}'",
        ours, theirs));
  };
  const std::string name = params.at("name");
  if (name != kApiName) throw mismatch(kApiName, name);
  const int64_t major = params.at("major"), minor = params.at("minor");
  if (major != kApiMajor || minor > kApiMinor)
    throw mismatch(fmt::format("{} version {}.{}", kApiName, kApiMajor, kApiMinor),
                   fmt::format("{} version {}.{}", name, major, minor));
  return {{"api_h", state.api_handler}};
}

Json acquire(ControlState& state, const Json& params) {
  const int64_t session = params.at("session_id");
  const bool taken_over = state.ownership.taken();
  const int64_t previous = state.ownership.session();
  Json handlers = state.ownership.acquire(params.at("user"), session, params.at("force"));
  if (taken_over) {
    state.profiles.abandon_starts("another client took the context over");
    state.sessions.release(previous);
  }
  state.sessions.acquire(session, state.engine.clock.now());
  state.profiles.drop_uploads();
  state.topology.drop_pieces();
  return handlers;
}

Json release(ControlState& state) {
  state.profiles.abandon_starts("the context was released");
  state.sessions.release(state.ownership.session());
  state.ownership.release();
  return Json::object();
}

}  // namespace

void add_session_methods(MethodTable& methods, ControlState& state) {
  methods.add("api_sync_v2", Access::anyone,
              {{"name", string}, {"major", integer}, {"minor", integer}},
              [&state](const Json& params) { return handshake(state, params); });

  methods.add("acquire", Access::reader,
              {{"user", string}, {"session_id", integer}, {"force", boolean}},
              [&state](const Json& params) { return acquire(state, params); });

  methods.add("release", Access::owner, {}, [&state](const Json&) { return release(state); });

  methods.add("get_owner", Access::reader, {{"port_id", integer}}, [&state](const Json& params) {
    state.port_of(params);
    return Json{{"owner", state.ownership.user()}};
  });

  methods.add("publish_now", Access::reader, {}, [&state](const Json&) {
    state.sessions.ring();
    return Json::object();
  });

  methods.add(
      "get_async_events", Access::reader, {{"session_id", integer}}, [&state](const Json& params) {
        // What an answer holds beside the events is short.
        constexpr uint64_t kRest = 1'000;
        const uint64_t left = state.budgets.replies.left();
        return Json{{"data", state.sessions.take(params.at("session_id"), state.engine.clock.now(),
                                                 left - std::min(left, kRest))}};
      });
}

}  // namespace engine
