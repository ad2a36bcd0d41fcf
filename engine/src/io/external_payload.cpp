#include "io/external_payload.h"

#include <fmt/format.h>
#include <rte_common.h>

#include <algorithm>
#include <cstring>

namespace engine {

std::shared_ptr<const ExternalPayload> ExternalPayload::copy_of(
    const std::vector<Buffer>& buffers) {
  std::vector<Part> parts;
  size_t bytes = 0;
  for (const Buffer& buffer : buffers) {
    if (buffer.size() < kWorthwhile) continue;
    parts.push_back({buffer.kept(), nullptr});
    bytes += RTE_CACHE_LINE_ROUNDUP(buffer.kept().size());
  }
  if (parts.empty()) return nullptr;
  static uint64_t number = 0;  // by the control thread alone
  const rte_memzone* const zone = rte_memzone_reserve(
      fmt::format("payload{}", number++).c_str(), bytes, SOCKET_ID_ANY, RTE_MEMZONE_IOVA_CONTIG);
  if (zone == nullptr) return nullptr;
  auto* at = static_cast<uint8_t*>(zone->addr);
  for (Part& part : parts) {
    std::memcpy(at, part.original.data(), part.original.size());
    part.copy = at;
    at += RTE_CACHE_LINE_ROUNDUP(part.original.size());
  }
  std::ranges::sort(parts, {}, [](const Part& part) { return part.original.data(); });
  return std::shared_ptr<const ExternalPayload>(new ExternalPayload(zone, std::move(parts)));
}

ExternalPayload::~ExternalPayload() {
  rte_memzone_free(zone_);
}

uint8_t* ExternalPayload::copy_at(const uint8_t* original) const {
  const auto behind = std::ranges::upper_bound(
      parts_, original, {}, [](const Part& part) { return part.original.data(); });
  if (behind == parts_.begin()) return nullptr;
  const Part& part = *std::prev(behind);
  const auto offset = static_cast<size_t>(original - part.original.data());
  return offset < part.original.size() ? part.copy + offset : nullptr;
}

PayloadReferences::PayloadReferences(std::shared_ptr<const ExternalPayload> payload)
    : payload_(std::move(payload)) {
  users_.fcb_opaque = this;
  users_.free_cb = [](void*, void* references) {
    delete static_cast<PayloadReferences*>(references);
  };
  rte_mbuf_ext_refcnt_set(&users_, 1);
}

}  // namespace engine
