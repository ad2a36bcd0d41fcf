#pragma once
// Sets of IPv4 addresses, kept as ranges: millions of clients in a row cost as much as one.

#include <cstdint>
#include <map>
#include <optional>

namespace engine {

/// A set of addresses (host order). The time of each call grows with the ranges it touches and with
/// the logarithm of their number, not with the addresses in them.
class AddressRanges {
 public:
  /// Adds all from `first` to `last`, both included; first <= last.
  void add(uint32_t first, uint32_t last);
  /// Takes them out.
  void remove(uint32_t first, uint32_t last);
  /// Takes out all that are not in `others`.
  void keep(const AddressRanges& others);

  bool has(uint32_t address) const;
  bool empty() const { return ranges_.empty(); }
  /// The lowest address from `address` on that is not in the set, or nullopt.
  std::optional<uint32_t> first_outside(uint32_t address) const;
  /// First address to last one of each range; ranges neither meet nor touch.
  const std::map<uint32_t, uint32_t>& ranges() const { return ranges_; }

 private:
  /// The range that begins at `address` or before it.
  std::map<uint32_t, uint32_t>::const_iterator at_or_before(uint32_t address) const;

  std::map<uint32_t, uint32_t> ranges_;
};

/// Client addresses that runs have, and those of them that open no flows.
struct ClientAddresses {
  AddressRanges known;
  AddressRanges disabled;

  /// Those of another core.
  ClientAddresses& operator+=(const ClientAddresses& other);
};

}  // namespace engine
