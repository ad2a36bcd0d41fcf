#pragma once
// Who asks: who owns the context, and what is told to whom.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "json/json_text.h"
#include "rpc/budgets.h"

namespace engine {

/// Eight random letters.
std::string random_handler();

class Ownership {
 public:
  explicit Ownership(size_t ports) : port_handlers_(ports) {}

  /// Takes the context. Throws RpcError when it is taken and not `force`. Returns the answer of
  /// `acquire`: the context's handler and one per port.
  Json acquire(const std::string& user, int64_t session, bool force);
  void release();

  bool taken() const { return !handler_.empty(); }
  bool owns(const std::string& handler) const { return taken() && handler == handler_; }
  /// By the port's handler, or by the context's.
  bool owns_port(const std::string& handler, uint32_t port) const {
    return owns(handler) || (taken() && handler == port_handlers_[port]);
  }
  /// Empty when nobody owns the context.
  const std::string& user() const { return user_; }
  int64_t session() const { return session_; }

 private:
  std::string handler_;
  std::string user_;
  int64_t session_ = 0;
  std::vector<std::string> port_handlers_;
};

/// Event ids that ASTF clients know (TRex publisher).
enum class Event : int {
  port_attributes = 8,
  state = 50,
  profile_state = 60,
  profile_cleared = 61,
  server_stopped = 100,
};

/// The queues of events of all sessions. One is kept while it owns the context; a reader only while
/// it keeps asking. Sequence numbers have no gaps: a client that sees one ends its own process.
class RpcSubscribers {
 public:
  /// A session that does not ask for this long gets no more events (seconds).
  static constexpr double kPatience = 10;
  /// Beyond this the reader that has not asked for the longest time is forgotten.
  static constexpr size_t kMaxSubscribers = 1'000;
  /// A session that has so many to ask for gets no more until it does.
  static constexpr size_t kMostEvents = 10'000;
  /// What all events together may take. What is published beyond it reaches nobody.
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20;

  /// From now on events are kept for `session`.
  void acquire(int64_t session, double now);
  /// The session lives on as a reader.
  void release(int64_t session);

  /// The events since the last call, oldest first, as many as `most_bytes` of text have room for;
  /// the others are there for the next call. An unknown session becomes a reader.
  Json take(int64_t session, double now, uint64_t most_bytes = UINT64_MAX);

  void publish(Event event, const Json& data, double now);

  /// Whether anything was published, or a client asked to be woken, since the last call.
  bool take_doorbell();
  void ring() { doorbell_ = true; }

  /// No session has events left to ask for.
  bool all_delivered() const;
  /// The owner's session has none left; true when there is no owner.
  bool owner_delivered() const;

 private:
  /// What all sessions are told in the same words.
  struct Told {
    Json event;  ///< without its number
    uint64_t text;
    Charge memory;
  };
  struct RpcSubscriber {
    bool reader;
    double asked;  ///< when, last
    uint64_t next_sequence = 0;
    std::deque<std::shared_ptr<const Told>> events = {};  ///< the last one before next_sequence
  };

  RpcSubscriber& subscriber(int64_t id, double now);

  ByteBudget memory_{"events", kMostBytes, "ask for events (get_async_events)"};
  std::map<int64_t, RpcSubscriber> subscribers_;
  bool doorbell_ = false;
};

}  // namespace engine
