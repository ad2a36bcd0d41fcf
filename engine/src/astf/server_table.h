#pragma once
// Which template answers a first packet: by protocol, destination port, address range and, where
// templates say so, bytes of the first payload.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "astf/profile.h"

namespace engine {

/// Templates that listen on one data core, of all running profiles.
class ServerTable {
 public:
  ServerTable();
  /// Adds template `handle` (the core's own number for it). Throws ProfileError when another
  /// template already answers this protocol, port and an overlapping range, naming port and range.
  void add(bool tcp, uint16_t port, uint32_t first, uint32_t last, uint32_t handle);
  /// The same for a template that is told apart from others of the same range by its payload.
  /// `map` outlives the entry. Throws ProfileError also when the range or the bytes looked at
  /// differ from those of the templates it shares them with.
  void add(bool tcp, uint16_t port, uint32_t first, uint32_t last, const Layer7Map& map,
           uint32_t handle);
  /// Handles that share an address of first..last with a template where a payload decides: those
  /// that it decides on, and the others if it decides on that template too (`mapped`).
  std::vector<uint32_t> decided_with(bool tcp, uint16_t port, uint32_t first, uint32_t last,
                                     bool mapped) const;
  /// Removes everything added under these handles, in one go over the table.
  void remove(std::span<const uint32_t> handles);

  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kUndecided = kNone - 1;
  /// The handle that answers, or kNone. `address`: low 32 bits of the destination.
  uint32_t find(bool tcp, uint16_t port, uint32_t address) const {
    return find_in(lists_[list_of_port_[key(tcp, port)]], address);
  }
  /// The same where no payload decides on ports like this one, else kUndecided.
  uint32_t find_decided(bool tcp, uint16_t port, uint32_t address) const {
    const List& list = lists_[list_of_port_[key(tcp, port)]];
    return list.mapped.empty() ? find_in(list, address) : kUndecided;
  }
  /// Any handle among those that the payload decides on, or kNone where it decides nothing.
  uint32_t find_undecided(bool tcp, uint16_t port, uint32_t address) const {
    const List& list = lists_[list_of_port_[key(tcp, port)]];
    if (list.mapped.empty()) return kNone;
    const Mapped* mapped = find_mapped(list, address);
    return mapped == nullptr ? kNone : mapped->choices.front().handle;
  }
  /// The handle that answers a first `payload`: the one it matches, else the one that answers
  /// whatever the payload, else kNone.
  uint32_t choose(bool tcp, uint16_t port, uint32_t address,
                  std::span<const uint8_t> payload) const;

 private:
  struct Entry {
    uint32_t first;
    uint32_t last;
    uint32_t handle;
  };
  struct Choice {
    const Layer7Map* map;
    uint32_t handle;
  };
  /// Templates of one range that look at the same bytes.
  struct Mapped {
    uint32_t first;
    uint32_t last;
    std::vector<Choice> choices;
  };
  struct List {
    std::vector<Entry> entries;  ///< sorted by address
    std::vector<Mapped> mapped;  ///< disjoint
  };
  static uint32_t find_in(const List& list, uint32_t address) {
    for (const Entry& entry : list.entries)
      if (address <= entry.last) return address >= entry.first ? entry.handle : kNone;
    return kNone;
  }
  static const Mapped* find_mapped(const List& list, uint32_t address);
  List& list_of(bool tcp, uint16_t port);
  static constexpr size_t kKeys = size_t{2} << 16;
  static constexpr size_t key(bool tcp, uint16_t port) { return (size_t{tcp} << 16) | port; }

  struct Free {
    void operator()(uint32_t* ports) const { std::free(ports); }
  };

  /// Index into lists_. Zeroed pages come from the kernel when they are touched: ports that nobody
  /// asks for cost nothing.
  std::unique_ptr<uint32_t[], Free> list_of_port_;
  std::vector<List> lists_ = std::vector<List>(1);  ///< the first one stays empty
};

}  // namespace engine
