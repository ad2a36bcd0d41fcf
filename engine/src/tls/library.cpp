#include "tls/library.h"

#include <openssl/err.h>

#include <algorithm>
#include <array>

#include "base/byte_order.h"

namespace engine::tls {

namespace {

constexpr uint8_t kSessionContext[] = "stackcost";

void require(bool done, const std::string& what) {
  if (done) return;
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  throw OptionsError(what + ": " + text.data());
}

Library& library_of(const SSL* ssl) {
  return *static_cast<Library*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(':', at), list.size());
    names.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

std::string library_version() {
  return OpenSSL_version(OPENSSL_VERSION_STRING);
}

/// The number of a suite by the library's name; 0: it has none. Shorthands for several are no name.
uint32_t suite_number(SSL_CTX* context, const std::string& name) {
  const bool newer = SSL_CTX_set_ciphersuites(context, name.c_str()) == 1;
  const bool older = SSL_CTX_set_cipher_list(context, name.c_str()) == 1;
  ERR_clear_error();
  if (name.empty() || !(newer || older)) return 0;
  const STACK_OF(SSL_CIPHER)* const suites = SSL_CTX_get_ciphers(context);
  for (int i = 0; i < sk_SSL_CIPHER_num(suites); ++i)
    if (const SSL_CIPHER* const suite = sk_SSL_CIPHER_value(suites, i);
        name == SSL_CIPHER_get_name(suite))
      return SSL_CIPHER_get_id(suite);
  return 0;
}

/// TLS 1.3 has suites of its own (RFC 8446 appendix B.4).
bool is_of_tls13(uint32_t suite) {
  return (suite & 0xff00) == 0x1300;
}

/// Records in bytes that the library wrote.
uint64_t records_in(std::span<const uint8_t> bytes) {
  uint64_t records = 0;
  for (; bytes.size() >= Records::kHeader; ++records)
    bytes = bytes.subspan(
        std::min(bytes.size(), Records::kHeader + load_be<uint16_t>(bytes.data() + 3)));
  return records;
}

}  // namespace

// RFC 6066 section 4: 512 bytes, 1,024, 2,048 or 4,096.
size_t longest_fragment(const SSL* ssl) {
  const uint8_t mode = SSL_SESSION_get_max_fragment_length(SSL_get_session(ssl));
  return mode >= 1 && mode <= 4 ? size_t{256} << mode : size_t{TlsCore::kRecord};
}

Library::Library(Side side, const Options& options, TlsCounts& counts, TlsCore& tls_core)
    : side_(side),
      counts_(counts),
      tls_core_(tls_core),
      server_name_(options.server_name),
      key_log_(options.key_log),
      wants_tickets_(side == Side::client && options.resumption),
      context_(SSL_CTX_new(side == Side::client ? TLS_client_method() : TLS_server_method())) {
  require(context_ != nullptr, "TLS");
  if (!options.alpn.empty())
    protocol_ = std::string(1, static_cast<char>(options.alpn.size())) + options.alpn;
  configure(options);
  side == Side::client ? configure_client(options) : configure_server(options);
}

void Library::configure(const Options& options) {
  SSL_CTX* const context = context_.get();
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_set_info_callback(context, on_alert);
  SSL_CTX_set_keylog_callback(context, on_key);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_min_proto_version(
      context, options.version == Version::tls13 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(
      context, options.version == Version::tls12 ? TLS1_2_VERSION : TLS1_3_VERSION);
  if (!options.groups.empty()) {
    for (const std::string& name : names_in(options.groups)) {
      if (SSL_CTX_set1_groups_list(context, name.c_str()) == 1) continue;
      ERR_clear_error();
      throw OptionsError("TLS group '" + name + "': OpenSSL " + library_version() + " has none");
    }
    require(SSL_CTX_set1_groups_list(context, options.groups.c_str()) == 1,
            "TLS groups '" + options.groups + "'");
  }
  if (!options.ciphers.empty()) set_suites(options);
  if (!options.resumption) SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
}

// The library keeps the suites of 1.3 apart from those before, and takes no list of both.
void Library::set_suites(const Options& options) {
  SSL_CTX* const context = context_.get();
  const std::unique_ptr<SSL_CTX, Freeing<SSL_CTX_free>> probe(SSL_CTX_new(TLS_method()));
  require(probe != nullptr, "TLS");
  std::string newer, older;
  for (const std::string& name : names_in(options.ciphers)) {
    const uint32_t suite = suite_number(probe.get(), name);
    if (suite == 0)
      throw OptionsError("TLS cipher '" + name + "': OpenSSL " + library_version() +
                         " has no suite of that name");
    const bool is_newer = is_of_tls13(suite);
    if (options.version == (is_newer ? Version::tls12 : Version::tls13))
      throw OptionsError("TLS cipher '" + name + "' is of TLS " + (is_newer ? "1.3" : "1.2") +
                         ", and the version is to be " + (is_newer ? "1.2" : "1.3"));
    std::string& list = is_newer ? newer : older;
    list += (list.empty() ? "" : ":") + name;
  }
  if (older.empty())
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  else
    require(SSL_CTX_set_cipher_list(context, older.c_str()) == 1, "TLS ciphers '" + older + "'");
  if (newer.empty())
    SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
  else
    require(SSL_CTX_set_ciphersuites(context, newer.c_str()) == 1, "TLS ciphers '" + newer + "'");
}

void Library::configure_client(const Options& options) {
  SSL_CTX* const context = context_.get();
  // Else the library builds and checks a chain that nobody asks for.
  SSL_CTX_set_cert_verify_callback(
      context, [](X509_STORE_CTX*, void*) { return 1; }, nullptr);
  SSL_CTX_set_session_cache_mode(context, options.resumption
                                              ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
                                              : SSL_SESS_CACHE_OFF);
  SSL_CTX_sess_set_new_cb(context, on_ticket);
  if (!protocol_.empty())
    require(
        SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(protocol_.data()),
                                static_cast<unsigned>(protocol_.size())) == 0,
        "TLS ALPN");
}

void Library::configure_server(const Options& options) {
  SSL_CTX* const context = context_.get();
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // tickets have all that is needed
  SSL_CTX_set_session_id_context(context, kSessionContext, sizeof kSessionContext - 1);
  if (!options.resumption) SSL_CTX_set_num_tickets(context, 0);
  if (!protocol_.empty()) SSL_CTX_set_alpn_select_cb(context, choose_protocol, this);
  require(options.identity != nullptr &&
              SSL_CTX_use_certificate(context, options.identity->certificate()) == 1 &&
              SSL_CTX_use_PrivateKey(context, options.identity->key()) == 1,
          "TLS certificate");
}

void Library::connect(TlsConnection& connection) {
  SSL* const ssl = connection.ssl = SSL_new(context_.get());
  if (ssl == nullptr) throw std::bad_alloc();
  SSL_set_app_data(ssl, &connection);
  BIO* const bio = tls_core_.bio.get();
  BIO_up_ref(bio);
  SSL_set_bio(ssl, bio, bio);  // for both ways, which takes one reference
  if (side_ == Side::server) {
    SSL_set_accept_state(ssl);
    return;
  }
  SSL_set_connect_state(ssl);
  if (!server_name_.empty()) SSL_set_tlsext_host_name(ssl, server_name_.c_str());
  if (ticket_ != nullptr) SSL_set_session(ssl, ticket_.get());
}

// Tickets come after the handshake, and only the library can read what they are for.
void Library::leave(TlsConnection& connection) {
  // RFC 5077 section 3.3: a server may give another ticket as it takes one. The library keeps that
  // in the session, tells nobody, and lets the old one be used no more.
  if (wants_tickets_ && SSL_version(connection.ssl) != TLS1_3_VERSION &&
      SSL_session_reused(connection.ssl) == 1)
    ticket_.reset(SSL_get1_session(connection.ssl));
  const Suite suite = suite_of(connection.ssl);
  // Shorter records than usual are the library's to make.
  if (wants_tickets_ || suite == Suite::none ||
      longest_fragment(connection.ssl) != TlsCore::kRecord)
    return;
  tls_core_.records.begin(connection.protection, suite);
  // What a server writes in its last step are tickets.
  if (side_ == Side::server) connection.protection.sent.sequence = records_in(tls_core_.output);
  connection.free_library();
}

bool Library::has_protocol(const SSL* ssl) const {
  if (side_ == Side::server || protocol_.empty()) return true;
  const unsigned char* chosen = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(ssl, &chosen, &length);
  return length != 0;  // the library takes nothing that was not offered
}

void Library::on_alert(const SSL* ssl, int where, int value) {
  if ((where & SSL_CB_ALERT) == 0) return;
  const int alert = value & 0xff;
  if (alert == SSL_AD_CLOSE_NOTIFY) return;
  Library& self = library_of(ssl);
  ++self.alerts_;
  ++((where & SSL_CB_READ) != 0 ? self.counts_.alerts_received
                                : self.counts_.alerts_sent)[static_cast<size_t>(alert)];
}

void Library::on_key(const SSL* ssl, const char* line) {
  Library& self = library_of(ssl);
  const std::string_view text(line);
  static_cast<TlsConnection*>(SSL_get_app_data(ssl))->protection.take_secret(self.side_, text);
  if (!self.key_log_) return;
  std::string& keys = self.tls_core_.keys;
  if (keys.size() + text.size() < TlsCore::kKeysBudget)
    keys.append(text).push_back('\n');
  else
    ++self.counts_.keys_not_kept;
}

// 1: the ticket is kept.
int Library::on_ticket(SSL* ssl, SSL_SESSION* ticket) {
  library_of(ssl).ticket_.reset(ticket);
  return 1;
}

int Library::choose_protocol(SSL*, const unsigned char** chosen, unsigned char* length,
                             const unsigned char* offered, unsigned int offered_length,
                             void* self) {
  const std::string& wanted = static_cast<const Library*>(self)->protocol_;
  unsigned char* found = nullptr;
  const int outcome =
      SSL_select_next_proto(&found, length, reinterpret_cast<const unsigned char*>(wanted.data()),
                            static_cast<unsigned>(wanted.size()), offered, offered_length);
  *chosen = found;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

}  // namespace engine::tls
