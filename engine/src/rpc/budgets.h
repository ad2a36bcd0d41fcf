#pragma once
// How much memory clients may have the server take, for which purposes. docs/rpc-extensions.md
// tells of them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace engine {

/// So many bytes for one purpose. What would exceed it is refused by its name.
class ByteBudget {
 public:
  /// `remedy`: what a client that is refused can do.
  ByteBudget(std::string name, uint64_t limit, std::string remedy);

  const std::string& name() const { return name_; }
  uint64_t left() const { return limit_ - taken_; }
  /// Throws RpcError unless so many bytes are left for `what`.
  void require(uint64_t bytes, const std::string& what) const;
  /// What a client is told: which budget, how much was asked, how much is left, what to do.
  std::string refusal(uint64_t bytes, const std::string& what) const;

 private:
  friend class Charge;

  const std::string name_;
  const uint64_t limit_;
  const std::string remedy_;
  uint64_t taken_ = 0;
};

/// What one holder has taken from a budget. It is given back when the holder goes. The budget
/// outlives it.
class Charge {
 public:
  explicit Charge(ByteBudget& budget) : budget_(&budget) {}
  Charge(Charge&& other) noexcept;
  Charge& operator=(Charge&& other) noexcept;
  ~Charge() { shrink(bytes_); }

  /// Takes so many bytes more. False: they are not left, nothing is taken.
  bool grow(uint64_t bytes);
  /// The same; throws RpcError when they are not left for `what`.
  void grow(uint64_t bytes, const std::string& what);
  /// Has taken exactly so much from now on. False: that is not left, nothing changes.
  bool set(uint64_t bytes);
  /// Gives back so many of its bytes.
  void shrink(uint64_t bytes);

  uint64_t bytes() const { return bytes_; }
  ByteBudget& budget() const { return *budget_; }

 private:
  ByteBudget* budget_;
  uint64_t bytes_ = 0;
};

/// Any client may spend of these, the owner of the context or not.
struct Budgets {
  static constexpr uint64_t kReplies = uint64_t{64} << 20;
  static constexpr uint64_t kCaptures = uint64_t{256} << 20;
  static constexpr uint64_t kProfiles = uint64_t{512} << 20;
  /// Half of the machine's memory: a run of many templates may need more than any fixed bound.
  static uint64_t most_of_runs();

  /// The answers to one message, as text.
  ByteBudget replies{"replies", kReplies,
                     "ask for less at a time, and send large requests one by one, in no batch"};
  /// Frames that captures and queues keep until they are fetched.
  ByteBudget captures{"captures", kCaptures,
                      "fetch or remove what is captured, or capture fewer or shorter frames "
                      "('limit', 'snaplen')"};
  /// Profiles and topologies, as text and parsed, uploads that are not complete among them.
  ByteBudget profiles{"profiles", kProfiles,
                      "clear profiles that are not needed (profile_clear), or upload less"};
  /// What runs measure, on each data core, and what is kept of each profile's last one.
  ByteBudget runs{"runs", most_of_runs(),
                  "clear profiles that are not needed (profile_clear), or start one of fewer "
                  "templates or on fewer data cores (-c)"};
};

/// A text that is too long for one request, and comes in pieces.
class Fragments {
 public:
  /// `what`: as refusals call it. `limit`: bytes of the whole, which `budget` pays for.
  Fragments(std::string what, size_t limit, ByteBudget& budget)
      : what_(std::move(what)), limit_(limit), memory_(budget) {}

  /// The next piece is the first one.
  void begin();
  /// Throws RpcError when nothing was begun, or when the text becomes too long, which ends it.
  void add(const std::string& piece);
  /// The whole text, which is the caller's to pay for. Nothing is in progress then.
  std::string take();
  /// Forgets what was not completed.
  void drop() { take(); }

 private:
  std::string what_;
  size_t limit_;
  Charge memory_;
  std::string text_;
  bool begun_ = false;
};

}  // namespace engine
