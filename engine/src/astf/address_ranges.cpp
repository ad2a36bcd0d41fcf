#include "astf/address_ranges.h"

#include <algorithm>
#include <iterator>

namespace engine {

std::map<uint32_t, uint32_t>::const_iterator AddressRanges::at_or_before(uint32_t address) const {
  const auto next = ranges_.upper_bound(address);
  return next == ranges_.begin() ? ranges_.end() : std::prev(next);
}

void AddressRanges::add(uint32_t first, uint32_t last) {
  // One that ends just before `first` is made longer, too.
  auto next = at_or_before(first == 0 ? 0 : first - 1);
  if (next == ranges_.end()) next = ranges_.begin();
  while (next != ranges_.end() && (last == UINT32_MAX || next->first <= last + 1)) {
    if (uint64_t{next->second} + 1 < first) {
      ++next;
      continue;
    }
    first = std::min(first, next->first);
    last = std::max(last, next->second);
    next = ranges_.erase(next);
  }
  ranges_[first] = last;
}

void AddressRanges::remove(uint32_t first, uint32_t last) {
  auto next = at_or_before(first);
  if (next == ranges_.end()) next = ranges_.begin();
  while (next != ranges_.end() && next->first <= last) {
    const auto [begin, end] = *next;
    if (end < first) {
      ++next;
      continue;
    }
    next = ranges_.erase(next);
    if (begin < first) ranges_[begin] = first - 1;
    if (end > last) ranges_[last + 1] = end;
  }
}

void AddressRanges::keep(const AddressRanges& others) {
  uint64_t from = 0;
  for (const auto& [first, last] : others.ranges_) {
    if (first > from) remove(static_cast<uint32_t>(from), first - 1);
    from = uint64_t{last} + 1;
  }
  if (from <= UINT32_MAX) remove(static_cast<uint32_t>(from), UINT32_MAX);
}

bool AddressRanges::has(uint32_t address) const {
  const auto range = at_or_before(address);
  return range != ranges_.end() && address <= range->second;
}

std::optional<uint32_t> AddressRanges::first_outside(uint32_t address) const {
  const auto range = at_or_before(address);
  if (range == ranges_.end() || address > range->second) return address;
  if (range->second == UINT32_MAX) return std::nullopt;
  return range->second + 1;  // ranges do not touch, so it is in no other one
}

ClientAddresses& ClientAddresses::operator+=(const ClientAddresses& other) {
  for (const auto& [first, last] : other.known.ranges()) known.add(first, last);
  for (const auto& [first, last] : other.disabled.ranges()) disabled.add(first, last);
  return *this;
}

}  // namespace engine
