#pragma once
// JSON as the control plane writes it: valid UTF-8. json_text.h reads it.

#include <string>

#include "json/json_text.h"

namespace engine {

using Json = nlohmann::json;

/// Never throws for content: bytes that are not UTF-8 are replaced by U+FFFD.
inline std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace engine
