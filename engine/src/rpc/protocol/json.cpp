#include "rpc/protocol/json.h"

namespace engine {

Json parse_json(std::string_view text) {
  const auto bound_nesting = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kMaxNesting) throw JsonError("nested too deep");
    return true;
  };
  try {
    return Json::parse(text, bound_nesting);
  } catch (const Json::exception& error) {
    throw JsonError(error.what());
  }
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace engine
