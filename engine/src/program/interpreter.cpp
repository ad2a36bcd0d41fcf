#include "program/interpreter.h"

#include <algorithm>

#include "flow/latency.h"
#include "program/program.h"
#include "udp/udp.h"

namespace engine::program {

namespace {

/// Commands in a row without waiting after which a program pauses for a tick (TRex: 1000).
constexpr unsigned kWatchdog = 1000;
/// Pauses in a row, of a program that did nothing in between, after which it is taken for endless.
constexpr unsigned kMostPauses = 1000;
/// Clock of tick variables in user counters (TRex: 10 ms).
constexpr Nanoseconds kUserTick = 10 * kMillisecond;

void wait_for(Context& context, Flow& flow, Nanoseconds duration) {
  flow.wait = Wait::time;
  context.wheel.arm(flow, TimerKind::program, context.tick, ticks_for(duration));
}

/// Non-blocking tx goes on when the rest fits the transmit buffer; once it had to wait, when half
/// of the buffer is free, so that it is not woken by every ACK.
bool has_space(Context& context, const Flow& flow) {
  const uint32_t buffer = context.classes[flow.flow_class]->tunables->transmit_buffer;
  const uint32_t unacknowledged = tcp::unacknowledged(flow);
  return flow.wait == Wait::space ? unacknowledged <= buffer / 2 : unacknowledged < buffer;
}

/// Of a flow whose program has a command that needs them (Program::uses_variables): it got them
/// when it was opened, or when its template was known.
VariableBlock& variables_of(Context& context, Flow& flow) {
  return context.variables[flow.variables];
}

uint64_t& user_counter(const FlowClass& template_side, uint32_t index) {
  return template_side.counters->values[static_cast<size_t>(Counter::user_counter_A) + index];
}

/// The watchdog's. Never inlined: as part of the packet's way it would take
/// registers.
[[gnu::noinline]] Outcome pause(Context& context, Flow& flow) {
  wait_for(context, flow, 1);
  flow.wait = Wait::nothing;
  flow.pauses = 0;
  return Outcome::goes_on;
}

/// `connected`: or a program that needs no connection.
[[gnu::always_inline]] inline Outcome run_program(Context& context, FlowClass& template_side,
                                                  Flow& flow, bool connected) {
  const Command* const commands = template_side.program->commands.data();
  const Command* next = commands + flow.program_counter;
  for (unsigned step = 0; step < kWatchdog; ++step) {
    const Command& command = *next;
    const auto jump = [&] {  // it never waited
      flow.program_counter = static_cast<uint16_t>(command.target);
      next = commands + command.target;
    };
    if (!connected && needs_connection(command.operation)) {
      flow.wait = Wait::connected;
      return Outcome::goes_on;
    }
    switch (command.operation) {
      case Operation::tx:
        if (flow.wait != Wait::acknowledged && flow.wait != Wait::space)
          tcp::queue(context, template_side, flow, command.index);
        if (flow.has(kNonBlocking) ? !has_space(context, flow) : tcp::unacknowledged(flow) != 0) {
          flow.wait = flow.has(kNonBlocking) ? Wait::space : Wait::acknowledged;
          return Outcome::goes_on;
        }
        break;
      case Operation::rx:
      case Operation::rx_msg:
        if (flow.rx_available < command.amount) {
          flow.wait = Wait::received;
          return Outcome::goes_on;
        }
        flow.rx_available = command.flag ? 0 : flow.rx_available - command.amount;
        break;
      case Operation::tx_msg:
        if (udp::send(context, flow, command.index)) break;
        wait_for(context, flow, kNoFrameRetry);
        return Outcome::goes_on;
      case Operation::keepalive:
        udp::set_idle(context, flow,
                      static_cast<uint32_t>(std::min<uint64_t>(command.amount, UINT32_MAX)),
                      command.flag);
        break;
      case Operation::close_msg:
        latency::record(context, template_side, flow, LatencyKind::completion);
        return Outcome::release;
      case Operation::delay:
      case Operation::delay_rnd: {
        if (flow.wait == Wait::time) break;  // it is over
        const uint64_t microseconds = command.operation == Operation::delay
                                          ? command.amount
                                          : context.random.between(command.amount, command.amount2);
        wait_for(context, flow, static_cast<Nanoseconds>(microseconds) * kMicrosecond);
        return Outcome::goes_on;
      }
      case Operation::connect:
        break;
      case Operation::reset:
        if (!tcp::abort(context, flow)) {
          wait_for(context, flow, kNoFrameRetry);
          return Outcome::goes_on;
        }
        latency::record(context, template_side, flow, LatencyKind::completion);
        return Outcome::release;
      case Operation::nc:
        if (!flow.has(kPeerFin)) {
          flow.wait = Wait::peer_close;
          return Outcome::goes_on;
        }
        flow.wait = Wait::ended;
        latency::record(context, template_side, flow, LatencyKind::completion);
        tcp::close(context, template_side, flow);
        return Outcome::goes_on;
      case Operation::set_var:
        variables_of(context, flow).values[command.index] = command.amount;
        break;
      case Operation::add_var:
        variables_of(context, flow).values[command.index] += command.amount;
        break;
      case Operation::set_tick_var:
        variables_of(context, flow).times[command.index] = context.now;
        break;
      case Operation::add_tick_var:
        variables_of(context, flow).times[command.index] += static_cast<int64_t>(command.amount);
        break;
      case Operation::jmp_nz:
        if (--variables_of(context, flow).values[command.index] == 0) break;
        jump();
        continue;
      case Operation::jmp_dp:
        if (context.now - variables_of(context, flow).times[command.index] >=
            static_cast<int64_t>(command.amount))
          break;
        jump();
        continue;
      case Operation::jmp_cmp:
        if (command.comparison != Comparison::always &&
            !holds(command.comparison, variables_of(context, flow).values[command.index],
                   command.amount))
          break;
        jump();
        continue;
      case Operation::add_stats:
        user_counter(template_side, command.index) += command.amount;
        break;
      case Operation::add_tick_stats:
        user_counter(template_side, command.index) += static_cast<uint64_t>(
            (context.now - variables_of(context, flow).times[command.amount]) / kUserTick);
        break;
      case Operation::tx_mode:
        if (command.flag)
          flow.set(kNonBlocking);
        else
          flow.clear(kNonBlocking);
        break;
      case Operation::set_template:
        variables_of(context, flow).next_group = command.index;
        break;
      case Operation::exec_template:
        // The flow is opened from the timer, so that chains of them do not recurse.
        if (flow.wait == Wait::time || variables_of(context, flow).next_group == 0) break;
        wait_for(context, flow, 1);
        flow.wait = Wait::execution;
        return Outcome::goes_on;
      case Operation::end:
        flow.wait = Wait::ended;
        latency::record(context, template_side, flow, LatencyKind::completion);
        if (flow.state == FlowState::datagram) return Outcome::release;
        tcp::close(context, template_side, flow);
        return Outcome::goes_on;
      default:  // there are no others, and the compiler need not look for them
        __builtin_unreachable();
    }
    flow.wait = Wait::nothing;
    ++flow.program_counter;
    ++next;
  }
  return pause(context, flow);
}

/// For whoever is not on the packet's way.
[[gnu::noinline]] Outcome run(Context& context, Flow& flow) {
  FlowClass& template_side = context.class_of(flow);
  return run_program(context, template_side, flow,
                     !template_side.program->stream || flow.has(kEverEstablished));
}

/// What a program did that others notice. The class's counters change by no other flow while it
/// runs.
struct Deeds {
  uint32_t queued;
  uint64_t received;
  uint64_t datagrams;
  bool operator==(const Deeds&) const = default;
};

Deeds deeds_of(Context& context, const Flow& flow) {
  const CounterBlock& counters = *context.class_of(flow).counters;
  return {flow.snd_end, flow.rx_available, counters[Counter::udps_sndpkt]};
}

/// Ends what the program would never end. Without a frame buffer for the RST, later.
Outcome give_up(Context& context, Flow& flow) {
  FlowClass& template_side = context.class_of(flow);
  if (template_side.program->stream) {
    if (!tcp::abort(context, flow)) {
      wait_for(context, flow, kNoFrameRetry);
      flow.wait = Wait::nothing;
      return Outcome::goes_on;
    }
    ++(*template_side
            .counters)[flow.has(kEverEstablished) ? Counter::tcps_drops : Counter::tcps_conndrops];
  }
  return Outcome::endless;
}

/// Goes on after a pause by the watchdog.
Outcome run_after_pause(Context& context, Flow& flow) {
  const Deeds before = deeds_of(context, flow);
  const unsigned pauses = flow.pauses;
  const Outcome outcome = run(context, flow);
  const bool paused = outcome == Outcome::goes_on && flow.wait == Wait::nothing;
  if (!paused || deeds_of(context, flow) != before || context.class_of(flow).program->asks_clock)
    return outcome;
  flow.pauses = static_cast<uint16_t>(std::min(pauses + 1, kMostPauses));
  return flow.pauses < kMostPauses ? outcome : give_up(context, flow);
}

}  // namespace

Outcome proceed(Context& context, FlowClass& template_side, Flow& flow) {
  return run_program(context, template_side, flow, true);
}

Outcome start(Context& context, FlowClass& template_side, Flow& flow) {
  if (template_side.program->connects_first && !flow.has(kEverEstablished)) {
    flow.wait = Wait::connected;
    return Outcome::goes_on;
  }
  return run(context, flow);
}

Outcome wake(Context& context, Flow& flow, tcp::Events events) {
  return wakes(flow, events) ? run(context, flow) : Outcome::goes_on;
}

void resume(Context& context, Flow& flow) {
  wait_for(context, flow, 1);
}

Outcome wake_from_delay(Context& context, Flow& flow) {
  if (flow.wait == Wait::nothing) return run_after_pause(context, flow);
  return flow.wait == Wait::time ? run(context, flow) : Outcome::goes_on;
}

}  // namespace engine::program
