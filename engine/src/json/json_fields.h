#pragma once
// Reads members of a profile's JSON objects; what does not fit ends in a ProfileError that names
// it.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "astf/profile.h"

namespace engine {

/// One JSON object and its place in the profile, for messages: "program 3, command 2 (rx)".
class JsonFields {
 public:
  /// `value` must outlive this. Throws ProfileError when it is no object.
  JsonFields(const nlohmann::json& value, std::string place);

  const std::string& place() const { return place_; }
  bool has(const char* key) const { return find(key) != nullptr; }

  /// A whole number from `least` to `most`, from a required member. true and 1.0 count as 1.
  int64_t integer(const char* key, int64_t least, int64_t most) const;
  /// The same over all of uint64.
  uint64_t unsigned_integer(const char* key) const;
  double number(const char* key, double least, double most) const;
  const std::string& text(const char* key) const;
  /// The bytes of a base64 text.
  std::string bytes(const char* key) const;
  uint32_t ipv4(const char* key) const;
  /// Elements of a required array.
  const nlohmann::json::array_t& list(const char* key) const;
  /// Whole numbers from `least` to `most`, from a required array.
  std::vector<int64_t> integers(const char* key, int64_t least, int64_t most) const;
  /// A required object below this one.
  JsonFields object(const char* key) const;

  /// False when absent.
  bool flag(const char* key) const;
  int64_t integer_or(const char* key, int64_t least, int64_t most, int64_t otherwise) const {
    return has(key) ? integer(key, least, most) : otherwise;
  }

  /// Throws ProfileError "<place>: <problem>".
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  /// Null counts as absent.
  const nlohmann::json* find(const char* key) const;
  const nlohmann::json& get(const char* key) const;

  const nlohmann::json* value_;
  std::string place_;
};

/// `value` as a whole number; nothing when it is none or does not fit.
std::optional<int64_t> as_integer(const nlohmann::json& value);

}  // namespace engine
