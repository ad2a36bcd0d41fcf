#pragma once
// Who opens the next flow and towards whom: client addresses with their ports, server addresses.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "astf/address_ranges.h"
#include "astf/profile.h"
#include "net/steering.h"

namespace engine {

/// The contiguous part of `range` that data core `thread` of `threads` (in `pairs` port pairs)
/// owns, pair offset applied (TRex: thread t serves pair t mod pairs). A server range with fewer
/// addresses than cores is shared: they take its addresses in turn (TRex's software mode). Throws
/// ProfileError when a client range has fewer, or when pairs would use the same addresses.
struct AddressSlice {
  uint32_t first = 0;
  uint32_t count = 0;
};
AddressSlice slice_of(const AddressRange& range, uint32_t thread, uint32_t threads, uint32_t pairs);

/// Client addresses of one core, each with its source ports 1024 to 63999 (4791 left out).
/// Round-robin over addresses; per address a pseudo-random first port, then the next free one.
class ClientPool {
 public:
  static constexpr uint16_t kFirstPort = 1024;
  static constexpr uint16_t kPortLimit = 64000;    ///< one past the last
  static constexpr uint16_t kReservedPort = 4791;  ///< RoCE v2: some devices keep it to themselves

  /// `start_offset`: how many ports every client begins beyond its first one. A peer keeps ports of
  /// an earlier run in TIME_WAIT; pass next_offset() of the pool that used these addresses before.
  ClientPool(AddressSlice slice, uint32_t thread, const Steering& steering,
             uint32_t start_offset = 0);
  ~ClientPool();

  /// The client whose turn it is.
  uint32_t next_address() {
    const uint32_t index = next_;
    if (++next_ == slice_.count) next_ = 0;
    return slice_.first + index;
  }
  /// Has the next `next_address` pass over clients in `others`. False: all are.
  bool pass_over(const AddressRanges& others);
  /// Takes the next port of a client whose flow belongs to this core. `rest`: the fold (Steering)
  /// of all else that the flow has. False when there is no free port near the client's position
  /// (more than 20 taken in a row): the flow is then not opened (err_c_tuple_err).
  bool take_port(uint32_t address, uint16_t& port, uint16_t rest = 0);
  /// Frees what was taken.
  void give_back(uint32_t address, uint16_t port);

  const Steering& steering() const { return steering_; }
  uint32_t first_address() const { return slice_.first; }
  uint32_t address_count() const { return slice_.count; }
  uint64_t ports_in_use() const { return in_use_; }
  /// The offset from which a later pool over these addresses uses the ports left alone for longest.
  uint32_t next_offset() const;
  /// Bytes held, of addresses never used none.
  size_t memory() const;

 private:
  struct Client;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  void begin(Client& client, uint32_t index);
  /// Marks this core's next free port as taken; returns it, counted from kFirstPort, or, where
  /// there is none, the number of ports. `known`: the fold of all but that port.
  uint32_t search(Client& client, uint16_t known);
  bool mark(Client& client, uint32_t position);
  void grow(Client& client);

  AddressSlice slice_;
  uint32_t thread_;
  Steering steering_;
  uint32_t start_offset_;
  uint32_t next_ = 0;
  uint64_t in_use_ = 0;
  uint64_t taken_ = 0;
  uint64_t table_bytes_ = 0;
  uint32_t used_clients_ = 0;
  std::unique_ptr<Client[], Free> clients_;
};

/// Server addresses of one core, taken in turn.
class ServerPool {
 public:
  explicit ServerPool(AddressSlice slice) : slice_(slice) {}
  uint32_t take() {
    uint32_t address = slice_.first + next_;
    if (++next_ == slice_.count) next_ = 0;
    return address;
  }
  uint32_t address_count() const { return slice_.count; }

 private:
  AddressSlice slice_;
  uint32_t next_ = 0;
};

}  // namespace engine
