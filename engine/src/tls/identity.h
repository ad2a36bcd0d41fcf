#pragma once
// A server's key and certificate as the library has them.

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>

#include "tls/options.h"

namespace engine::tls {

/// Frees an object of the library.
template <auto free>
struct Freeing {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};

/// Immutable; shared by all cores.
class Identity {
 public:
  Identity(CertificateKind kind, const std::string& name);

  EVP_PKEY* key() const { return key_.get(); }
  X509* certificate() const { return certificate_.get(); }

 private:
  std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>> key_;
  std::unique_ptr<X509, Freeing<X509_free>> certificate_;
};

}  // namespace engine::tls
