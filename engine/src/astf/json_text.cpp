#include "astf/json_text.h"

#include <fmt/format.h>

namespace engine {

nlohmann::json parse_json(std::string_view text, uint64_t most_bytes, uint64_t* bytes) {
  using nlohmann::json;
  uint64_t held = text.size();
  const auto bounded = [&](int depth, json::parse_event_t event, json&) {
    if (depth > kMaxNesting)
      throw JsonError(fmt::format("it nests deeper than {} levels", kMaxNesting));
    if (event == json::parse_event_t::value || event == json::parse_event_t::object_start ||
        event == json::parse_event_t::array_start)
      held += kBytesPerJsonValue;
    if (held > most_bytes)
      throw JsonTooLarge(fmt::format("its values take more than {} bytes", most_bytes));
    return true;
  };
  try {
    json value = json::parse(text, bounded);
    if (bytes != nullptr) *bytes = held;
    return value;
  } catch (const json::exception& error) {
    throw JsonError(error.what());
  }
}

}  // namespace engine
