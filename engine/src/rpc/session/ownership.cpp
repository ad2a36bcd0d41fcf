#include "rpc/session/ownership.h"

#include <random>

#include "rpc/protocol/rpc_error.h"

namespace engine {

std::string random_handler() {
  static std::random_device source;
  std::uniform_int_distribution<int> letter('a', 'z');
  std::string handler(8, ' ');
  for (char& c : handler) c = static_cast<char>(letter(source));
  return handler;
}

Json Ownership::acquire(const std::string& user, int64_t session, bool force) {
  if (taken() && !force)
    throw refused("context is already taken (use 'force' argument to override)");
  handler_ = random_handler();
  user_ = user;
  session_ = session;
  Json ports = Json::object();
  for (size_t port = 0; port < port_handlers_.size(); ++port)
    ports[std::to_string(port)] = port_handlers_[port] = random_handler();
  return {{"handler", handler_}, {"ports", std::move(ports)}};
}

void Ownership::release() {
  handler_.clear();
  user_.clear();
}

}  // namespace engine
