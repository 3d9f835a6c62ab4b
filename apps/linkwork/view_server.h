#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "apps/linkwork/http_server.h"

namespace linkwork::cli {

/// What the page of a run asks for: the page itself, rows as they come in, the summary.
HttpAnswer run_answer(const std::filesystem::path& folder, std::string_view target);

/// Answers on this machine only (127.0.0.1), until the program is ended. Port 0: any free one. `ready` gets the address. Throws
/// InputError if the port cannot be had.
[[noreturn]] void serve(const std::function<HttpAnswer(std::string_view target)>& answer, int port,
                        const std::function<void(const std::string& address)>& ready);

}  // namespace linkwork::cli
