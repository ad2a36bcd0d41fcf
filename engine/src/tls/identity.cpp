#include "tls/identity.h"

#include <openssl/ec.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cctype>

namespace engine::tls {

namespace {

constexpr size_t kRsaBits = 2048;
constexpr long kValidSeconds = 365L * 24 * 3600;
/// A clock that is a little behind takes the certificate as well.
constexpr long kBackdatedSeconds = 24L * 3600;
constexpr int kVersion3 = 2;

void require(bool done, const char* what) {
  if (!done) throw OptionsError(std::string("TLS certificate: ") + what);
}

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

bool is_in_names(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '-' || byte == '_';
}

}  // namespace

void check_host_name(const std::string& name) {
  constexpr size_t kLongestLabel = 63;
  bool good = name.size() <= kLongestHostName;
  bool of_digits = false;  // the last label, as in an address and in no domain
  for (size_t at = 0; good && at <= name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    const std::string label = name.substr(at, end - at);
    good =
        !label.empty() && label.size() <= kLongestLabel && std::ranges::all_of(label, is_in_names);
    of_digits = label.find_first_not_of("0123456789") == std::string::npos;
    at = end + 1;
  }
  if (!good || of_digits)
    throw OptionsError("TLS sni '" + name +
                       "' is no DNS name: labels of 1 to 63 letters, digits, - and _, with dots "
                       "between, 253 bytes in all, and no address");
}

Identity::Identity(CertificateKind kind, const std::string& name)
    : key_(kind == CertificateKind::p256 ? EVP_EC_gen("P-256") : EVP_RSA_gen(kRsaBits)),
      certificate_(X509_new()) {
  require(key_ != nullptr && certificate_ != nullptr, "no key could be made");
  X509* const made = certificate_.get();
  X509_set_version(made, kVersion3);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), -kBackdatedSeconds);
  X509_gmtime_adj(X509_getm_notAfter(made), kValidSeconds);
  X509_set_pubkey(made, key_.get());
  // A longer name than a common name may be (RFC 5280 appendix A.1) is an alternative name only.
  const std::string common = name.size() <= ub_common_name ? name : "stackcost";
  X509_NAME* const subject = X509_get_subject_name(made);
  require(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, bytes_of(common),
                                     static_cast<int>(common.size()), -1, 0) == 1,
          "the name is not usable");
  X509_set_issuer_name(made, subject);
  // By its parts: the library's texts for extensions have a language of their own.
  const std::unique_ptr<GENERAL_NAMES, Freeing<GENERAL_NAMES_free>> names(
      sk_GENERAL_NAME_new_null());
  std::unique_ptr<ASN1_IA5STRING, Freeing<ASN1_IA5STRING_free>> text(ASN1_IA5STRING_new());
  std::unique_ptr<GENERAL_NAME, Freeing<GENERAL_NAME_free>> alternative(GENERAL_NAME_new());
  require(names != nullptr && text != nullptr && alternative != nullptr &&
              ASN1_STRING_set(text.get(), name.data(), static_cast<int>(name.size())) == 1,
          "there is no memory");
  GENERAL_NAME_set0_value(alternative.get(), GEN_DNS, text.release());
  require(sk_GENERAL_NAME_push(names.get(), alternative.get()) > 0, "there is no memory");
  alternative.release();
  require(X509_add1_ext_i2d(made, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) == 1,
          "the name is not usable");
  require(X509_sign(made, key_.get(), EVP_sha256()) != 0, "it could not be signed");
}

std::shared_ptr<const Identity> make_identity(CertificateKind kind, const std::string& name) {
  return std::make_shared<const Identity>(kind, name);
}

}  // namespace engine::tls
