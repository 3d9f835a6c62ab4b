#include "linkwork/ensemble/sweep_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "linkwork/ensemble/csv_rows.h"
#include "linkwork/ensemble/sweep_summary.h"
#include "linkwork/io/durable_file.h"
#include "linkwork/io/json_text.h"
#include "linkwork/io/page.h"
#include "linkwork/io/trajectory_file.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kBlock = 1U << 16U;
constexpr std::chrono::seconds kLongest(1);  // that rows wait

void append_field(double value, std::string& line) {
  line += ',';
  if (!std::isnan(value)) append_csv_number(value, line);
}

std::vector<std::string> kept_columns(const Sweep& sweep) {
  std::vector<std::string> columns{"run", "t"};
  columns.insert(columns.end(), sweep.kept().begin(), sweep.kept().end());
  return columns;
}

void append_to(const fs::path& file, std::string& text) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "ab"), &std::fclose);
  const bool written = stream && std::fwrite(text.data(), 1, text.size(), stream.get()) == text.size();
  if (!written || std::fclose(stream.release()) != 0) throw std::system_error(errno, std::generic_category(), file.string());
  text.clear();
}

void cut(const fs::path& file, std::uint64_t size) {
  std::error_code error;
  fs::resize_file(file, size, error);
  if (error) throw InputError({file.string(), 0, 0}, "cannot be written: " + error.message(), "a file that can be written to");
}

/// Of an earlier sweep: the files that it wrote, and the folders that are empty then; nothing of anyone else.
void remove_runs(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / "sweep.json", ignored)) return;
  std::vector<fs::path> runs;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "runs", ignored))
    if (entry.is_directory(ignored)) runs.push_back(entry.path());
  for (const fs::path& run : runs) {
    for (const char* const file : {"trajectory.csv", "summary.json", "scene.json", "report.html"})
      fs::remove(run / file, ignored);
    fs::remove(run, ignored);
  }
  fs::remove(folder / "runs", ignored);
}

}  // namespace

std::vector<std::string> sweep_columns(const Sweep& sweep) {
  std::vector<std::string> columns{"run"};
  columns.insert(columns.end(), sweep.plan().names().begin(), sweep.plan().names().end());
  columns.emplace_back("status");
  for (const RunMeasure& measure : sweep.measures()) columns.push_back(measure.name());
  columns.insert(columns.end(), {"constraint_error", "energy_drift"});
  return columns;
}

std::string run_folder(long number) { return fmt::format("runs/{:06}", number); }

SweepFiles::SweepFiles(const Sweep& sweep, fs::path folder, const std::string& settings, std::string command, bool anew)
    : sweep_(sweep),
      folder_(std::move(folder)),
      command_(std::move(command)),
      fingerprint_(fmt::format("{:016x}", sweep.fingerprint(settings))) {
  if (anew || !is_unfinished() || !resume()) begin_anew();
}

bool SweepFiles::is_unfinished() const {
  std::ifstream stream(folder_ / "sweep.json", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  try {
    const Json state = parse_json(text);
    return state.is_object() && state.value("status", "") == "running" && state.value("fingerprint", "") == fingerprint_;
  } catch (const std::exception&) {
    return false;
  }
}

/// Keeps the whole rows that fit this sweep, and cuts off what comes after them.
bool SweepFiles::resume() {
  const std::vector<std::string> columns = sweep_columns(sweep_);
  const std::size_t status = 1 + sweep_.plan().names().size();
  std::uint64_t size = 0, kept_size = 0;
  read_csv_rows(folder_ / "sweep.csv", [&](const std::vector<std::string>& fields, std::uint64_t end) {
    if (size == 0 ? fields != columns : fields.size() != columns.size() || fields[0] != std::to_string(done_ + 1)) return false;
    if (size > 0) ++done_, failed_ += is_done(fields[status]) ? 0 : 1;
    size = end;
    return true;
  });
  if (size == 0) return false;
  if (!sweep_.kept().empty()) {
    const std::vector<std::string> kept = kept_columns(sweep_);
    read_csv_rows(folder_ / "kept.csv", [&](const std::vector<std::string>& fields, std::uint64_t end) {
      if (kept_size == 0 ? fields != kept
                         : fields.size() != kept.size() || !(csv_number(fields[0]) <= static_cast<double>(done_)))
        return false;
      kept_size = end;
      return true;
    });
    if (kept_size == 0) return done_ = failed_ = 0, false;
    cut(folder_ / "kept.csv", kept_size);
  }
  cut(folder_ / "sweep.csv", size);
  return true;
}

void SweepFiles::begin_anew() {
  std::error_code ignored;
  for (const char* const outdated : {"kept.csv", "sweep.html"}) fs::remove(folder_ / outdated, ignored);
  remove_runs(folder_);
  write_text_file(folder_ / "sweep.csv", csv_header(sweep_columns(sweep_)));
  if (!sweep_.kept().empty()) write_text_file(folder_ / "kept.csv", csv_header(kept_columns(sweep_)));
  const Json state{
      {"model", sweep_.model().spec().name}, {"status", "running"}, {"fingerprint", fingerprint_}, {"runs", sweep_.runs()}};
  write_text_file(folder_ / "sweep.json", state.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void SweepFiles::write(const SweepRow& row) {
  const std::size_t width = sweep_.kept().size() + 1;
  for (std::size_t i = 0; i + width <= row.run.kept.size(); i += width) {
    kept_ += std::to_string(row.number);
    for (std::size_t k = 0; k < width; ++k) append_field(row.run.kept[i + k], kept_);
    kept_ += '\n';
  }
  if (sweep_.request().trajectories && !row.run.trajectory.empty()) {
    const fs::path folder = folder_ / run_folder(row.number);
    fs::create_directories(folder);
    write_text_file(folder / "trajectory.csv", row.run.trajectory);
    write_text_file(folder / "summary.json", row.run.summary);
    write_text_file(folder / "scene.json", row.run.scene);
  }
  ++done_, failed_ += row.run.done ? 0 : 1;
  rows_ += std::to_string(row.number);
  for (const double value : row.parameters) append_field(value, rows_);
  rows_ += ',' + csv_field(row.run.status);
  for (const double value : row.run.measures) append_field(value, rows_);
  append_field(row.run.constraint_error, rows_);
  append_field(row.run.energy_drift, rows_);
  rows_ += '\n';
  if (rows_.size() + kept_.size() >= kBlock || std::chrono::steady_clock::now() - flushed_ > kLongest) flush();
}

/// A row of sweep.csv is on the disk only when all else of its run is.
void SweepFiles::flush() {
  if (!kept_.empty()) {
    append_to(folder_ / "kept.csv", kept_);
    sync_file(folder_ / "kept.csv");
  }
  if (!rows_.empty()) append_to(folder_ / "sweep.csv", rows_);
  flushed_ = std::chrono::steady_clock::now();
}

bool SweepFiles::finish() {
  flush();
  const SweepSummary summary(sweep_, folder_);
  const bool has_page = !ensemble_template().empty();
  if (has_page) write_text_file(folder_ / "sweep.html", page_html(ensemble_template(), summary.page_json(command_)));
  write_text_file(folder_ / "sweep.json", summary.json(fingerprint_));
  findings_ = summary.findings();
  return has_page;
}

}  // namespace linkwork
