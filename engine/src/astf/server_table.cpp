#include "astf/server_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "net/address_text.h"

namespace engine {
namespace {

std::string text_of(uint32_t first, uint32_t last) {
  if (first == 0 && last == UINT32_MAX) return "any address";
  return ipv4_text(first) + "-" + ipv4_text(last);
}

std::string taken(bool tcp, uint16_t port, uint32_t first, uint32_t last, uint32_t other_first,
                  uint32_t other_last, const char* why) {
  return fmt::format("{} port {} for {} is taken: another template answers there for {}{}",
                     tcp ? "TCP" : "UDP", port, text_of(first, last),
                     text_of(other_first, other_last), why);
}

bool matches(const Layer7Map& map, std::span<const uint8_t> payload) {
  if (payload.size() <= map.offsets.back()) return false;  // offsets ascend
  for (size_t i = 0; i < map.offsets.size(); ++i)
    if ((payload[map.offsets[i]] & map.masks[i]) != map.values[i]) return false;
  return true;
}

}  // namespace

ServerTable::ServerTable()
    : list_of_port_(static_cast<uint32_t*>(std::calloc(kKeys, sizeof(uint32_t)))) {
  if (!list_of_port_) throw std::bad_alloc();
}

ServerTable::List& ServerTable::list_of(bool tcp, uint16_t port) {
  uint32_t& number = list_of_port_[key(tcp, port)];
  if (number == 0) {
    number = static_cast<uint32_t>(lists_.size());
    lists_.emplace_back();
  }
  return lists_[number];
}

void ServerTable::add(bool tcp, uint16_t port, uint32_t first, uint32_t last, uint32_t handle) {
  std::vector<Entry>& entries = list_of(tcp, port).entries;
  const auto next =
      std::lower_bound(entries.begin(), entries.end(), first,
                       [](const Entry& entry, uint32_t address) { return entry.last < address; });
  if (next != entries.end() && next->first <= last)
    throw ProfileError(taken(tcp, port, first, last, next->first, next->last, ""));
  entries.insert(next, {first, last, handle});
}

void ServerTable::add(bool tcp, uint16_t port, uint32_t first, uint32_t last, const Layer7Map& map,
                      uint32_t handle) {
  std::vector<Mapped>& mapped = list_of(tcp, port).mapped;
  for (Mapped& other : mapped) {
    if (other.last < first || last < other.first) continue;
    const auto refuse = [&](const char* why) {
      throw ProfileError(taken(tcp, port, first, last, other.first, other.last, why));
    };
    const Layer7Map& known = *other.choices.front().map;
    if (other.first != first || other.last != last)
      refuse(", with l7_map; the ranges must be equal");
    if (known.offsets != map.offsets || known.masks != map.masks)
      refuse(", with an l7_map of other offsets or masks");
    for (const Choice& choice : other.choices)
      if (choice.map->values == map.values) refuse(", with the same l7_map");
    other.choices.push_back({&map, handle});
    return;
  }
  mapped.push_back({first, last, {{&map, handle}}});
}

std::vector<uint32_t> ServerTable::decided_with(bool tcp, uint16_t port, uint32_t first,
                                                uint32_t last, bool mapped) const {
  const List& list = lists_[list_of_port_[key(tcp, port)]];
  const auto shares = [&](const auto& with) { return with.first <= last && first <= with.last; };
  std::vector<uint32_t> found;
  for (const Mapped& each : list.mapped)
    if (shares(each)) found.push_back(each.choices.front().handle);  // its others are alike
  for (const Entry& each : list.entries)
    if (mapped && shares(each)) found.push_back(each.handle);
  return found;
}

void ServerTable::remove(std::span<const uint32_t> handles) {
  if (handles.empty()) return;
  std::vector<bool> named(std::ranges::max(handles) + size_t{1});
  for (const uint32_t handle : handles) named[handle] = true;
  const auto is_named = [&named](const auto& each) {
    return each.handle < named.size() && named[each.handle];
  };
  for (List& list : lists_) {
    std::erase_if(list.entries, is_named);
    for (Mapped& mapped : list.mapped) std::erase_if(mapped.choices, is_named);
    std::erase_if(list.mapped, [](const Mapped& mapped) { return mapped.choices.empty(); });
  }
}

const ServerTable::Mapped* ServerTable::find_mapped(const List& list, uint32_t address) {
  for (const Mapped& mapped : list.mapped)
    if (mapped.first <= address && address <= mapped.last) return &mapped;
  return nullptr;
}

uint32_t ServerTable::choose(bool tcp, uint16_t port, uint32_t address,
                             std::span<const uint8_t> payload) const {
  if (const Mapped* mapped = find_mapped(lists_[list_of_port_[key(tcp, port)]], address))
    for (const Choice& choice : mapped->choices)
      if (matches(*choice.map, payload)) return choice.handle;
  return find(tcp, port, address);
}

}  // namespace engine
