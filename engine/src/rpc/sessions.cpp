#include "rpc/sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "rpc/methods.h"
#include "rpc/rpc_error.h"

namespace engine {

std::string random_handler() {
  static std::random_device source;
  std::uniform_int_distribution<int> letter('a', 'z');
  std::string handler(8, ' ');
  for (char& c : handler) c = static_cast<char>(letter(source));
  return handler;
}

Json Ownership::acquire(const std::string& user, int64_t session, bool force) {
  if (taken() && !force)
    throw refused("context is already taken (use 'force' argument to override)");
  handler_ = random_handler();
  user_ = user;
  session_ = session;
  Json ports = Json::object();
  for (size_t port = 0; port < port_handlers_.size(); ++port)
    ports[std::to_string(port)] = port_handlers_[port] = random_handler();
  return {{"handler", handler_}, {"ports", std::move(ports)}};
}

void Ownership::release() {
  handler_.clear();
  user_.clear();
}

namespace {

/// ,"seq":18446744073709551615, at most.
constexpr uint64_t kNumberText = 32;
/// What an event takes beside its text: the objects it is made of.
constexpr uint64_t kBytesPerEvent = 1'000;

}  // namespace

RpcSubscribers::RpcSubscriber& RpcSubscribers::subscriber(int64_t id, double now) {
  if (const auto found = subscribers_.find(id); found != subscribers_.end()) return found->second;
  if (subscribers_.size() >= kMaxSubscribers) {
    const auto longest = [](const auto& a, const auto& b) {
      return std::pair(!a.second.reader, a.second.asked) <
             std::pair(!b.second.reader, b.second.asked);
    };
    subscribers_.erase(std::min_element(subscribers_.begin(), subscribers_.end(), longest));
  }
  return subscribers_.emplace(id, RpcSubscriber{.reader = true, .asked = now}).first->second;
}

void RpcSubscribers::acquire(int64_t id, double now) {
  subscriber(id, now).reader = false;
}

void RpcSubscribers::release(int64_t id) {
  if (const auto found = subscribers_.find(id); found != subscribers_.end())
    found->second.reader = true;
}

Json RpcSubscribers::take(int64_t id, double now, uint64_t most_bytes) {
  RpcSubscriber& asking = subscriber(id, now);
  asking.asked = now;
  Json events = Json::array();
  uint64_t text = 0;
  while (!asking.events.empty() && (text += asking.events.front()->text) <= most_bytes) {
    Json& event = events.emplace_back(asking.events.front()->event);
    event["seq"] = asking.next_sequence - asking.events.size();
    asking.events.pop_front();
  }
  return events;
}

void RpcSubscribers::publish(Event event, const Json& data, double now) {
  const auto gone = [now](const RpcSubscriber& subscriber) {
    return !subscriber.events.empty() && now - subscriber.asked > kPatience;
  };
  std::erase_if(subscribers_,
                [&](const auto& entry) { return entry.second.reader && gone(entry.second); });
  doorbell_ = true;
  Told told{.event = {{"name", "trex-event"}, {"type", static_cast<int>(event)}, {"data", data}},
            .text = kNumberText,
            .memory = Charge(memory_)};
  told.text += dump_json(told.event).size();
  if (!told.memory.grow(kBytesPerEvent + 2 * told.text)) return;
  const auto shared = std::make_shared<const Told>(std::move(told));
  for (auto& [id, subscriber] : subscribers_) {
    if (gone(subscriber) || subscriber.events.size() >= kMostEvents) continue;
    subscriber.events.push_back(shared);
    ++subscriber.next_sequence;
  }
}

bool RpcSubscribers::take_doorbell() {
  return std::exchange(doorbell_, false);
}

bool RpcSubscribers::all_delivered() const {
  return std::all_of(subscribers_.begin(), subscribers_.end(),
                     [](const auto& entry) { return entry.second.events.empty(); });
}

bool RpcSubscribers::owner_delivered() const {
  return std::all_of(subscribers_.begin(), subscribers_.end(), [](const auto& entry) {
    return entry.second.reader || entry.second.events.empty();
  });
}

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
    state.subscribers.release(previous);
  }
  state.subscribers.acquire(session, state.engine.clock.now());
  state.profiles.drop_uploads();
  state.topology.drop_pieces();
  state.tunnels.drop_pieces();
  return handlers;
}

Json release(ControlState& state) {
  state.profiles.abandon_starts("the context was released");
  state.subscribers.release(state.ownership.session());
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
    state.subscribers.ring();
    return Json::object();
  });

  methods.add(
      "get_async_events", Access::reader, {{"session_id", integer}}, [&state](const Json& params) {
        // What an answer holds beside the events is short.
        constexpr uint64_t kRest = 1'000;
        const uint64_t left = state.budgets.replies.left();
        return Json{
            {"data", state.subscribers.take(params.at("session_id"), state.engine.clock.now(),
                                            left - std::min(left, kRest))}};
      });
}

}  // namespace engine
