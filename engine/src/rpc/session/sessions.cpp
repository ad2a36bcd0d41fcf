#include "rpc/session/sessions.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

/// ,"seq":18446744073709551615, at most.
constexpr uint64_t kNumberText = 32;
/// What an event takes beside its text: the objects it is made of.
constexpr uint64_t kBytesPerEvent = 1'000;

}  // namespace

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

Json Sessions::take(int64_t id, double now, uint64_t most_bytes) {
  Session& asking = session(id, now);
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

void Sessions::publish(Event event, const Json& data, double now) {
  const auto gone = [now](const Session& session) {
    return !session.events.empty() && now - session.asked > kPatience;
  };
  std::erase_if(sessions_,
                [&](const auto& entry) { return entry.second.reader && gone(entry.second); });
  doorbell_ = true;
  Told told{.event = {{"name", "trex-event"}, {"type", static_cast<int>(event)}, {"data", data}},
            .text = kNumberText,
            .memory = Charge(memory_)};
  told.text += dump_json(told.event).size();
  if (!told.memory.grow(kBytesPerEvent + 2 * told.text)) return;
  const auto shared = std::make_shared<const Told>(std::move(told));
  for (auto& [id, session] : sessions_) {
    if (gone(session) || session.events.size() >= kMostEvents) continue;
    session.events.push_back(shared);
    ++session.next_sequence;
  }
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
