#pragma once
// JSON-RPC 2.0 as TRex speaks it: requests and batches in, replies out. Knows no method.

#include <functional>
#include <string>
#include <string_view>

#include "rpc/memory/byte_budget.h"
#include "rpc/protocol/json.h"

namespace engine {

/// Calls one method; throws RpcError.
using Caller = std::function<Json(const std::string& method, const Json& params)>;

/// Answers one message, with text of no more bytes than `replies` has left: an answer that does not
/// fit is refused in its place, and the requests of a batch behind it are not carried out. While a
/// method runs, `replies` tells what is left for its answer; one that takes something away by
/// telling it asks before. A batch of one is answered with the bare object, as TRex does.
std::string answer_text(std::string_view text, ByteBudget& replies, const Caller& call);

/// Answers one message as it travels, compressed or not; an answer is compressed if the request
/// was. Never throws for what `bytes` hold.
std::string answer_bytes(std::string_view bytes, ByteBudget& replies, const Caller& call);

/// Requests of this length and more are refused, before and after inflation (TRex).
inline constexpr size_t kRequestLimit = 1'000'000;
/// Requests in one batch.
inline constexpr size_t kBatchLimit = 1'000;

}  // namespace engine
