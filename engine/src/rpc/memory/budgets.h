#pragma once
// The budgets of the control plane, in one place. docs/rpc-extensions.md tells of them.

#include "rpc/memory/byte_budget.h"

namespace engine {

/// Any client may spend of these, the owner of the context or not.
struct Budgets {
  static constexpr uint64_t kReplies = uint64_t{64} << 20;
  static constexpr uint64_t kCaptures = uint64_t{256} << 20;
  static constexpr uint64_t kProfiles = uint64_t{512} << 20;

  /// The answers to one message, as text.
  ByteBudget replies{"replies", kReplies,
                     "ask for less at a time, and send large requests one by one, in no batch"};
  /// Frames that captures and queues keep until they are fetched.
  ByteBudget captures{"captures", kCaptures,
                      "fetch or remove what is captured, or capture fewer or shorter frames "
                      "('limit', 'snaplen')"};
  /// Profiles and topologies, as text and parsed, uploads that are not complete among them.
  ByteBudget profiles{"profiles", kProfiles,
                      "clear profiles that are not needed (profile_clear), or upload less"};
};

}  // namespace engine
