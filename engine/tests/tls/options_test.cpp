#include "tls/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/x509v3.h>

#include <set>

#include "tls/endpoint.h"

namespace engine::tls {
namespace {

using testing::HasSubstr;

std::string refusal(const std::function<void()>& asks) {
  try {
    asks();
  } catch (const OptionsError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TlsOptions, ANameOfAHostIsADnsName) {
  const std::string label(63, 'a');
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
  ASSERT_EQ(longest.size(), kLongestHostName);
  for (const std::string& good : {std::string("a"), std::string("engine.test"), longest,
                                  std::string("xn--bcher-kva.example"), std::string("a_b.test1")})
    EXPECT_EQ(refusal([&] { check_host_name(good); }), "accepted") << good;
  for (const std::string& bad :
       {std::string("a,dirName:b"), std::string("a,IP:127.0.0.1"), std::string("127.0.0.1"),
        std::string("::1"), std::string("a..b"), std::string("a."), std::string(".a"),
        std::string(64, 'a'), longest + "a", std::string("a b"), std::string("b\xc3\xbc")})
    EXPECT_THAT(refusal([&] { check_host_name(bad); }), HasSubstr("is no DNS name")) << bad;
}

TEST(TlsOptions, ACertificateHasOneNameOfAnyLength) {
  for (const std::string& name : {std::string("a,dirName:b"), std::string("a,IP:127.0.0.1"),
                                  std::string("engine.test"), std::string(200, 'a')}) {
    const Identity made(CertificateKind::p256, name);
    const std::unique_ptr<GENERAL_NAMES, Freeing<GENERAL_NAMES_free>> names(
        static_cast<GENERAL_NAMES*>(
            X509_get_ext_d2i(made.certificate(), NID_subject_alt_name, nullptr, nullptr)));
    ASSERT_NE(names, nullptr);
    ASSERT_EQ(sk_GENERAL_NAME_num(names.get()), 1);
    const GENERAL_NAME* const only = sk_GENERAL_NAME_value(names.get(), 0);
    ASSERT_EQ(only->type, GEN_DNS);
    const ASN1_IA5STRING* const text = only->d.dNSName;
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                          static_cast<size_t>(ASN1_STRING_length(text))),
              name);
  }
}

TEST(TlsOptions, NoTwoAlertsHaveOneName) {
  std::set<std::string> names;
  for (int alert = 0; alert < 256; ++alert) names.insert(alert_name(static_cast<uint8_t>(alert)));
  EXPECT_EQ(names.size(), 256u);
  EXPECT_EQ(alert_name(116), "certificate required");
  EXPECT_EQ(alert_name(40), "handshake failure");
  EXPECT_EQ(alert_name(200), "alert 200");
}

TEST(TlsOptions, SuitesAndGroupsThatCannotBeHadAreNamed) {
  const auto refused = [](Options options) {
    static const auto tls_core = std::make_unique<TlsCore>(4);
    return refusal([&] {
      TlsCounts counts;
      Library(Side::client, options, counts, *tls_core);
    });
  };
  constexpr const char* kNewer = "TLS_AES_128_GCM_SHA256";
  constexpr const char* kOlder = "ECDHE-ECDSA-AES128-GCM-SHA256";
  EXPECT_EQ(refused({.ciphers = kNewer}), "accepted");
  EXPECT_EQ(refused({.ciphers = std::string(kNewer) + ":" + kOlder}), "accepted");
  EXPECT_THAT(refused({.version = Version::tls13, .ciphers = kOlder}),
              HasSubstr("is of TLS 1.2, and the version is to be 1.3"));
  EXPECT_THAT(refused({.version = Version::tls12, .ciphers = kNewer}),
              HasSubstr("is of TLS 1.3, and the version is to be 1.2"));
  EXPECT_THAT(refused({.ciphers = std::string(kOlder) + ":TYPO"}), HasSubstr("'TYPO'"));
  EXPECT_THAT(refused({.ciphers = "ALL"}), HasSubstr("has no suite of that name"));
  EXPECT_THAT(refused({.groups = "X25519:NOGROUP"}), HasSubstr("'NOGROUP': OpenSSL 3."));
}

}  // namespace
}  // namespace engine::tls
