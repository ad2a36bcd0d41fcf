#include "rpc/tls_rules.h"

#include <fmt/format.h>

namespace engine {

namespace {

bool chooses(const TlsRule& rule, const Profile& profile, uint32_t index) {
  const Template& source = profile.templates[index];
  if (!profile.programs[source.client_program].stream) return false;
  if (rule.index && *rule.index != index) return false;
  if (rule.port && *rule.port != source.destination_port) return false;
  return !rule.group || (source.group != 0 && profile.group_names[source.group - 1] == *rule.group);
}

std::string text_of(const TlsRule& rule) {
  std::string text;
  if (rule.index) text += fmt::format(" with number {}", *rule.index);
  if (rule.port) text += fmt::format(" to port {}", *rule.port);
  if (rule.group) text += fmt::format(" of group '{}'", *rule.group);
  return text;
}

}  // namespace

std::vector<std::shared_ptr<const tls::Options>> resolve(const std::vector<TlsRule>& rules,
                                                         const Profile& profile) {
  std::vector<std::shared_ptr<const tls::Options>> chosen(rules.empty() ? 0
                                                                        : profile.templates.size());
  for (const TlsRule& rule : rules) {
    bool any = false;
    for (uint32_t index = 0; index < chosen.size(); ++index) {
      if (!chooses(rule, profile, index)) continue;
      chosen[index] = rule.options;
      any = true;
    }
    if (!any)
      throw ProfileError(fmt::format("TLS: the profile has no TCP template{}", text_of(rule)));
  }
  return chosen;
}

}  // namespace engine
