#include "tls/connection.h"

#include <algorithm>

namespace engine::tls {

namespace {

TlsCore& tls_core_of(BIO* bio) {
  return *static_cast<TlsCore*>(BIO_get_data(bio));
}

int write_bytes(BIO* bio, const char* bytes, size_t length, size_t* written) {
  RawBytes& output = tls_core_of(bio).output;
  output.insert(output.end(), bytes, bytes + length);
  *written = length;
  return 1;
}

int read_bytes(BIO* bio, char* bytes, size_t length, size_t* read) {
  std::span<const uint8_t>& input = tls_core_of(bio).input;
  BIO_clear_retry_flags(bio);
  if (input.empty()) {
    BIO_set_retry_read(bio);
    *read = 0;
    return -1;
  }
  *read = std::min(length, input.size());
  std::copy_n(input.begin(), *read, bytes);
  input = input.subspan(*read);
  return 1;
}

long control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* make_method() {
  BIO_METHOD* const method =
      BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stackcost stream");
  BIO_meth_set_write_ex(method, write_bytes);
  BIO_meth_set_read_ex(method, read_bytes);
  BIO_meth_set_ctrl(method, control);
  return method;
}

}  // namespace

TlsCore::TlsCore(uint32_t most_connections) : connections(most_connections) {
  static BIO_METHOD* const method = make_method();
  bio.reset(BIO_new(method));
  BIO_set_data(bio.get(), this);
  BIO_set_init(bio.get(), 1);
  output.reserve(2 * SealedBuffers::kLarge);
}

std::optional<TlsCore::Due> TlsCore::take_due() {
  while (!due.empty()) {
    const Due first = due.front();
    due.pop_front();
    if (connections[first.connection].ticket == first.ticket) return first;
  }
  return std::nullopt;
}

}  // namespace engine::tls
