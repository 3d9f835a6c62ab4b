#include "apps/linkwork/view_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <charconv>
#include <fstream>
#include <utility>

#include "linkwork/io/report.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHost = "127.0.0.1";
constexpr std::size_t kMostBytes = 8U << 20U;  // of rows in one answer

bool has_ended(const fs::path& folder) { return fs::exists(folder / "summary.json"); }

/// A page of another site could reach this server under a name of its own that leads here: only our own names are answered.
bool is_own_name(const std::string& host) {
  const std::string name = host.substr(0, host.find(':'));
  return name == kHost || name == "localhost";
}

std::string page(const fs::path& folder) {
  const bool ended = has_ended(folder);
  const ReportRun run = ended ? read_run(folder) : read_running(folder);
  return report_html(report_template(), {&run, 1}, ReportPrecision::kFloat32, !ended);
}

/// Where the rows begin: after the header, which may hold line breaks in quotes. 0 if it is not there yet.
std::streamoff first_row(std::istream& stream) {
  bool quoted = false;
  for (int c = stream.get(); c != EOF; c = stream.get()) {
    if (c == '"') quoted = !quoted;
    if (c == '\n' && !quoted) return stream.tellg();
  }
  return 0;
}

/// Whole rows from a byte of the trajectory on; X-Next tells where to go on.
void answer_rows(const fs::path& folder, const httplib::Request& request, httplib::Response& response) {
  const bool ended = has_ended(folder);  // asked before the rows are read: then nothing is missed
  const std::string from = request.get_param_value("from");
  std::streamoff at = 0;
  std::from_chars(from.data(), from.data() + from.size(), at);
  std::ifstream stream(folder / "trajectory.csv", std::ios::binary);
  if (at == 0) at = first_row(stream);
  std::string text;
  if (at > 0) {
    stream.clear();
    stream.seekg(at);
    text.resize(kMostBytes);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    const std::size_t end = text.rfind('\n');
    text.resize(end == std::string::npos ? 0 : end + 1);
  }
  response.set_header("X-Run-Ended", ended ? "1" : "0");
  response.set_header("X-Next", std::to_string(at + static_cast<std::streamoff>(text.size())));
  response.set_content(text, "text/csv");
}

void answer_summary(const fs::path& folder, httplib::Response& response) {
  std::ifstream stream(folder / "summary.json", std::ios::binary);
  if (!stream) {
    response.status = 404;
    return;
  }
  response.set_content({std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()}, "application/json");
}

}  // namespace

bool serve_run(const fs::path& folder, int port, const std::function<void(const std::string& address)>& ready) {
  httplib::Server server;
  server.set_default_headers({{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
  server.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
    if (is_own_name(request.get_header_value("Host"))) return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    return httplib::Server::HandlerResponse::Handled;
  });
  server.set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr error) {
    response.status = 500;
    try {
      std::rethrow_exception(std::move(error));
    } catch (const std::exception& known) {
      response.set_content(known.what(), "text/plain");
    }
  });
  server.Get("/", [&](const httplib::Request&, httplib::Response& response) { response.set_content(page(folder), "text/html"); });
  server.Get("/rows",
             [&](const httplib::Request& request, httplib::Response& response) { answer_rows(folder, request, response); });
  server.Get("/summary.json", [&](const httplib::Request&, httplib::Response& response) { answer_summary(folder, response); });

  const int bound = port == 0 ? server.bind_to_any_port(kHost) : server.bind_to_port(kHost, port) ? port : -1;
  if (bound < 0) return false;
  ready(fmt::format("http://{}:{}/", kHost, bound));
  return server.listen_after_bind();
}

}  // namespace linkwork::cli
