#pragma once
// A text that is too long for one request, and comes in pieces.

#include <cstddef>
#include <string>
#include <utility>

#include "rpc/memory/byte_budget.h"

namespace engine {

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
