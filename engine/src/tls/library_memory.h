#pragma once
// How much memory the TLS library has taken.

#include <cstdint>
#include <optional>

namespace engine::tls {

/// Bytes that the library has allocated on the calling thread and not freed there, the allocator's
/// headers among them. nullopt: the library had memory before this program could count it.
std::optional<uint64_t> library_bytes();

}  // namespace engine::tls
