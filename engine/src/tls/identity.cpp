#include "tls/identity.h"

#include <openssl/ec.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

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

}  // namespace

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
  X509_NAME* const subject = X509_get_subject_name(made);
  require(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(name.data()),
                                     static_cast<int>(name.size()), -1, 0) == 1,
          "the name is not usable");
  X509_set_issuer_name(made, subject);
  const std::string alternative = "DNS:" + name;
  const std::unique_ptr<X509_EXTENSION, Freeing<X509_EXTENSION_free>> names(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative.c_str()));
  require(names != nullptr && X509_add_ext(made, names.get(), -1) == 1, "the name is not usable");
  require(X509_sign(made, key_.get(), EVP_sha256()) != 0, "it could not be signed");
}

std::shared_ptr<const Identity> make_identity(CertificateKind kind, const std::string& name) {
  return std::make_shared<const Identity>(kind, name);
}

}  // namespace engine::tls
