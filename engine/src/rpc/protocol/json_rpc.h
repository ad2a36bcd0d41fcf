#pragma once
// JSON-RPC 2.0 as TRex speaks it: requests and batches in, replies out. Knows no method.

#include <functional>
#include <string>
#include <string_view>

#include "rpc/protocol/json.h"

namespace engine {

/// Calls one method; throws RpcError.
using Caller = std::function<Json(const std::string& method, const Json& params)>;

/// Answers one message. A batch of one is answered with the bare object, as TRex does.
Json answer_text(std::string_view text, const Caller& call);

/// Answers one message as it travels, compressed or not; an answer is compressed if the request
/// was. Never throws for what `bytes` hold.
std::string answer_bytes(std::string_view bytes, const Caller& call);

/// Requests of this length and more are refused, before and after inflation (TRex).
inline constexpr size_t kRequestLimit = 1'000'000;
/// Requests in one batch.
inline constexpr size_t kBatchLimit = 1'000;

}  // namespace engine
