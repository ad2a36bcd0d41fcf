#include "rpc/protocol/method_table.h"

#include "rpc/protocol/rpc_error.h"

namespace engine {

void MethodTable::add(std::string name, Access access, std::vector<Parameter> parameters,
                      std::function<Json(const Json&)> run) {
  add_method(std::move(name), access, std::move(parameters),
             [run = std::move(run)](const Json& params) {
               return Outcome{run(params), {}};
             });
}

void MethodTable::add_waiting(std::string name, Access access, std::vector<Parameter> parameters,
                              std::function<Later(const Json&)> begin) {
  add_method(std::move(name), access, std::move(parameters),
             [begin = std::move(begin)](const Json& params) {
               return Outcome{{}, begin(params)};
             });
}

void MethodTable::add_method(std::string name, Access access, std::vector<Parameter> parameters,
                             std::function<Outcome(const Json&)> run) {
  if (access == Access::owner || access == Access::port_owner)
    parameters.push_back({"handler", ParameterType::string});
  if (access == Access::port_owner) parameters.push_back({"port_id", ParameterType::integer});
  methods_.emplace(std::move(name), Method{access, std::move(parameters), std::move(run)});
}

void MethodTable::refuse(std::string name, std::string words) {
  const auto run = [words = std::move(words)](const Json&) -> Outcome { throw refused(words); };
  methods_.emplace(std::move(name), Method{Access::reader, {}, run, false});
}

const Method* MethodTable::find(const std::string& name) const {
  const auto found = methods_.find(name);
  return found == methods_.end() ? nullptr : &found->second;
}

std::vector<std::string> MethodTable::names() const {
  std::vector<std::string> names;
  for (const auto& [name, method] : methods_)
    if (method.supported) names.push_back(name);
  return names;
}

}  // namespace engine
