#pragma once
// A frame that the tests have pass the ports, and that they send.

#include <cstdint>
#include <vector>

namespace engine {

constexpr const char* kFrame = "AgAAAAABAgAAAAAAiLUBAg==";  ///< type 0x88b5, payload 1 2

/// kFrame's bytes, with another last one.
inline std::vector<uint8_t> frame(uint8_t last = 2) {
  return {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0x88, 0xb5, 1, last};
}

}  // namespace engine
