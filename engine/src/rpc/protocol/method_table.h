#pragma once
// The methods clients may call, by name.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rpc/protocol/json.h"
#include "rpc/protocol/parameters.h"

namespace engine {

/// Looks what became of a request; nullopt: nothing yet, look again later. Throws RpcError.
using Later = std::function<std::optional<Json>()>;

/// What a method returns: its result, or how to learn it.
struct Outcome {
  Json result;
  Later later;  ///< none: `result` is there
};

/// Who may call a method.
enum class Access : uint8_t {
  anyone,      ///< also before the API handshake
  reader,      ///< after the handshake
  owner,       ///< with the handler that acquire returned
  port_owner,  ///< with the handler of the port it names, or of the context
};

struct Method {
  Access access;
  std::vector<Parameter> parameters;
  /// Gets parameters that have been checked; throws RpcError.
  std::function<Outcome(const Json& params)> run;
  bool supported = true;
};

class MethodTable {
 public:
  void add(std::string name, Access access, std::vector<Parameter> parameters,
           std::function<Json(const Json&)> run);
  /// A method whose result may take its time. `begin` throws RpcError for what it refuses at once.
  void add_waiting(std::string name, Access access, std::vector<Parameter> parameters,
                   std::function<Later(const Json&)> begin);
  /// Has `name` refused with `words`.
  void refuse(std::string name, std::string words);
  /// nullptr when there is no such method.
  const Method* find(const std::string& name) const;
  /// Those that are not refused.
  std::vector<std::string> names() const;

 private:
  void add_method(std::string name, Access access, std::vector<Parameter> parameters,
                  std::function<Outcome(const Json&)> run);

  std::map<std::string, Method> methods_;
};

}  // namespace engine
