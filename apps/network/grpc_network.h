#pragma once

#include <string>

#include "linkwork/modules/remote/network.h"

namespace linkwork::network_library {

/// The contents of a file. Throws std::runtime_error in words.
std::string contents_of(const std::string& file, const char* what);

std::unique_ptr<Line> dial_grpc(const std::string& host, const Credentials& credentials, double timeout);
void listen_grpc(const ListenSettings& settings, const std::function<std::unique_ptr<Talk>()>& make_talk,
                 const std::function<void(int port)>& listening, const std::function<bool()>& go_on);
std::unique_ptr<Sealer> make_openssl_sealer(const std::string& key_file);
std::vector<std::string> make_openssl_keys(const std::string& folder, const std::vector<std::string>& names, int days);

}  // namespace linkwork::network_library
