#pragma once
// Programs: what one side of a flow does, as a list of commands (TRex ASTF, profile JSON
// program_list).

#include <cstdint>
#include <vector>

namespace engine {

enum class Operation : uint8_t {
  tx,              ///< append buffer `index` to the stream
  rx,              ///< wait for `amount` more bytes (already a difference) and consume these;
                   ///< `flag`: then discard what was received beyond them
  tx_msg,          ///< send buffer `index` as a datagram
  rx_msg,          ///< wait for `amount` more datagrams (already a difference); `flag` as for rx
  keepalive,       ///< UDP idle time `amount` ms; `flag`: only received datagrams refresh it
  close_msg,       ///< UDP: end the flow
  delay,           ///< wait `amount` microseconds
  delay_rnd,       ///< wait a uniform random time of `amount` to `amount2` microseconds
  connect,         ///< wait until established
  reset,           ///< abort with RST
  nc,              ///< no active close: wait for the peer's FIN
  set_var,         ///< variable `index` = amount
  add_var,         ///< variable `index` += amount (64-bit wrap)
  set_tick_var,    ///< tick variable `index` = now
  add_tick_var,    ///< tick variable `index` += amount (ns)
  jmp_nz,          ///< variable `index` -= 1; not zero: go to `target`
  jmp_dp,          ///< now - tick variable `index` < amount (ns): go to `target`
  jmp_cmp,         ///< compare variable `index` (none: always) with amount: go to `target`
  add_stats,       ///< user counter `index` += amount
  add_tick_stats,  ///< user counter `index` += 10 ms ticks since tick variable `amount`
  tx_mode,         ///< `flag`: non-blocking tx
  set_template,    ///< template group `index` for the next exec_template
  exec_template,   ///< run a flow of that group, go on when it has closed
  end,             ///< past the last command: close gracefully (UDP: remove)
};

/// Whether a command needs the connection to be up.
constexpr bool needs_connection(Operation operation) {
  switch (operation) {
    case Operation::tx:
    case Operation::rx:
    case Operation::connect:
    case Operation::reset:
    case Operation::nc:
    case Operation::end:
      return true;
    default:
      return false;
  }
}

enum class Comparison : uint8_t {
  always,
  greater,
  less,
  equal,
  greater_equal,
  less_equal,
  not_equal
};

/// Whether `left` and `right` compare so.
inline bool holds(Comparison comparison, uint64_t left, uint64_t right) {
  switch (comparison) {
    case Comparison::always:
      return true;
    case Comparison::greater:
      return left > right;
    case Comparison::less:
      return left < right;
    case Comparison::equal:
      return left == right;
    case Comparison::greater_equal:
      return left >= right;
    case Comparison::less_equal:
      return left <= right;
    case Comparison::not_equal:
      return left != right;
  }
  return false;
}

/// One command. Which fields count is said at each Operation.
struct Command {
  Operation operation = Operation::end;
  bool flag = false;
  Comparison comparison = Comparison::always;
  uint32_t index = 0;   ///< buffer, variable, counter or group
  uint32_t target = 0;  ///< absolute index of a command
  uint64_t amount = 0;
  uint64_t amount2 = 0;
};

/// A validated program. `commands` always ends with Operation::end.
struct Program {
  bool stream = true;           ///< TCP; false: UDP
  bool uses_variables = false;  ///< a flow needs VariableBlock
  bool opens_flows = false;     ///< exec_template
  bool asks_clock = false;      ///< jmp_dp
  bool connects_first = false;  ///< its first command needs the connection to be up, as most do
  std::vector<Command> commands;
};

inline constexpr uint32_t kVariables = 5;  ///< variables, and as many tick variables, of a flow

}  // namespace engine
