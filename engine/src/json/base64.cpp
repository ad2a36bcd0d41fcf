#include "json/base64.h"

#include <array>
#include <cstdint>

namespace engine {
namespace {

constexpr uint8_t kInvalid = 0xff;

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<uint8_t, 256> make_values() {
  std::array<uint8_t, 256> values{};
  values.fill(kInvalid);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<uint8_t>(i);
  return values;
}
constexpr std::array<uint8_t, 256> kValues = make_values();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.ends_with('=') && text.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes(text.size() * 3 / 4, '\0');
  char* out = bytes.data();
  uint32_t bits = 0;
  uint8_t seen = 0;  // any invalid character leaves a high bit here
  for (size_t i = 0; i < text.size(); ++i) {
    const uint8_t value = kValues[static_cast<uint8_t>(text[i])];
    seen |= value;
    bits = bits << 6 | value;
    if (i % 4 == 3) {
      *out++ = static_cast<char>(bits >> 16);
      *out++ = static_cast<char>(bits >> 8);
      *out++ = static_cast<char>(bits);
    }
  }
  if (seen & 0x80) return std::nullopt;
  if (text.size() % 4 == 2) *out++ = static_cast<char>(bits >> 4);
  if (text.size() % 4 == 3) {
    *out++ = static_cast<char>(bits >> 10);
    *out++ = static_cast<char>(bits >> 2);
  }
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  for (size_t from = 0; from < bytes.size(); from += 3) {
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (from + i < bytes.size() ? static_cast<uint8_t>(bytes[from + i]) : 0);
    for (size_t i = 0; i < 4; ++i)
      text.push_back(from + i <= bytes.size() ? kAlphabet[bits >> (18 - 6 * i) & 63] : '=');
  }
  return text;
}

}  // namespace engine
