#pragma once
// How much memory clients may have the server take for one purpose.

#include <cstdint>
#include <string>

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

}  // namespace engine
