#include "json/json_text.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace engine {

namespace {

using nlohmann::json;

/// Makes the values of a text, and counts what they take before each is made. In place of the
/// callback that json::parse offers, which looks at all siblings after each object.
class BoundedValues : public nlohmann::json_sax<json> {
 public:
  BoundedValues(size_t text_bytes, uint64_t most_bytes)
      : held_(text_bytes), most_bytes_(most_bytes) {
    check();
  }

  uint64_t held() const { return held_; }
  json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }
  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }
  bool start_object(size_t) override { return open(json::object()); }
  bool start_array(size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(size_t, const std::string&, const json::exception& error) override {
    throw JsonError(error.what());
  }

 private:
  bool add(json value) {
    place(std::move(value));
    return true;
  }
  bool open(json empty) {
    if (open_.size() == static_cast<size_t>(kMaxNesting))
      throw JsonError(fmt::format("it nests deeper than {} levels", kMaxNesting));
    open_.push_back(&place(std::move(empty)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  /// Puts a value where it belongs: into the innermost array or object that is open.
  json& place(json value) {
    held_ += kBytesPerJsonValue;
    check();
    if (open_.empty()) return root_ = std::move(value);
    json& parent = *open_.back();
    if (parent.is_object()) return parent[std::move(key_)] = std::move(value);
    parent.push_back(std::move(value));
    return parent.back();
  }
  void check() const {
    if (held_ > most_bytes_)
      throw JsonTooLarge(fmt::format("its values take more than {} bytes", most_bytes_));
  }

  uint64_t held_;
  uint64_t most_bytes_;
  json root_;
  std::string key_;
  std::vector<json*> open_;  ///< arrays and objects that have begun, each in the one before it
};

}  // namespace

json parse_json(std::string_view text, uint64_t most_bytes, uint64_t* bytes) {
  BoundedValues values(text.size(), most_bytes);
  try {
    json::sax_parse(text, &values);
  } catch (const json::exception& error) {
    throw JsonError(error.what());
  }
  if (bytes != nullptr) *bytes = values.held();
  return values.take();
}

}  // namespace engine
