#pragma once
// Who may change things: one owner of all ports, proven by handlers that acquire hands out.

#include <cstdint>
#include <string>
#include <vector>

#include "rpc/protocol/json.h"

namespace engine {

/// Eight random letters.
std::string random_handler();

class Ownership {
 public:
  explicit Ownership(size_t ports) : port_handlers_(ports) {}

  /// Takes the context. Throws RpcError when it is taken and not `force`. Returns the answer of
  /// `acquire`: the context's handler and one per port.
  Json acquire(const std::string& user, int64_t session, bool force);
  void release();

  bool taken() const { return !handler_.empty(); }
  bool owns(const std::string& handler) const { return taken() && handler == handler_; }
  /// By the port's handler, or by the context's.
  bool owns_port(const std::string& handler, uint32_t port) const {
    return owns(handler) || (taken() && handler == port_handlers_[port]);
  }
  /// Empty when nobody owns the context.
  const std::string& user() const { return user_; }
  int64_t session() const { return session_; }

 private:
  std::string handler_;
  std::string user_;
  int64_t session_ = 0;
  std::vector<std::string> port_handlers_;
};

}  // namespace engine
