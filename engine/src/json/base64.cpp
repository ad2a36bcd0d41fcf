#include "json/base64.h"

#include <openssl/evp.h>

#include <cstdint>

namespace engine {
namespace {

const uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}
uint8_t* bytes_of(std::string& text) {
  return reinterpret_cast<uint8_t*>(text.data());
}

}  // namespace

// libcrypto passes over white space at either end, and counts padding as bytes.
std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.ends_with('=') && text.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1 || text.find_first_not_of(kAlphabet) != text.npos) return std::nullopt;
  std::string padded(text);
  padded.append((4 - text.size() % 4) % 4, '=');
  std::string bytes(padded.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(bytes_of(bytes), bytes_of(std::string_view(padded)),
                      static_cast<int>(padded.size())) < 0)
    return std::nullopt;
  bytes.resize(text.size() * 3 / 4);
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  EVP_EncodeBlock(bytes_of(text), bytes_of(bytes), static_cast<int>(bytes.size()));
  return text;
}

}  // namespace engine
