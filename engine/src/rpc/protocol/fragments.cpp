#include "rpc/protocol/fragments.h"

#include <fmt/format.h>

#include <utility>

#include "rpc/protocol/rpc_error.h"

namespace engine {

void Fragments::begin() {
  drop();
  begun_ = true;
}

void Fragments::add(const std::string& piece) {
  if (!begun_) throw refused("No upload in progress: the first piece needs 'frag_first'");
  const size_t length = text_.size() + piece.size();
  if (length > limit_) {
    drop();
    throw refused(fmt::format("{} is too large: at most {} bytes", what_, limit_));
  }
  if (!memory_.set(length)) {
    const std::string refusal =
        memory_.budget().refusal(piece.size(), "the next piece of an upload");
    drop();
    throw refused(refusal);
  }
  text_ += piece;
}

std::string Fragments::take() {
  begun_ = false;
  memory_.set(0);
  return std::exchange(text_, {});
}

}  // namespace engine
