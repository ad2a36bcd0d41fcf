#pragma once
// TLS 1.3 (RFC 8446) and 1.2 (RFC 5246) of one side of one template, by OpenSSL without sockets.
//
// It stands between TCP and the program: `receive` takes the place of tcp::receive_slow_path, and
// what the program queues is encrypted and kept until the peer has acknowledged it. A handshake
// goes on in steps, for which the flow waits in TlsCore::due: whoever drives the core takes them.
// No time and no frame is asked for here. The library draws its random numbers itself, and dates
// tickets by its own clock.

#include <span>

#include "flow/context.h"
#include "net/rx_segment.h"
#include "stats/tls_counts.h"
#include "tcp/tcp.h"
#include "tls/connection.h"
#include "tls/library.h"
#include "tls/options.h"

namespace engine::tls {

/// Who reads along in what was decrypted.
class Reader {
 public:
  /// `position`: bytes of payload that the connection received before.
  virtual void read(Flow& flow, uint64_t position, std::span<const uint8_t> bytes) = 0;

 protected:
  ~Reader() = default;
};

class Endpoint final : public tcp::StreamCoder {
 public:
  /// `profile`: what programs queue from. It and `tls_core` outlive the endpoint. Throws
  /// OptionsError.
  Endpoint(Side side, const Options& options, const std::vector<Buffer>& profile,
           TlsCore& tls_core);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// Takes a segment of `flow`, as tcp::receive_slow_path does, whose events it returns but these:
  /// kEstablished never, kDelivered for payload that is decrypted, kPeerClosed not before a step of
  /// the handshake that is due. `reader`: nullptr: nobody reads along.
  tcp::Events receive(Context& context, Flow& flow, const RxSegment& segment, Reader* reader);
  /// Takes the step of the handshake that is due: the library's work alone.
  void begin_step(Context& context, Flow& flow);
  /// What comes of the step, at the time of its end: the events that `receive` did not return.
  /// kEstablished: the handshake of TLS is complete.
  tcp::Events end_step(Context& context, Flow& flow, Reader* reader);
  void queue(Context& context, Flow& flow, uint32_t buffer) override;
  void close(Context& context, Flow& flow) override;
  /// The flow ends, or has nothing more to send or receive.
  void release(Context& context, Flow& flow);

  const TlsCounts& counts() const { return counts_; }

 private:
  /// What came of one segment or step.
  struct Batch {
    Context& context;
    Flow& flow;
    TlsConnection& connection;
    Reader* reader;
    uint64_t payload = 0;
  };
  bool has_room(const Flow& flow, size_t bytes) const;
  bool may_take(Context& context, const Flow& flow, const RxSegment& segment);
  bool may_begin(const TlsConnection& connection, std::span<const uint8_t> bytes) const;
  TlsConnection& begin(Context& context, Flow& flow);
  TlsConnection* connection_of(Context& context, const Flow& flow);
  void take(Batch& batch, std::span<const uint8_t> bytes);
  void take_held(Batch& batch, uint32_t from);
  void hold(Context& context, Flow& flow, TlsConnection& connection, uint32_t sequence,
            std::span<const uint8_t> bytes);
  void give_back_held(TlsConnection& connection, size_t index);
  void make_due(Context& context, const Flow& flow, TlsConnection& connection);
  void end_due(TlsConnection& connection);
  void give_back_unread(TlsConnection& connection);
  void count_begun(TlsConnection& connection, bool begun);
  void read(Batch& batch);
  void read_by_library(Batch& batch);
  void read_records(Batch& batch);
  void take_record(Batch& batch, std::span<const uint8_t> record);
  void take_end(Batch& batch);
  void take_alert(Batch& batch, std::span<const uint8_t> content);
  void take_payload(Batch& batch, std::span<const uint8_t> payload);
  void refuse(Batch& batch, uint8_t alert);
  void send_alert(TlsConnection& connection, uint8_t alert);
  void end_of_peer(Batch& batch);
  void fail(Batch& batch);
  void release_acknowledged(Context& context, const Flow& flow, TlsConnection& connection);
  void encrypt(Context& context, Flow& flow, TlsConnection& connection);
  void send_output(Context& context, Flow& flow, TlsConnection& connection);
  void write(TlsConnection& connection, std::span<const uint8_t> payload);
  void finish(Context& context, Flow& flow, TlsConnection& connection);

  const Side side_;
  const std::vector<Buffer>& profile_;
  TlsCore& tls_core_;
  TlsCounts counts_;
  Library library_;
};

}  // namespace engine::tls
