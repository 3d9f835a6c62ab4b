#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace linkwork::cli {

/// Serves the report of a run on this machine only (127.0.0.1), with rows as they come in, until the program is ended.
/// Port 0: any free one. `ready` gets the address. Throws InputError if the port cannot be had.
void serve_run(const std::filesystem::path& folder, int port, const std::function<void(const std::string& address)>& ready);

}  // namespace linkwork::cli
