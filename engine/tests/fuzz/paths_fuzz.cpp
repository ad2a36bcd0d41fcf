// The fast path of TCP beside the slow one: two pairs of data cores, of which one takes the slow
// path alone, carry the same connections through the same trouble, and send the same frames at the
// same times. Input is a script: each step lets time pass, loses frames, withholds frame buffers,
// or sends a frame of before once more, with changed bytes. script/fuzz builds and runs it.

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "fuzz/script.h"
#include "json/parse_profile.h"
#include "netsim/netsim.h"

namespace {

using namespace engine;
using namespace engine::netsim;

/// What the input's first byte chooses.
enum Setting : uint8_t { kBare = 1, kIpv6 = 2, kTagged = 4, kLong = 8 };

std::shared_ptr<const Profile> profile_of(uint8_t settings) {
  HttpLike http{.response = (settings & kLong) != 0 ? 20'000u : 100u, .cps = 1000, .limit = 6};
  if ((settings & kBare) != 0) http.client_tcp = http.server_tcp = R"({"do_rfc1323":0})";
  return parse_profile(profile(http), (settings & kIpv6) != 0);
}

struct Sent {
  Nanoseconds time;
  Side from;
  std::vector<uint8_t> bytes;

  bool operator==(const Sent&) const = default;
};

class Ends {
 public:
  Ends(uint8_t settings, bool only_slow_path)
      : network({.offloads = {.checksum = true},
                 .max_flows = 32,
                 .wire_bytes = size_t{256} << 10,
                 .burst = 8,
                 .only_slow_path = only_slow_path,
                 .tags = vlan_tags((settings & kTagged) != 0 ? 100 : 0,
                                   (settings & kBare) != 0 ? 30 : 0)},
                profile_of(settings), forever()) {
    network.filter = [this](const Seen& seen) {
      sent.push_back({seen.time, seen.from, seen.bytes});
      return to_lose == 0 || to_lose-- == 0;
    };
  }

  Network network;
  std::vector<Sent> sent;
  int to_lose = 0;
};

enum class Step : uint8_t { wait, lose, memory, repeat, count };

class Pair {
 public:
  explicit Pair(uint8_t settings) : ends_{Ends(settings, false), Ends(settings, true)} {}

  void step(Script& script) {
    const uint8_t head = script.next();
    const Side side = (head & 0x80) != 0 ? Side::server : Side::client;
    const uint8_t how = script.next();
    switch (static_cast<Step>((head & 0x7f) % static_cast<uint8_t>(Step::count))) {
      case Step::lose:
        for (Ends& ends : ends_) ends.to_lose = how % 8;
        return;
      case Step::memory:
        for (Ends& ends : ends_) ends.network.withhold_frames(side, how % 2 == 1);
        return;
      case Step::repeat:
        return repeat(script, how);
      default:
        return wait(16 * kMicrosecond << (how % 15));
    }
  }

  /// Lets all connections end; both pairs have sent and counted the same.
  void end() {
    for (Ends& ends : ends_)
      for (const Side side : {Side::client, Side::server})
        ends.network.withhold_frames(side, false);
    wait(2 * kSecond);
    for (const Side side : {Side::client, Side::server})
      if (ends_[0].network.counters(side).values != ends_[1].network.counters(side).values)
        std::abort();
  }

 private:
  void repeat(Script& script, uint8_t how) {
    const std::vector<Sent>& sent = ends_[0].sent;
    if (sent.empty()) return;
    Sent copy = sent[sent.size() - 1 - how % sent.size()];
    for (int edits = script.next() % 4; edits > 0; --edits) {
      const size_t offset = script.next();
      const uint8_t value = script.next();
      if (offset < copy.bytes.size()) copy.bytes[offset] = value;
    }
    for (Ends& ends : ends_) ends.network.inject(copy.from, copy.bytes);
  }

  void wait(Nanoseconds duration) {
    for (Ends& ends : ends_) ends.network.run_until(ends.network.now() + duration);
    if (ends_[0].sent != ends_[1].sent) std::abort();
  }

  Ends ends_[2];
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Script script(data, std::min<size_t>(size, 2048));
  Pair pair(script.next());
  while (!script.empty()) pair.step(script);
  pair.end();
  return 0;
}
