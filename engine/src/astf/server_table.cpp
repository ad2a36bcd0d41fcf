#include "astf/server_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "astf/ipv4_text.h"

namespace engine {
namespace {

std::string text_of(uint32_t first, uint32_t last) {
  if (first == 0 && last == UINT32_MAX) return "any address";
  return ipv4_text(first) + "-" + ipv4_text(last);
}

}  // namespace

void ServerTable::add(bool tcp, uint16_t port, uint32_t first, uint32_t last, uint32_t handle) {
  uint32_t& number = list_of_port_[key(tcp, port)];
  const auto next =
      std::lower_bound(lists_[number].begin(), lists_[number].end(), first,
                       [](const Entry& entry, uint32_t address) { return entry.last < address; });
  if (next != lists_[number].end() && next->first <= last)
    throw ProfileError(fmt::format(
        "{} port {} for {} is taken: another template answers there for {}", tcp ? "TCP" : "UDP",
        port, text_of(first, last), text_of(next->first, next->last)));
  if (number == 0) {
    number = static_cast<uint32_t>(lists_.size());
    lists_.push_back({{first, last, handle}});
  } else {
    lists_[number].insert(next, {first, last, handle});
  }
}

void ServerTable::remove(uint32_t handle) {
  for (std::vector<Entry>& list : lists_)
    std::erase_if(list, [=](const Entry& entry) { return entry.handle == handle; });
}

}  // namespace engine
