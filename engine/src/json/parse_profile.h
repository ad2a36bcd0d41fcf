#pragma once
// Profiles as TRex's clients upload them.

#include <cstdint>
#include <memory>
#include <string_view>

#include "astf/profile.h"

namespace engine {

/// What a profile may take that nobody bounds otherwise.
inline constexpr uint64_t kMostProfileBytes = uint64_t{512} << 20;

/// Parses the JSON that the TRex client uploads. `force_ipv6`: start(ipv6=True). Its document and
/// its payload take at most `most_bytes` each. Throws ProfileError.
std::shared_ptr<const Profile> parse_profile(std::string_view json, bool force_ipv6,
                                             uint64_t most_bytes = kMostProfileBytes);

}  // namespace engine
