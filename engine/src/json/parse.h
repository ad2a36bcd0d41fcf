#pragma once
// The parts of a profile's JSON (TRex ASTF, client 3.4.0), one function each; see parse_profile().

#include <string>
#include <vector>

#include "astf/profile.h"
#include "json/json_fields.h"

namespace engine {

/// buf_list: payload, in base64. Throws ProfileTooLarge when it would take more than `most_bytes`.
std::vector<Buffer> parse_buffers(const JsonFields& profile, uint64_t most_bytes);

/// program_list. `buffers`, `groups`: how many there are to refer to.
std::vector<Program> parse_programs(const JsonFields& profile, size_t buffers, size_t groups,
                                    std::vector<std::string>& notices);

/// templates; all else of `into` is parsed already.
void parse_templates(const JsonFields& profile, bool force_ipv6, Profile& into);

/// What c_glob_info or s_glob_info says, on top of the defaults. Values out of range leave the
/// default and a line in `notices`, as TRex prints one; wrong types throw ProfileError.
Tunables parse_global_tunables(const JsonFields& profile, const char* key, bool force_ipv6,
                               std::vector<std::string>& notices);

/// What the templates of a side begin with: the global values and, where these say nothing, the
/// defaults.
struct SideTunables {
  Tunables all;
  Tunables ipv6;  ///< of templates that use IPv6, whether or not all do
};
/// What a template's glob_info says, on top of the global values. Keys that count for a whole side
/// only are left out. `force_ipv6`: its other side uses IPv6.
Tunables parse_template_tunables(const JsonFields& client_or_server, const SideTunables& global,
                                 bool force_ipv6, std::vector<std::string>& notices);

/// c_glob_info.scheduler.rampup_sec; 0: none.
double parse_rampup(const JsonFields& profile, std::vector<std::string>& notices);

}  // namespace engine
