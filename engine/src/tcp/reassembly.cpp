// Out-of-order payload. Only ranges are kept: what the bytes are is known from the program.

#include <algorithm>

#include "flow/ranges.h"
#include "tcp/internal.h"

namespace engine::tcp {

namespace {

void count_peak(CounterBlock& counters, uint32_t peak) {
  ++counters[Counter::tcps_reasfree];
  if (peak <= 4)
    ++counters[Counter::tcps_reas_hist_4];
  else if (peak <= 16)
    ++counters[Counter::tcps_reas_hist_16];
  else if (peak <= 100)
    ++counters[Counter::tcps_reas_hist_100];
  else
    ++counters[Counter::tcps_reas_hist_other];
}

/// `block` is the first one of the next ACK (RFC 2018 section 4).
void report_first(std::vector<uint32_t>& reported, const SequenceRange& block) {
  std::erase_if(reported, [&block](uint32_t start) {
    return !before(start, block.start) && before(start, block.end);
  });
  reported.insert(reported.begin(), block.start);
  if (reported.size() > kMaxSackBlocks) reported.pop_back();
}

/// False: it was held before, or there is no room to hold it.
bool hold(Context& context, Flow& flow, SequenceRange range) {
  FlowClass& template_side = context.class_of(flow);
  CounterBlock& counters = *template_side.counters;
  Extension& extension = context.extend(flow);
  if (extension.out_of_order.size() >= template_side.tunables->reassembly_limit &&
      !covers(extension.out_of_order, range)) {
    ++counters[Counter::tcps_rcvoopackdrop];
    counters[Counter::tcps_rcvoobytesdrop] += range.end - range.start;
    return false;
  }
  if (!extension.reassembling) {
    extension.reassembling = true;
    extension.out_of_order_peak = 0;
    ++counters[Counter::tcps_reasalloc];
  }
  const bool again = covers(extension.out_of_order, range);
  if (again) {
    ++counters[Counter::tcps_rcvduppack];
    counters[Counter::tcps_rcvdupbyte] += range.end - range.start;
  } else {
    ++counters[Counter::tcps_rcvoopack];
    counters[Counter::tcps_rcvoobyte] += range.end - range.start;
  }
  report_first(extension.reported, insert_range(extension.out_of_order, range));
  extension.out_of_order_peak =
      std::max(extension.out_of_order_peak, static_cast<uint32_t>(extension.out_of_order.size()));
  return !again;
}

}  // namespace

Events reassemble(Context& context, Flow& flow, uint32_t sequence, uint32_t length) {
  CounterBlock& counters = *context.class_of(flow).counters;
  if (sequence != flow.rcv_nxt)
    return hold(context, flow, {sequence, sequence + length}) ? kTaken : kNothing;
  uint32_t delivered = length;
  Extension* extension = context.extension_of(flow);
  if (extension != nullptr && extension->reassembling) {
    uint32_t end = sequence + length;
    auto& ranges = extension->out_of_order;
    remove_before(ranges, end);
    if (!ranges.empty() && ranges.front().start == end) {
      end = ranges.front().end;
      ranges.erase(ranges.begin());
    }
    delivered = end - sequence;
    if (ranges.empty()) {
      extension->reassembling = false;
      count_peak(counters, extension->out_of_order_peak);
    }
  }
  deliver(counters, flow, delivered);
  return kTaken | kDelivered;
}

}  // namespace engine::tcp
