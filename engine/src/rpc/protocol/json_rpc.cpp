#include "rpc/protocol/json_rpc.h"

#include <fmt/format.h>

#include <utility>

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

/// The answers to one message.
class Answers {
 public:
  Answers(ByteBudget& replies, const Caller& call) : text_(replies), call_(call) {}

  std::string answer(const Json& request) {
    if (full_)
      return refuse(request, fmt::format("Memory budget '{}': an answer before this one in the "
                                         "batch found no room, so this was not carried out: send "
                                         "it again by itself",
                                         text_.budget().name()));
    std::string text = dump_json(answer_request(request, call_));
    full_ = !text_.grow(text.size());
    if (!full_) return text;
    return refuse(request, text_.budget().refusal(text.size(), "the answer to what was done"));
  }

 private:
  static std::string refuse(const Json& request, std::string why) {
    return dump_json(error_reply(member(request, "id"), refused(std::move(why))));
  }

  Charge text_;
  const Caller& call_;
  bool full_ = false;
};

std::string answer_batch(const Json& batch, Answers& answers) {
  if (batch.empty()) return dump_json(error_reply(nullptr, invalid_request("Empty batch")));
  if (batch.size() > kBatchLimit)
    return dump_json(error_reply(nullptr, invalid_request("Batch too long")));
  if (batch.size() == 1) return answers.answer(batch.front());
  std::string text;
  for (const Json& request : batch) {
    text += text.empty() ? '[' : ',';
    text += answers.answer(request);
  }
  return text + ']';
}

}  // namespace

std::string answer_text(std::string_view text, ByteBudget& replies, const Caller& call) {
  Json request;
  try {
    request = parse_json(text);
  } catch (const JsonError&) {
    return dump_json(error_reply(nullptr, bad_json()));
  }
  Answers answers(replies, call);
  return request.is_array() ? answer_batch(request, answers) : answers.answer(request);
}

std::string answer_bytes(std::string_view bytes, ByteBudget& replies, const Caller& call) {
  try {
    const Message message = unpack_message(bytes, kRequestLimit);
    const std::string reply = answer_text(message.text, replies, call);
    return message.compressed ? pack_message(reply) : reply;
  } catch (const MessageTooLarge& error) {
    return dump_json(error_reply(nullptr, too_large(error.what())));
  } catch (const std::exception& error) {  // no memory
    return dump_json(error_reply(nullptr, internal_error(error.what())));
  }
}

}  // namespace engine
