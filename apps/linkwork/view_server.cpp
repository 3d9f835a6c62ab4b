#include "apps/linkwork/view_server.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <memory>
#include <system_error>

#include "apps/linkwork/http_server.h"
#include "linkwork/io/input_file.h"
#include "linkwork/io/report.h"
#include "linkwork/io/trajectory_format.h"
#include "linkwork/model/input_error.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 8U << 20U;  // of rows in one answer
constexpr std::size_t kLargestSummary = 64U << 20U;

bool has_ended(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "summary.json", ignored);
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
HttpAnswer rows(const fs::path& folder, std::string_view from) {
  const bool ended = has_ended(folder);  // asked before the rows are read: then nothing is missed
  std::streamoff at = 0;
  std::from_chars(from.data(), from.data() + from.size(), at);
  // A run that has just ended may have made another file of it: the page has to be loaded anew to see its last rows.
  if (find_trajectory(folder) != folder / "trajectory.csv")
    return {200, "text/csv", "", {{"X-Run-Ended", "1"}, {"X-Next", std::string(from)}}};
  check_input_file(folder / "trajectory.csv", "the trajectory of a run");
  std::ifstream stream(folder / "trajectory.csv", std::ios::binary);
  if (at <= 0) at = first_row(stream);
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
  const std::string next = std::to_string(at + static_cast<std::streamoff>(text.size()));
  return {200, "text/csv", std::move(text), {{"X-Run-Ended", ended ? "1" : "0"}, {"X-Next", next}}};
}

}  // namespace

HttpAnswer run_answer(const fs::path& folder, std::string_view target) {
  constexpr std::string_view kRows = "/rows?from=";
  if (target == "/") return {200, "text/html; charset=utf-8", page(folder)};
  if (target.starts_with(kRows)) return rows(folder, target.substr(kRows.size()));
  if (target == "/summary.json" && has_ended(folder))
    return {200, "application/json", read_input_file(folder / "summary.json", "a summary", kLargestSummary)};
  return {404, "text/plain", "there is no such page\n"};
}

void serve(const std::function<HttpAnswer(std::string_view target)>& answer, int port,
           const std::function<void(const std::string& address)>& ready) {
  std::unique_ptr<HttpServer> server;
  try {
    server = std::make_unique<HttpServer>(port);
  } catch (const std::system_error& error) {
    throw InputError({"--port", 0, 0}, fmt::format("port {} cannot be used: {}", port, error.code().message()),
                     "a free port, or none to take any");
  }
  ready(server->address());
  server->serve(answer);
}

}  // namespace linkwork::cli
