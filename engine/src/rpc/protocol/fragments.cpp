#include "rpc/protocol/fragments.h"

#include <fmt/format.h>

#include <utility>

#include "rpc/protocol/rpc_error.h"

namespace engine {

void Fragments::begin() {
  text_.clear();
  begun_ = true;
}

void Fragments::add(const std::string& piece) {
  if (!begun_) throw refused("No upload in progress: the first piece needs 'frag_first'");
  if (text_.size() + piece.size() > limit_) {
    drop();
    throw refused(fmt::format("{} is too large: at most {} bytes", what_, limit_));
  }
  text_ += piece;
}

std::string Fragments::take() {
  begun_ = false;
  return std::exchange(text_, {});
}

}  // namespace engine
