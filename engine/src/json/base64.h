#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace engine {

/// Decodes base64 (RFC 4648 section 4), padding optional; nothing when a character is not of the
/// alphabet or the length is impossible.
std::optional<std::string> decode_base64(std::string_view text);

/// Encodes with padding.
std::string encode_base64(std::string_view bytes);

}  // namespace engine
