// Any bytes, at any time, with any word of the device on their checksums, as frames to the two ends
// of a latency stream: no arithmetic overflows, and what is reported fits together. Input is a
// script: each step starts, stops or paces an end, lets time pass, gives an end raw bytes, or
// carries a frame that the other end sent, with changed bytes, its checksums left or made good.
// script/fuzz builds and runs it.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "fuzz/script.h"
#include "net/checksum.h"
#include "net/latency_stream.h"
#include "net/recording_device.h"

namespace {

using namespace engine;

struct End {
  explicit End(Side side) : stream(side, l2_headers(), queue) {}

  /// One table for all inputs: it takes longer to make than an input to run.
  static const L2HeaderTable& l2_headers() {
    static const L2HeaderTable table(L2Header{{2, 2, 2, 2, 2, 2}, {4, 4, 4, 4, 4, 4}, {}});
    return table;
  }

  RecordingDevice device;
  TransmitQueue queue{device, {}};
  LatencyStream stream;
  Nanoseconds started = 0;
};

enum class Step : uint8_t { start, stop, pace, memory, wait, raw, carry, count };

class Streams {
 public:
  void step(Script& script) {
    const uint8_t head = script.next();
    End& end = head & 0x80 ? server_ : client_;
    switch (static_cast<Step>((head & 0x7f) % static_cast<uint8_t>(Step::count))) {
      case Step::start:
        return start(end, script);
      case Step::stop:
        return end.stream.stop();
      case Step::pace:
        return end.stream.set_interval(interval(script), now_);
      case Step::memory:
        end.device.out_of_memory = script.next() % 2 == 1;
        return;
      case Step::wait:
        return wait(script);
      case Step::raw: {
        const uint8_t checksums = script.next();
        return give(end, script.bytes(script.next()), checksums);
      }
      default:
        return carry(end, script);
    }
  }

 private:
  /// No engine runs for longer: about a year.
  static constexpr Nanoseconds kLongest = Nanoseconds{1} << 55;

  static Nanoseconds interval(Script& script) { return kMillisecond << script.next() % 12; }

  void start(End& end, Script& script) {
    const uint8_t how = script.next();
    end.started = now_;
    end.stream.start({.interval = interval(script),
                      .warm_up = script.next(),
                      .source = 0x10000001,
                      .destination = 0x30000001,
                      .epoch = static_cast<uint8_t>(how / 2),
                      .sends = how % 2 == 1},
                     now_);
  }

  void wait(Script& script) {
    now_ = std::min(now_ + (Nanoseconds{1} << script.next() % 56), kLongest);
    for (End* end : {&client_, &server_}) {
      if (end->stream.next_deadline() <= now_) end->stream.advance(now_);
      end->queue.flush();
    }
  }

  void carry(End& to, Script& script) {
    auto& sent = (&to == &client_ ? server_ : client_).device.sent;
    const uint8_t how = script.next();
    if (sent.empty()) return;
    std::vector<uint8_t> bytes = sent[script.next() % sent.size()];
    for (int edits = how % 8; edits > 0; --edits) {
      const size_t offset = script.next() % bytes.size();
      const std::vector<uint8_t> value = script.bytes(1 + script.next() % 8);
      std::copy_n(value.begin(), std::min(value.size(), bytes.size() - offset),
                  bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    if (how & 8) seal(bytes);
    give(to, std::move(bytes), how >> 4);
  }

  /// Makes the checksums of a frame that an end sent good again.
  static void seal(std::vector<uint8_t>& bytes) {
    for (const auto [begin, length, field] : {std::array{14, 20, 24}, std::array{34, 28, 36}}) {
      store_be<uint16_t>(&bytes[static_cast<size_t>(field)], 0);
      store_be(&bytes[static_cast<size_t>(field)],
               checksum_finish(checksum_add(0, &bytes[static_cast<size_t>(begin)],
                                            static_cast<size_t>(length))));
    }
  }

  void give(End& to, std::vector<uint8_t> bytes, uint8_t checksums) {
    constexpr Checksums kKinds[] = {Checksums::in_frame, Checksums::trusted, Checksums::either};
    Frame frame;
    frame.head = bytes.data();
    frame.head_length = static_cast<uint16_t>(bytes.size());
    frame.payload_length = checksums / 3;  // a cut frame
    frame.checksums = kKinds[checksums % 3];
    const LatencyReport before = to.stream.report();
    const bool taken = to.stream.receive(parse(frame), now_);
    check(to, before, taken);
  }

  /// A frame that was taken has gone into one counter, any other into none.
  void check(const End& end, const LatencyReport& before, bool taken) const {
    const LatencyReport& after = end.stream.report();
    if (total(after) != total(before) + taken) std::abort();
    const DecadeHistogram& histogram = after.histogram;
    if (histogram.count() != after.received || histogram.long_count() > histogram.count())
      std::abort();
    if (histogram.maximum() < 0 || histogram.maximum() > now_ - end.started + kSecond) std::abort();
    if (!(histogram.smoothed_average_ns() >= 0) || !(after.jitter_ns >= 0)) std::abort();
    uint64_t in_buckets = 0;
    for (size_t decade = 0; decade < DecadeHistogram::kDecades; ++decade)
      for (size_t i = 0; i < DecadeHistogram::kBuckets; ++i)
        in_buckets += histogram.bucket(decade, i);
    if (in_buckets != histogram.long_count()) std::abort();
  }

  static uint64_t total(const LatencyReport& report) {
    return report.received + report.out_of_sequence + report.wrong_length + report.bad_ip_sum +
           report.bad_icmp_sum + report.impossible_time;
  }

  Nanoseconds now_ = 0;
  End client_{Side::client};
  End server_{Side::server};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Script script(data, std::min<size_t>(size, 4096));
  Streams streams;
  while (!script.empty()) streams.step(script);
  return 0;
}
