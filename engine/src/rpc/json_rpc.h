#pragma once
// JSON-RPC 2.0 as TRex speaks it: requests and batches in, replies out. Knows no method by name.

#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "json/json_text.h"
#include "rpc/budgets.h"
#include "rpc/method_table.h"

namespace engine {

/// A request beyond the limit, as sent or once inflated.
struct MessageTooLarge : std::runtime_error {
  explicit MessageTooLarge(size_t bytes);
};

/// Text that may come compressed, as TRex does it: magic, uncompressed length (both 32-bit
/// big-endian), zlib stream.
struct Message {
  std::string text;
  bool compressed = false;
};

/// What `bytes` say. Bytes that are no valid compressed message are plain text. Never inflates to
/// `limit` bytes or more: throws MessageTooLarge when the message is, or says it becomes, that
/// long.
Message unpack_message(std::string_view bytes, size_t limit);

std::string pack_message(std::string_view text);

/// Calls one method; throws RpcError.
using Caller = std::function<Outcome(const std::string& method, const Json& params)>;

/// One message as it travels, compressed or not, and the answer to it; the answer is compressed if
/// the message was. Its text has no more bytes than `replies` has left: an answer that does not fit
/// is refused in its place, and the requests of a batch behind it are not carried out. While a
/// method runs, `replies` tells what is left for its answer; one that takes something away by
/// telling it asks before. A batch of one is answered with the bare object, as TRex does.
class Exchange {
 public:
  /// Nothing of `bytes` is used after this. `replies` outlives it.
  Exchange(std::string_view bytes, ByteBudget& replies, Caller call);

  /// Carries the requests out in their order, until one has to wait for its outcome. Returns the
  /// answer once it is whole, nullopt: call again later. Never throws for what the message holds.
  std::optional<std::string> advance();

 private:
  std::optional<std::string> answer_next();
  std::optional<std::string> answer_rest();
  bool is_batch() const { return message_.is_array(); }

  Charge text_;
  Caller call_;
  Json message_;
  bool compressed_ = false;
  size_t next_ = 0;      ///< of a batch, the request at hand
  Later later_;          ///< how it goes on with that, when it has begun
  std::string answer_;   ///< to those before it
  std::string failure_;  ///< the answer to a message that cannot be read
  bool full_ = false;
};

/// Requests of this length and more are refused, before and after inflation (TRex).
inline constexpr size_t kRequestLimit = 1'000'000;
/// Requests in one batch.
inline constexpr size_t kBatchLimit = 1'000;

}  // namespace engine
