#include "rpc/json_rpc.h"

#include <fmt/format.h>
#include <zlib.h>

#include <utility>

#include "base/byte_order.h"
#include "rpc/rpc_error.h"

namespace engine {

namespace {

constexpr uint32_t kMagic = 0xABE85CEA;
constexpr size_t kHeaderLength = 8;

}  // namespace

MessageTooLarge::MessageTooLarge(size_t bytes)
    : std::runtime_error(fmt::format("Request is too large ({} bytes). Consider breaking down "
                                     "request to smaller requests",
                                     bytes)) {}

Message unpack_message(std::string_view bytes, size_t limit) {
  if (bytes.size() >= limit) throw MessageTooLarge(bytes.size());
  if (bytes.size() < kHeaderLength || load_be<uint32_t>(bytes.data()) != kMagic)
    return {std::string(bytes), false};

  const uint32_t length = load_be<uint32_t>(bytes.data() + 4);
  if (length >= limit) throw MessageTooLarge(length);
  std::string text(length, '\0');
  uLongf inflated = length;
  const int result = uncompress(reinterpret_cast<Bytef*>(text.data()), &inflated,
                                reinterpret_cast<const Bytef*>(bytes.data() + kHeaderLength),
                                bytes.size() - kHeaderLength);
  if (result != Z_OK || inflated != length) return {std::string(bytes), false};
  return {std::move(text), true};
}

std::string pack_message(std::string_view text) {
  uLongf deflated = compressBound(text.size());
  std::string bytes(kHeaderLength + deflated, '\0');
  store_be(bytes.data(), kMagic);
  store_be(bytes.data() + 4, static_cast<uint32_t>(text.size()));
  compress2(reinterpret_cast<Bytef*>(bytes.data() + kHeaderLength), &deflated,
            reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_BEST_SPEED);
  bytes.resize(kHeaderLength + deflated);
  return bytes;
}

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

Outcome call_checked(const Json& request, const Caller& call) {
  if (!request.contains("id")) throw invalid_request("Missing 'id' field");
  if (member(request, "jsonrpc") != "2.0") throw invalid_request("Invalid JSONRPC Version");
  const Json& method = member(request, "method");
  if (!method.is_string()) throw invalid_request("Missing Method Name");
  const Json& params = member(request, "params");
  if (!params.is_object() && !params.is_null())
    throw bad_parameters(std::string("'params' must be an object, not ") + params.type_name());
  return call(method.get_ref<const std::string&>(), params.is_null() ? Json::object() : params);
}

std::string result_text(const Json& request, Json result) {
  return dump_json(
      {{"jsonrpc", "2.0"}, {"id", member(request, "id")}, {"result", std::move(result)}});
}

std::string error_text(const Json& request, const RpcError& error) {
  return dump_json(error_reply(member(request, "id"), error));
}

}  // namespace

Exchange::Exchange(std::string_view bytes, ByteBudget& replies, Caller call)
    : text_(replies), call_(std::move(call)) {
  try {
    const Message message = unpack_message(bytes, kRequestLimit);
    compressed_ = message.compressed;
    message_ = parse_json(message.text);
    if (!is_batch()) return;
    if (message_.empty()) failure_ = error_text(nullptr, invalid_request("Empty batch"));
    if (message_.size() > kBatchLimit)
      failure_ = error_text(nullptr, invalid_request("Batch too long"));
  } catch (const MessageTooLarge& error) {
    failure_ = error_text(nullptr, too_large(error.what()));
  } catch (const JsonError&) {
    failure_ = error_text(nullptr, bad_json());
  } catch (const std::exception& error) {  // no memory
    failure_ = error_text(nullptr, internal_error(error.what()));
  }
}

std::optional<std::string> Exchange::advance() {
  try {
    std::optional<std::string> answer = failure_.empty() ? answer_rest() : std::move(failure_);
    if (answer && compressed_) return pack_message(*answer);
    return answer;
  } catch (const std::exception& error) {  // no memory
    return error_text(nullptr, internal_error(error.what()));
  }
}

std::optional<std::string> Exchange::answer_rest() {
  if (!is_batch() || message_.size() == 1) return answer_next();
  for (; next_ < message_.size(); ++next_) {
    const std::optional<std::string> one = answer_next();
    if (!one) return std::nullopt;
    answer_ += answer_.empty() ? '[' : ',';
    answer_ += *one;
  }
  return std::move(answer_) + ']';
}

/// The answer to the request at hand.
std::optional<std::string> Exchange::answer_next() {
  const Json& request = is_batch() ? message_[next_] : message_;
  if (full_)
    return error_text(request,
                      refused(fmt::format("Memory budget '{}': an answer before this one in the "
                                          "batch found no room, so this was not carried out: send "
                                          "it again by itself",
                                          text_.budget().name())));
  std::string text;
  try {
    Outcome outcome = later_ ? Outcome{{}, later_} : call_checked(request, call_);
    later_ = std::move(outcome.later);
    if (later_) {
      std::optional<Json> result = later_();
      if (!result) return std::nullopt;
      outcome.result = std::move(*result);
    }
    text = result_text(request, std::move(outcome.result));
  } catch (const RpcError& error) {
    text = error_text(request, error);
  } catch (const std::exception& error) {
    text = error_text(request, internal_error(error.what()));
  }
  later_ = nullptr;
  full_ = !text_.grow(text.size());
  if (!full_) return text;
  return error_text(request,
                    refused(text_.budget().refusal(text.size(), "the answer to what was done")));
}

}  // namespace engine
