#pragma once
// Which templates of a profile have TLS, as clients ask for it before a run.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "astf/profile.h"
#include "tls/options.h"

namespace engine {

/// Gives TLS to the templates that all that is set chooses; nothing set: to all of TCP.
struct TlsRule {
  std::optional<uint32_t> index;     ///< of the template
  std::optional<uint16_t> port;      ///< that the template's clients connect to
  std::optional<std::string> group;  ///< the template's group by name
  std::shared_ptr<const tls::Options> options;
};

/// By template, of the latest rule that chooses it; nullptr: of none. Throws ProfileError when a
/// rule chooses no template.
std::vector<std::shared_ptr<const tls::Options>> resolve(const std::vector<TlsRule>& rules,
                                                         const Profile& profile);

}  // namespace engine
