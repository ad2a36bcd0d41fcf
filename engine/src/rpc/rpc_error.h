#pragma once
// Errors a method answers with, by TRex's codes.

#include <exception>
#include <string>
#include <utility>

namespace engine {

/// Thrown by methods. Users see `specific` when there is one, else `message`.
struct RpcError : std::exception {
  RpcError(int code, std::string message, std::string specific)
      : code(code), message(std::move(message)), specific(std::move(specific)) {}

  const char* what() const noexcept override {
    return specific.empty() ? message.c_str() : specific.c_str();
  }

  int code;
  std::string message;
  std::string specific;
};

inline RpcError bad_json() {
  return {-32700, "Bad JSON Format", ""};
}
inline RpcError invalid_request(std::string what) {
  return {-32600, std::move(what), ""};
}
inline RpcError unknown_method(const std::string& name) {
  return {-32601, "Method " + name + " not registered", ""};
}
inline RpcError bad_parameters(std::string why) {
  return {-32602, "Bad parameters for method", std::move(why)};
}
/// The normal "no": the request is understood and not carried out.
inline RpcError refused(std::string why) {
  return {-32000, "Failed To Execute Method", std::move(why)};
}
inline RpcError internal_error(std::string why) {
  return {-32603, "Internal Server Error", std::move(why)};
}
inline RpcError too_large(std::string what) {
  return {-32603, std::move(what), ""};
}

}  // namespace engine
