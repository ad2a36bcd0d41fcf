#include "rpc/session/sessions.h"

#include <algorithm>
#include <utility>

namespace engine {

Sessions::Session& Sessions::session(int64_t id, double now) {
  if (const auto found = sessions_.find(id); found != sessions_.end()) return found->second;
  if (sessions_.size() >= kMaxSessions) {
    const auto longest = [](const auto& a, const auto& b) {
      return std::pair(!a.second.reader, a.second.asked) <
             std::pair(!b.second.reader, b.second.asked);
    };
    sessions_.erase(std::min_element(sessions_.begin(), sessions_.end(), longest));
  }
  return sessions_.emplace(id, Session{.reader = true, .asked = now}).first->second;
}

void Sessions::acquire(int64_t id, double now) {
  session(id, now).reader = false;
}

void Sessions::release(int64_t id) {
  if (const auto found = sessions_.find(id); found != sessions_.end()) found->second.reader = true;
}

Json Sessions::take(int64_t id, double now) {
  Session& asking = session(id, now);
  asking.asked = now;
  return std::exchange(asking.events, Json::array());
}

void Sessions::publish(Event event, const Json& data, double now) {
  const auto gone = [now](const Session& session) {
    return !session.events.empty() && now - session.asked > kPatience;
  };
  std::erase_if(sessions_,
                [&](const auto& entry) { return entry.second.reader && gone(entry.second); });
  for (auto& [id, session] : sessions_) {
    if (gone(session)) continue;
    session.events.push_back({{"name", "trex-event"},
                              {"type", static_cast<int>(event)},
                              {"data", data},
                              {"seq", session.next_sequence++}});
  }
  doorbell_ = true;
}

bool Sessions::take_doorbell() {
  return std::exchange(doorbell_, false);
}

bool Sessions::all_delivered() const {
  return std::all_of(sessions_.begin(), sessions_.end(),
                     [](const auto& entry) { return entry.second.events.empty(); });
}

bool Sessions::owner_delivered() const {
  return std::all_of(sessions_.begin(), sessions_.end(), [](const auto& entry) {
    return entry.second.reader || entry.second.events.empty();
  });
}

}  // namespace engine
