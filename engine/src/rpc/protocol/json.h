#pragma once
// JSON as the control plane reads and writes it: bounded nesting in, valid UTF-8 out.

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

/// Arrays and objects within each other. Bounds the stack that copying and writing a value needs.
inline constexpr int kMaxNesting = 100;

/// Throws JsonError.
Json parse_json(std::string_view text);

/// Never throws for content: bytes that are not UTF-8 are replaced by U+FFFD.
std::string dump_json(const Json& value);

}  // namespace engine
