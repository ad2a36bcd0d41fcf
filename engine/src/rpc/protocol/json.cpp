#include "rpc/protocol/json.h"

namespace engine {

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace engine
