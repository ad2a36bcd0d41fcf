#include <fmt/format.h>

#include "json/base64.h"
#include "json/parse.h"

namespace engine {
namespace {

Buffer parse_buffer(const nlohmann::json& element, const std::string& place) {
  if (element.is_string()) {
    std::optional<std::string> bytes = decode_base64(element.get_ref<const std::string&>());
    if (!bytes) throw ProfileError(place + ": is not base64");
    const size_t size = bytes->size();
    return Buffer(std::move(*bytes), size, "");
  }
  const JsonFields fields(element, place);
  std::string base = fields.has("base") ? fields.bytes("base") : "";
  std::string fill = fields.has("fill") ? fields.bytes("fill") : "";
  const int64_t size =
      fields.integer_or("size", 0, Buffer::kMaxSize, static_cast<int64_t>(base.size()));
  return Buffer(std::move(base), static_cast<uint64_t>(size), std::move(fill));
}

}  // namespace

std::vector<Buffer> parse_buffers(const JsonFields& profile, uint64_t most_bytes) {
  std::vector<Buffer> buffers;
  uint64_t memory = 0;
  for (const nlohmann::json& element : profile.list("buf_list")) {
    buffers.push_back(parse_buffer(element, fmt::format("buffer {}", buffers.size())));
    memory += buffers.back().memory();
    if (memory > most_bytes)
      throw ProfileTooLarge(
          fmt::format("the profile is too large: buffers 0 to {} take more than {} bytes",
                      buffers.size() - 1, most_bytes));
  }
  return buffers;
}

}  // namespace engine
