#include "astf/address_pool.h"

#include <fmt/format.h>

#include <new>
#include <type_traits>

#include "net/address_text.h"

namespace engine {
namespace {

constexpr uint32_t kPorts = ClientPool::kPortLimit - ClientPool::kFirstPort;
constexpr uint32_t kReserved = ClientPool::kReservedPort - ClientPool::kFirstPort;
constexpr unsigned kMaxTries = 21;
/// Ports looked at in all for one of this core's: with 128 cores one in 128 is.
constexpr unsigned kMaxLooks = kMaxTries * Steering::kEntries;

/// Ports are marked 32 to a group: the low bits of a word say which are taken, the high ones which
/// group it is.
constexpr uint32_t kGroupPorts = 32;
constexpr uint64_t kGroupMask = (uint64_t{1} << kGroupPorts) - 1;
constexpr uint8_t kLargestTable = 11;  ///< log2 of its words; each group has one of its own
static_assert(kPorts / kGroupPorts < (1u << kLargestTable));

/// Where client `index` of `thread` begins (TRex, src/tuple_gen.cpp).
uint32_t first_position(uint32_t index, uint32_t thread) {
  const uint32_t random = (214013 * (index + 11213 * thread) + 2531011) & 0xffff;
  return random % kPorts + 1;
}

}  // namespace

AddressSlice slice_of(const AddressRange& range, uint32_t thread, uint32_t threads,
                      uint32_t pairs) {
  const uint64_t total = uint64_t{range.last} - range.first + 1;
  if (range.per_core && pairs > 1 && uint64_t{range.first} + range.pair_offset <= range.last)
    throw ProfileError(
        fmt::format("range {}-{}: ip_offset {} is too small for per_core_distribution",
                    ipv4_text(range.first), ipv4_text(range.last), ipv4_text(range.pair_offset)));
  const uint32_t shift = thread % pairs * range.pair_offset;
  uint32_t part = range.per_core ? thread / pairs : thread;
  uint32_t parts = range.per_core ? threads / pairs : threads;
  if (total < parts) {
    if (range.client)
      throw ProfileError(fmt::format(
          "Pool:({}-{}) has only {} address{}. Number of IPs in each pool must exceed the number "
          "of Data path threads, which is {}",
          ipv4_text(range.first), ipv4_text(range.last), total, total == 1 ? "" : "es", parts));
    parts = static_cast<uint32_t>(total);
    part %= parts;
  }
  // What does not divide evenly goes to the last ones, one address each.
  const uint64_t share = total / parts;
  const uint32_t sharing_rest = static_cast<uint32_t>(parts - total % parts);
  uint64_t first = range.first + part * share + shift;
  if (part > sharing_rest) first += part - sharing_rest;
  return {static_cast<uint32_t>(first),
          static_cast<uint32_t>(part >= sharing_rest ? share + 1 : share)};
}

/// A client's next port and the ones it has open. These usually lie in a narrow window behind the
/// next one, so they are kept in a table of few words, in which group g has place g mod size. When
/// a place is wanted that still holds another group's open ports, the table is doubled.
struct ClientPool::Client {
  union {
    uint64_t near[2];  ///< log2_words 1
    uint64_t* table;
  };
  uint16_t position;   ///< next port to try, counted from kFirstPort
  uint8_t log2_words;  ///< 0: never used

  uint64_t* words() { return log2_words == 1 ? near : table; }
  uint64_t& word(uint32_t group) { return words()[group & ((1u << log2_words) - 1)]; }
};

ClientPool::ClientPool(AddressSlice slice, uint32_t thread, const Steering& steering,
                       uint32_t start_offset)
    : slice_(slice), thread_(thread), steering_(steering), start_offset_(start_offset % kPorts) {
  static_assert(sizeof(Client) == 24 && std::is_trivial_v<Client>);
  // Zeroed pages come from the kernel when they are touched: unused addresses cost nothing.
  clients_.reset(static_cast<Client*>(std::calloc(slice.count, sizeof(Client))));
  if (!clients_) throw std::bad_alloc();
}

ClientPool::~ClientPool() {
  if (!clients_ || table_bytes_ == 0) return;
  for (uint32_t i = 0; i < slice_.count; ++i)
    if (clients_[i].log2_words > 1) std::free(clients_[i].table);
}

bool ClientPool::pass_over(const AddressRanges& others) {
  for (const uint32_t from : {next_, uint32_t{0}}) {
    const auto address = others.first_outside(slice_.first + from);
    if (!address || *address - slice_.first >= slice_.count) continue;
    next_ = *address - slice_.first;
    return true;
  }
  return false;
}

/// Marks a port as taken; false when it is.
[[gnu::always_inline]] inline bool ClientPool::mark(Client& client, uint32_t position) {
  const uint32_t group = position / kGroupPorts;
  const uint64_t bit = uint64_t{1} << (position % kGroupPorts);
  while (true) {
    uint64_t& word = client.word(group);
    if ((word & kGroupMask) == 0)
      word = uint64_t{group} << kGroupPorts;
    else if ((word >> kGroupPorts) != group) {
      grow(client);
      continue;
    }
    if (word & bit) return false;
    word |= bit;
    return true;
  }
}

// Nearly always this core's next port is free.
bool ClientPool::take_port(uint32_t address, uint16_t& port, uint16_t rest) {
  const uint32_t index = address - slice_.first;
  Client& client = clients_[index];
  if (client.log2_words == 0) [[unlikely]]
    begin(client, index);
  uint32_t position = client.position;
  if (steering_.shared() || position == kReserved || !mark(client, position)) [[unlikely]] {
    const uint16_t known =
        steering_.shared() ? static_cast<uint16_t>(rest ^ Steering::fold(address)) : 0;
    position = search(client, known);
    if (position == kPorts) return false;
  }
  client.position = static_cast<uint16_t>(position + 1 == kPorts ? 0 : position + 1);
  port = static_cast<uint16_t>(kFirstPort + position);
  ++in_use_;
  ++taken_;
  return true;
}

[[gnu::noinline]] void ClientPool::begin(Client& client, uint32_t index) {
  client.log2_words = 1;
  client.position =
      static_cast<uint16_t>((first_position(index, thread_) + start_offset_) % kPorts);
  ++used_clients_;
}

[[gnu::noinline]] uint32_t ClientPool::search(Client& client, uint16_t known) {
  uint32_t position = client.position;
  for (unsigned looks = 0, tries = 0; tries < kMaxTries && looks < kMaxLooks; ++looks) {
    const uint32_t tried = position;
    if (++position == kPorts) position = 0;
    if (steering_.shared() && !steering_.is_own(known ^ static_cast<uint16_t>(kFirstPort + tried)))
      continue;
    ++tries;
    if (tried != kReserved && mark(client, tried)) return tried;
  }
  // The next attempt looks further on.
  client.position = static_cast<uint16_t>(position);
  return kPorts;
}

[[gnu::noinline]] void ClientPool::grow(Client& client) {
  const uint32_t words = 1u << client.log2_words;
  auto* table = static_cast<uint64_t*>(std::calloc(size_t{words} * 2, sizeof(uint64_t)));
  if (!table) throw std::bad_alloc();
  uint64_t* old = client.words();
  for (uint32_t i = 0; i < words; ++i)
    if (old[i] & kGroupMask) table[(old[i] >> kGroupPorts) & (2 * words - 1)] = old[i];
  table_bytes_ += 2 * words * sizeof(uint64_t);
  if (client.log2_words > 1) {
    table_bytes_ -= words * sizeof(uint64_t);
    std::free(old);
  }
  client.table = table;
  ++client.log2_words;
}

void ClientPool::give_back(uint32_t address, uint16_t port) {
  const uint32_t position = port - kFirstPort;
  uint64_t& word = clients_[address - slice_.first].word(position / kGroupPorts);
  word &= ~(uint64_t{1} << (position % kGroupPorts));
  --in_use_;
}

uint32_t ClientPool::next_offset() const {
  // One port in `cores` is this core's, give or take.
  const uint64_t cores = steering_.cores();
  const uint64_t passed = taken_ / slice_.count * cores + (cores == 1 ? 1 : Steering::kEntries);
  return static_cast<uint32_t>((start_offset_ + passed) % kPorts);
}

size_t ClientPool::memory() const {
  return sizeof *this + size_t{used_clients_} * sizeof(Client) + table_bytes_;
}

}  // namespace engine
