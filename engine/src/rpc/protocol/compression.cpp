#include "rpc/protocol/compression.h"

#include <fmt/format.h>
#include <zlib.h>

#include "base/byte_order.h"

namespace engine {

namespace {

constexpr uint32_t kMagic = 0xABE85CEA;
constexpr size_t kHeaderLength = 8;

}  // namespace

MessageTooLarge::MessageTooLarge(size_t bytes)
    : std::runtime_error(fmt::format("Request is too large ({} bytes). Consider breaking down "
                                     "request to smaller requests",
                                     bytes)) {}

Message unpack_message(std::string_view bytes, size_t limit) {
  if (bytes.size() >= limit) throw MessageTooLarge(bytes.size());
  if (bytes.size() < kHeaderLength || load_be<uint32_t>(bytes.data()) != kMagic)
    return {std::string(bytes), false};

  const uint32_t length = load_be<uint32_t>(bytes.data() + 4);
  if (length >= limit) throw MessageTooLarge(length);
  std::string text(length, '\0');
  uLongf inflated = length;
  const int result = uncompress(reinterpret_cast<Bytef*>(text.data()), &inflated,
                                reinterpret_cast<const Bytef*>(bytes.data() + kHeaderLength),
                                bytes.size() - kHeaderLength);
  if (result != Z_OK || inflated != length) return {std::string(bytes), false};
  return {std::move(text), true};
}

std::string pack_message(std::string_view text) {
  uLongf deflated = compressBound(text.size());
  std::string bytes(kHeaderLength + deflated, '\0');
  store_be(bytes.data(), kMagic);
  store_be(bytes.data() + 4, static_cast<uint32_t>(text.size()));
  compress2(reinterpret_cast<Bytef*>(bytes.data() + kHeaderLength), &deflated,
            reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_BEST_SPEED);
  bytes.resize(kHeaderLength + deflated);
  return bytes;
}

}  // namespace engine
