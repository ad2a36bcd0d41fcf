#include "io/memif/memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace engine::memif {
namespace {

constexpr uint64_t kPage = 4096;

/// Who parses a frame may read a few bytes behind it, and a frame may end where the memory does.
constexpr uint64_t kBehind = kPage;

constexpr uint64_t round_up(uint64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Memory::~Memory() {
  for (const Region& region : regions_) {
    munmap(region.memory, region.mapped);
    close(region.file);
  }
  for (const auto& rings : rings_)
    for (const Ring& ring : rings)
      if (ring.event >= 0) close(ring.event);
}

void Memory::map(int file, uint64_t bytes) {
  const uint64_t length = round_up(bytes);
  const uint64_t mapped = length + kBehind;
  void* const place = mmap(nullptr, mapped, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) fail("room for shared memory");
  if (mmap(place, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
    const int reason = errno;
    munmap(place, mapped);
    errno = reason;
    fail("mapping shared memory");
  }
  regions_.push_back({file, static_cast<uint8_t*>(place), bytes, mapped});
}

void Memory::add(const AddRegion& region, int file) {
  try {
    if (file < 0) throw Refused("a region without its file");
    if (region.index != regions_.size() || region.index >= kMostRegions)
      throw Refused("regions are to be numbered from 0 on, at most 256");
    // Reading where a file has ended, or where there is no huge page for a hole in it, would end
    // the process. Only a seal keeps the owner from it, and the length is known only behind the
    // seal.
    const int seals = fcntl(file, F_GET_SEALS);
    struct statfs system {};
    if (seals < 0 || fstatfs(file, &system) != 0 || system.f_type == HUGETLBFS_MAGIC)
      throw Refused(
          "a region has to be a memfd of ordinary pages (DPDK's driver makes one with "
          "zero-copy=no)");
    if ((seals & F_SEAL_SHRINK) == 0)
      throw Refused("a region's file is not sealed against shrinking (F_SEAL_SHRINK)");
    struct stat status {};
    if (fstat(file, &status) != 0 || region.bytes == 0 ||
        static_cast<uint64_t>(status.st_size) < region.bytes)
      throw Refused("a region's file is shorter than the region");
    map(file, region.bytes);
  } catch (const std::system_error& error) {
    close(file);
    throw Refused(error.what());
  } catch (...) {
    if (file >= 0) close(file);
    throw;
  }
}

void Memory::add(const AddRing& place, int event) {
  const auto way = (place.flags & AddRing::kToServer) != 0 ? Way::to_server : Way::to_client;
  std::vector<Ring>& rings = rings_[static_cast<size_t>(way)];
  const uint32_t size = 1u << std::min<uint32_t>(place.ring_bits, kMostRingBits);
  const auto bytes = static_cast<uint32_t>(sizeof(RingHeader) + sizeof(Descriptor) * size);
  uint8_t* const memory = at(place.region, place.offset, bytes);
  const char* reason = nullptr;
  if (event < 0)
    reason = "a ring without its eventfd";
  else if (place.index != rings.size() || place.index >= kMostQueues)
    reason = "rings are to be numbered from 0 on";
  else if (place.ring_bits > kMostRingBits || place.private_header != 0)
    reason = "rings have at most 2^14 descriptors and no header of their own";
  else if (memory == nullptr || place.offset % sizeof(Descriptor) != 0)
    reason = "a ring does not lie in its region";
  else if (reinterpret_cast<RingHeader*>(memory)->cookie != kCookie)
    reason = "a ring without memif's cookie";
  if (reason != nullptr) {
    if (event >= 0) close(event);
    throw Refused(reason);
  }
  rings.push_back({reinterpret_cast<RingHeader*>(memory), size, event, nullptr, place});
}

std::shared_ptr<Memory> Memory::make(uint32_t queues, uint32_t ring_bits, uint32_t buffer_bytes) {
  const uint64_t size = uint64_t{1} << ring_bits;
  const uint64_t ring_bytes = sizeof(RingHeader) + sizeof(Descriptor) * size;
  const uint64_t buffers = round_up(kWays * queues * ring_bytes);
  const uint64_t bytes = buffers + kWays * queues * size * buffer_bytes;
  if (bytes > UINT32_MAX) {
    errno = ENOMEM;
    fail("a memif has at most 4 GiB; give it smaller rings (rsize) or buffers (bsize)");
  }
  auto made = std::make_shared<Memory>();
  const int file = memfd_create("stackcost-memif", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  if (file < 0) fail("shared memory");
  try {
    if (ftruncate(file, static_cast<off_t>(bytes)) != 0 ||
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
      fail("shared memory");
    made->map(file, bytes);
  } catch (...) {
    close(file);
    throw;
  }
  uint32_t number = 0;
  for (const Way way : {Way::to_server, Way::to_client})
    for (uint32_t queue = 0; queue < queues; ++queue, ++number) {
      const int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
      if (event < 0) fail("eventfd");
      const auto place = static_cast<uint32_t>(number * ring_bytes);
      auto* const header = reinterpret_cast<RingHeader*>(made->regions_[0].memory + place);
      header->cookie = kCookie;
      const uint64_t first = buffers + number * size * buffer_bytes;
      for (uint32_t slot = 0; slot < size; ++slot)
        header->descriptors[slot] = {
            0, 0, buffer_bytes, static_cast<uint32_t>(first + uint64_t{slot} * buffer_bytes), 0};
      const AddRing ring{way == Way::to_server ? AddRing::kToServer : uint16_t{0},
                         static_cast<uint16_t>(queue),
                         0,
                         place,
                         static_cast<uint8_t>(ring_bits),
                         0};
      made->add(ring, event);
      made->rings_[static_cast<size_t>(way)].back().buffers = made->regions_[0].memory + first;
    }
  return made;
}

}  // namespace engine::memif
