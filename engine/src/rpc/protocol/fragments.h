#pragma once
// A text that is too long for one request, and comes in pieces.

#include <cstddef>
#include <string>
#include <utility>

namespace engine {

class Fragments {
 public:
  /// `what`: as refusals call it. `limit`: bytes of the whole.
  Fragments(std::string what, size_t limit) : what_(std::move(what)), limit_(limit) {}

  /// The next piece is the first one.
  void begin();
  /// Throws RpcError when nothing was begun, or when the text becomes too long, which ends it.
  void add(const std::string& piece);
  /// The whole text. Nothing is in progress then.
  std::string take();
  /// Forgets what was not completed.
  void drop() { take(); }

 private:
  std::string what_;
  size_t limit_;
  std::string text_;
  bool begun_ = false;
};

}  // namespace engine
