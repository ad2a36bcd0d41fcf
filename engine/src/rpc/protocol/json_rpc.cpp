#include "rpc/protocol/json_rpc.h"

#include "rpc/protocol/compression.h"
#include "rpc/protocol/rpc_error.h"

namespace engine {

namespace {

Json error_reply(const Json& id, const RpcError& error) {
  Json body = {{"code", error.code}, {"message", error.message}};
  if (!error.specific.empty()) body["specific_err"] = error.specific;
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(body)}};
}

const Json& member(const Json& object, const char* name) {
  static const Json null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

Json call_checked(const Json& request, const Caller& call) {
  if (!request.contains("id")) throw invalid_request("Missing 'id' field");
  if (member(request, "jsonrpc") != "2.0") throw invalid_request("Invalid JSONRPC Version");
  const Json& method = member(request, "method");
  if (!method.is_string()) throw invalid_request("Missing Method Name");
  const Json& params = member(request, "params");
  if (!params.is_object() && !params.is_null())
    throw bad_parameters(std::string("'params' must be an object, not ") + params.type_name());
  return call(method.get_ref<const std::string&>(), params.is_null() ? Json::object() : params);
}

Json answer_request(const Json& request, const Caller& call) {
  const Json& id = member(request, "id");
  try {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"result", call_checked(request, call)}};
  } catch (const RpcError& error) {
    return error_reply(id, error);
  } catch (const std::exception& error) {
    return error_reply(id, internal_error(error.what()));
  }
}

Json answer_batch(const Json& batch, const Caller& call) {
  if (batch.empty()) return error_reply(nullptr, invalid_request("Empty batch"));
  if (batch.size() > kBatchLimit) return error_reply(nullptr, invalid_request("Batch too long"));
  if (batch.size() == 1) return answer_request(batch.front(), call);
  Json replies = Json::array();
  for (const Json& request : batch) replies.push_back(answer_request(request, call));
  return replies;
}

}  // namespace

Json answer_text(std::string_view text, const Caller& call) {
  Json request;
  try {
    request = parse_json(text);
  } catch (const JsonError&) {
    return error_reply(nullptr, bad_json());
  }
  return request.is_array() ? answer_batch(request, call) : answer_request(request, call);
}

std::string answer_bytes(std::string_view bytes, const Caller& call) {
  Message message;
  try {
    message = unpack_message(bytes, kRequestLimit);
  } catch (const MessageTooLarge& error) {
    return dump_json(error_reply(nullptr, too_large(error.what())));
  }
  std::string reply = dump_json(answer_text(message.text, call));
  return message.compressed ? pack_message(reply) : reply;
}

}  // namespace engine
