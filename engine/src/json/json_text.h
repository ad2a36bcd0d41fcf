#pragma once
// JSON as clients send it, read with bounds; and as they read it, valid UTF-8.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace engine {

using Json = nlohmann::json;

/// Text that is not JSON, or nests deeper than kMaxNesting.
struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Text whose values would take more memory than they may.
struct JsonTooLarge : JsonError {
  using JsonError::JsonError;
};

/// Arrays and objects within each other. Bounds the stack that copying and writing a value needs.
inline constexpr int kMaxNesting = 100;

/// What a value takes in memory at most, beside the characters of its text: an object in an object.
inline constexpr uint64_t kBytesPerJsonValue = 192;

/// Parses `text`. Never holds more than `most_bytes`, by the bound above. Throws JsonError.
/// `*bytes`, if wanted: what it holds at most.
Json parse_json(std::string_view text, uint64_t most_bytes = UINT64_MAX, uint64_t* bytes = nullptr);

/// Never throws for content: bytes that are not UTF-8 are replaced by U+FFFD.
inline std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace engine
