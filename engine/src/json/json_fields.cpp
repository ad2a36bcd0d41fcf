#include "json/json_fields.h"

#include <fmt/format.h>

#include <cmath>

#include "json/base64.h"
#include "net/address_text.h"

namespace engine {

using nlohmann::json;

std::optional<int64_t> as_integer(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > INT64_MAX) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    if (std::abs(number) < 0x1p53 && number == std::floor(number))
      return static_cast<int64_t>(number);
  }
  return std::nullopt;
}

JsonFields::JsonFields(const json& value, std::string place)
    : value_(&value), place_(std::move(place)) {
  if (!value.is_object()) fail("must be an object");
}

void JsonFields::fail(const std::string& problem) const {
  throw ProfileError(place_ + ": " + problem);
}

const json* JsonFields::find(const char* key) const {
  const auto member = value_->find(key);
  return member == value_->end() || member->is_null() ? nullptr : &*member;
}

const json& JsonFields::get(const char* key) const {
  const json* member = find(key);
  if (!member) fail(fmt::format("{} is missing", key));
  return *member;
}

int64_t JsonFields::integer(const char* key, int64_t least, int64_t most) const {
  const std::optional<int64_t> value = as_integer(get(key));
  if (!value || *value < least || *value > most) {
    if (least == 1 && most >= UINT32_MAX) fail(fmt::format("{} must be a positive integer", key));
    fail(fmt::format("{} must be an integer from {} to {}", key, least, most));
  }
  return *value;
}

uint64_t JsonFields::unsigned_integer(const char* key) const {
  const json& value = get(key);
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  const std::optional<int64_t> number = as_integer(value);
  if (!number || *number < 0) fail(fmt::format("{} must be a non-negative integer", key));
  return static_cast<uint64_t>(*number);
}

double JsonFields::number(const char* key, double least, double most) const {
  const json& value = get(key);
  if (!value.is_number() || !(value.get<double>() >= least) || !(value.get<double>() <= most))
    fail(fmt::format("{} must be a number from {} to {}", key, least, most));
  return value.get<double>();
}

const std::string& JsonFields::text(const char* key) const {
  const json& value = get(key);
  if (!value.is_string()) fail(fmt::format("{} must be a string", key));
  return value.get_ref<const std::string&>();
}

std::string JsonFields::bytes(const char* key) const {
  std::optional<std::string> bytes = decode_base64(text(key));
  if (!bytes) fail(fmt::format("{} is not base64", key));
  return std::move(*bytes);
}

uint32_t JsonFields::ipv4(const char* key) const {
  const std::optional<uint32_t> address = parse_ipv4(text(key));
  if (!address) fail(fmt::format("{} must be an IPv4 address, is \"{}\"", key, text(key)));
  return *address;
}

const json::array_t& JsonFields::list(const char* key) const {
  const json& value = get(key);
  if (!value.is_array()) fail(fmt::format("{} must be a list", key));
  return value.get_ref<const json::array_t&>();
}

std::vector<int64_t> JsonFields::integers(const char* key, int64_t least, int64_t most) const {
  std::vector<int64_t> numbers;
  for (const json& element : list(key)) {
    const std::optional<int64_t> number = as_integer(element);
    if (!number || *number < least || *number > most)
      fail(fmt::format("{} must be a list of integers from {} to {}", key, least, most));
    numbers.push_back(*number);
  }
  return numbers;
}

JsonFields JsonFields::object(const char* key) const {
  return JsonFields(get(key), place_.empty() ? key : place_ + ", " + key);
}

bool JsonFields::flag(const char* key) const {
  const json* value = find(key);
  if (!value) return false;
  const std::optional<int64_t> number = as_integer(*value);
  if (!number) fail(fmt::format("{} must be true or false", key));
  return *number != 0;
}

}  // namespace engine
