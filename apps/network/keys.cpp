#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/network/grpc_network.h"

namespace linkwork::network_library {

namespace fs = std::filesystem;

std::string contents_of(const std::string& file, const char* what) {
  constexpr std::size_t kLargest = 1U << 20U;
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in || text.empty() || text.size() > kLargest)
    throw std::runtime_error("the " + std::string(what) + " '" + file +
                             "' cannot be read: " + (errno != 0 ? std::strerror(errno) : "it is empty"));
  if (text.find("-----BEGIN ") == std::string::npos)
    throw std::runtime_error("the " + std::string(what) + " '" + file + "' is no PEM file");
  return text;
}

namespace {

template <auto free>
struct Free {
  template <class T>
  void operator()(T* x) const {
    free(x);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, Free<EVP_CIPHER_CTX_free>>;

void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string("OpenSSL cannot ") + what);
}

// --- keys for a trial

Key new_key() {
  Key key(EVP_EC_gen("P-256"));
  check(key != nullptr, "make a key");
  return key;
}

void add_extension(X509& certificate, X509& issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  check(extension != nullptr, "describe a certificate: is a name not one?");
  X509_add_ext(&certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

/// Signed by the issuer, or by itself if there is none.
Certificate new_certificate(EVP_PKEY& key, const std::string& name, const std::string& names, int days, X509* issuer,
                            EVP_PKEY& signer) {
  Certificate certificate(X509_new());
  std::array<unsigned char, 16> serial{};
  check(certificate && RAND_bytes(serial.data(), serial.size()) == 1, "make a certificate");
  serial[0] &= 0x7FU;
  BIGNUM* const number = BN_bin2bn(serial.data(), serial.size(), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.get()));
  BN_free(number);
  X509_set_version(certificate.get(), 2);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), days < 0 ? 86400L * (days - 1) : -300);
  X509_time_adj_ex(X509_getm_notAfter(certificate.get()), days, 0, nullptr);
  X509_set_pubkey(certificate.get(), &key);
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509* const by = issuer != nullptr ? issuer : certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(by));
  add_extension(*certificate, *by, NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE");
  add_extension(*certificate, *by, NID_key_usage,
                issuer == nullptr ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature");
  if (issuer != nullptr) add_extension(*certificate, *by, NID_ext_key_usage, "serverAuth,clientAuth");
  if (!names.empty()) add_extension(*certificate, *by, NID_subject_alt_name, names);
  check(X509_sign(certificate.get(), &signer, EVP_sha256()) > 0, "sign a certificate");
  return certificate;
}

/// Private keys are for their owner only; nothing is replaced.
template <class Write>
std::string write_file(const fs::path& file, int mode, Write write) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (descriptor < 0) throw std::runtime_error("'" + file.string() + "' cannot be made: " + std::strerror(errno));
  FILE* const out = fdopen(descriptor, "w");
  const bool good = write(out) == 1;
  if (std::fclose(out) != 0 || !good) throw std::runtime_error("'" + file.string() + "' cannot be written");
  return file.string();
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (name.empty() || name.find_first_of(",: \n") != std::string::npos)
      if (name.find(':') == std::string::npos || name.find_first_of(", \n") != std::string::npos)
        throw std::runtime_error("'" + name + "' is no name of a host");
    const bool is_address = name.find(':') != std::string::npos || name.find_first_not_of("0123456789.") == std::string::npos;
    text += (text.empty() ? "" : ",") + std::string(is_address ? "IP:" : "DNS:") + name;
  }
  return text;
}

}  // namespace

std::vector<std::string> make_openssl_keys(const std::string& folder, const std::vector<std::string>& names, int days) {
  const fs::path to(folder);
  std::error_code trouble;
  fs::create_directories(to, trouble);
  if (trouble) throw std::runtime_error("the folder '" + folder + "' cannot be made: " + trouble.message());
  const std::string server_names = alternative_names(names);
  for (const char* const file : {"ca.pem", "ca.key", "server.pem", "server.key", "client.pem", "client.key"})
    if (fs::exists(to / file))
      throw std::runtime_error("'" + (to / file).string() +
                               "' is there already, and keys are never replaced: use those, or give another folder");
  const Key authority = new_key();
  const Certificate ca = new_certificate(*authority, "Linkwork trial authority", "", days, nullptr, *authority);
  std::vector<std::string> files;
  const auto write = [&](const std::string& name, EVP_PKEY& key, X509& certificate) {
    files.push_back(write_file(to / (name + ".pem"), 0644, [&](FILE* out) { return PEM_write_X509(out, &certificate); }));
    files.push_back(write_file(to / (name + ".key"), 0600, [&](FILE* out) {
      return PEM_write_PrivateKey(out, &key, nullptr, nullptr, 0, nullptr, nullptr);
    }));
  };
  write("ca", *authority, *ca);
  for (const bool is_server : {true, false}) {
    const Key key = new_key();
    const std::string name = is_server ? names.front() : "linkwork-client";
    const Certificate own =
        new_certificate(*key, name, is_server ? server_names : "DNS:linkwork-client", days, ca.get(), *authority);
    write(is_server ? "server" : "client", *key, *own);
  }
  return files;
}

// --- states that only their host can read

namespace {

constexpr int kNonce = 12, kTag = 16;

/// AES-256 in Galois/counter mode, with a key that follows from the host's private key.
class OpensslSealer : public Sealer {
 public:
  explicit OpensslSealer(const std::string& private_key) {
    const std::string text = "linkwork: states of modules\n" + private_key;
    unsigned size = 0;
    check(EVP_Digest(text.data(), text.size(), key_.data(), &size, EVP_sha256(), nullptr) == 1, "derive a key");
  }

  std::string seal(const std::string& text) const override {
    std::string sealed(kNonce + text.size() + kTag, '\0');
    auto* const out = reinterpret_cast<unsigned char*>(sealed.data());
    const Cipher cipher(EVP_CIPHER_CTX_new());
    int size = 0;
    check(RAND_bytes(out, kNonce) == 1 && EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key_.data(), out) == 1 &&
              EVP_EncryptUpdate(cipher.get(), out + kNonce, &size, bytes(text), static_cast<int>(text.size())) == 1 &&
              EVP_EncryptFinal_ex(cipher.get(), out + kNonce + size, &size) == 1 &&
              EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTag, out + kNonce + text.size()) == 1,
          "seal a state");
    return sealed;
  }

  std::optional<std::string> open(const std::string& sealed) const override {
    if (sealed.size() < kNonce + kTag) return {};
    std::string text(sealed.size() - kNonce - kTag, '\0');
    auto* const out = reinterpret_cast<unsigned char*>(text.data());
    std::string tag = sealed.substr(sealed.size() - kTag);
    const Cipher cipher(EVP_CIPHER_CTX_new());
    int size = 0;
    const bool good = EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key_.data(), bytes(sealed)) == 1 &&
                      EVP_DecryptUpdate(cipher.get(), out, &size, bytes(sealed) + kNonce, static_cast<int>(text.size())) == 1 &&
                      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTag, tag.data()) == 1 &&
                      EVP_DecryptFinal_ex(cipher.get(), out + size, &size) == 1;
    return good ? std::optional(text) : std::nullopt;
  }

 private:
  static const unsigned char* bytes(const std::string& text) { return reinterpret_cast<const unsigned char*>(text.data()); }
  std::array<unsigned char, 32> key_{};
};

}  // namespace

std::unique_ptr<Sealer> make_openssl_sealer(const std::string& key_file) {
  return std::make_unique<OpensslSealer>(contents_of(key_file, "private key"));
}

}  // namespace linkwork::network_library
