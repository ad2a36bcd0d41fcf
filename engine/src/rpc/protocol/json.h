#pragma once
// JSON as the control plane writes it: valid UTF-8. json_text.h reads it.

#include <string>

#include "json/json_text.h"

namespace engine {

using Json = nlohmann::json;

/// Never throws for content: bytes that are not UTF-8 are replaced by U+FFFD.
std::string dump_json(const Json& value);

}  // namespace engine
