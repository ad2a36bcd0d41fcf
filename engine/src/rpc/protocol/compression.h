#pragma once
// TRex's compressed message: magic, uncompressed length (both 32-bit big-endian), zlib stream.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace engine {

/// A request beyond the limit, as sent or once inflated.
struct MessageTooLarge : std::runtime_error {
  explicit MessageTooLarge(size_t bytes);
};

struct Message {
  std::string text;
  bool compressed = false;
};

/// What `bytes` say. Bytes that are no valid compressed message are plain text. Never inflates to
/// `limit` bytes or more: throws MessageTooLarge when the message is, or says it becomes, that
/// long.
Message unpack_message(std::string_view bytes, size_t limit);

std::string pack_message(std::string_view text);

}  // namespace engine
