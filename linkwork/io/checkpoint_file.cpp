#include "linkwork/io/checkpoint_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "linkwork/io/durable_file.h"
#include "linkwork/io/input_file.h"
#include "linkwork/io/json_text.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 2;
constexpr std::string_view kMark = "linkwork checkpoint";

// Numbers JSON has no name for are texts.
Json written(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}
Json written(bool value) { return value; }
Json written(char value) { return static_cast<int>(value); }
Json written(int value) { return value; }
Json written(long value) { return value; }
Json written(std::uint64_t value) { return value; }
Json written(const std::string& value) { return value; }

void read(const Json& json, double& value) {
  if (!json.is_string()) {
    if (!json.is_number()) throw std::invalid_argument("a number is missing");
    value = json.get<double>();
    return;
  }
  const auto text = json.get<std::string>();
  if (text == "nan")
    value = std::numeric_limits<double>::quiet_NaN();
  else if (text == "inf" || text == "-inf")
    value = text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  else
    throw std::invalid_argument("'" + text + "' is not a number");
}
void read(const Json& json, bool& value) { value = json.get<bool>(); }

/// Conversions of the library cut what does not fit.
template <class Integer>
Integer whole_number(const Json& json) {
  if (!json.is_number_integer()) throw std::invalid_argument("a whole number is missing");
  const bool fits = json.is_number_unsigned() ? std::in_range<Integer>(json.get<std::uint64_t>())
                                              : std::in_range<Integer>(json.get<std::int64_t>());
  if (!fits) throw std::invalid_argument("a whole number is too large");
  return json.get<Integer>();
}
void read(const Json& json, char& value) {
  const int number = whole_number<int>(json);
  if (number != 0 && number != 1) throw std::invalid_argument("a mark is neither 0 nor 1");
  value = static_cast<char>(number);
}
void read(const Json& json, int& value) { value = whole_number<int>(json); }
void read(const Json& json, long& value) { value = whole_number<long>(json); }
void read(const Json& json, std::uint64_t& value) { value = whole_number<std::uint64_t>(json); }
void read(const Json& json, std::string& value) { value = json.get<std::string>(); }

// What a structure consists of: the one place that says so, for writing and for reading.
template <class Archive, class T>
void fields(Archive&, T&) = delete;

template <class Archive>
void fields(Archive& at, EventRecord& x) {
  at("t", x.t), at("name", x.name), at("what", x.what), at("velocity_jump", x.velocity_jump), at("impulses", x.impulses);
  at("energy", x.energy), at("dof", x.dof);
}

template <class Archive>
void fields(Archive& at, GlueSummary& x) {
  at("sticky", x.sticky), at("sticky_velocity", x.sticky_velocity), at("most_iterations", x.most_iterations);
  at("iterations_sum", x.mean_iterations), at("iterations", x.iterations), at("pretty", x.pretty);
}

template <class Archive>
void fields(Archive& at, Summary& x) {
  at("model", x.model), at("coordinates", x.coordinates), at("formulation", x.formulation), at("stabilization", x.stabilization);
  at("integrator", x.integrator), at("glue", x.glue), at("steps", x.steps), at("rejected_steps", x.rejected_steps);
  at("position_error_max", x.position_error_max), at("velocity_error_max", x.velocity_error_max);
  at("dof", x.dof), at("rows", x.rows), at("rank", x.rank), at("redundant", x.redundant), at("not_unique", x.not_unique);
  at("warnings", x.warnings), at("notes", x.notes), at("modules", x.modules);
}

template <class Archive>
void fields(Archive& at, SavedSwitching& x) {
  at("rows", x.rows), at("forces", x.forces), at("parameters", x.parameters), at("friction", x.friction),
      at("directions", x.directions), at("watched", x.watched);
  at("largest_effort", x.largest_effort), at("energy_scale", x.energy_scale), at("records", x.records),
      at("warnings", x.warnings);
  at("impacts", x.impacts), at("recent", x.recent), at("enough", x.enough), at("settled_rank", x.settled_rank),
      at("redundant", x.redundant);
  at("idle", x.idle), at("mobility", x.mobility), at("starting", x.starting);
}

template <class Archive>
void fields(Archive& at, Remarks::Remark& x) {
  at("t", x.t), at("about", x.about), at("text", x.text);
}

template <class Archive>
void fields(Archive& at, SavedPart& x) {
  at("x", x.x), at("memory", x.memory);
}

template <class Archive>
void fields(Archive& at, SavedRun& x) {
  at("t", x.t), at("outputs", x.outputs), at("grid", x.grid), at("h", x.h), at("usual_h", x.usual_h);
  at("evaluations", x.evaluations), at("energy_start", x.energy_start), at("potential_start", x.potential_start);
  at("imbalance", x.imbalance), at("exchanged", x.exchanged), at("energy_known", x.energy_known), at("row", x.row);
  at("next_checkpoint", x.next_checkpoint), at("wall_seconds", x.wall_seconds), at("remarks", x.remarks);
  at("summary", x.summary), at("parts", x.parts), at("start_rank", x.start_rank), at("switching", x.switching);
  at("glue", x.glue), at("glue_notes", x.glue_notes), at.if_any("blocks", x.blocks);
}

template <class Archive>
void fields(Archive& at, StartState& x) {
  at("from", x.from), at("values", x.values);
}

template <class Archive>
void fields(Archive& at, Checkpoint::Request& x) {
  at("model", x.model), at("set", x.set), at("settings", x.settings), at("out", x.out), at("no_report", x.no_report);
  at("every", x.every), at("start", x.start), at("import", x.import);
}

template <class Archive>
void fields(Archive& at, Checkpoint::ModelText& x) {
  at("file", x.file), at.contents("text", x.text);
}

template <class Archive>
void fields(Archive& at, Checkpoint& x) {
  at("program", x.program), at("request", x.request), at("files", x.files), at("rows", x.rows), at("bytes", x.bytes);
  at("checksum", x.checked), at("run", x.run);
}

template <class T>
Json written(const T& value);
template <class T>
void read(const Json& json, T& value);
template <class T>
Json written(const std::vector<T>& values);
template <class T>
Json written(const std::optional<T>& value);
template <class A, class B>
Json written(const std::pair<A, B>& value);
template <class T>
void read(const Json& json, std::vector<T>& values);
template <class T>
void read(const Json& json, std::optional<T>& value);
template <class A, class B>
void read(const Json& json, std::pair<A, B>& value);

struct Writer {
  Json json = Json::object();

  template <class T>
  void operator()(const char* name, const T& value) {
    json[name] = written(value);
  }
  /// A list that most have not.
  template <class T>
  void if_any(const char* name, const T& list) {
    if (!list.empty()) json[name] = written(list);
  }
  /// Of a file. What is no text, such as an FMU, is written as hexadecimal digits in a list.
  void contents(const char* name, const std::string& bytes) {
    if (bytes.find('\0') == std::string::npos) return (*this)(name, bytes);
    std::string digits;
    for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    json[name] = Json::array({digits});
  }
};

template <class T>
Json written(const T& value) {
  Writer writer;
  fields(writer, const_cast<T&>(value));  // it only reads
  return std::move(writer.json);
}
template <class T>
Json written(const std::vector<T>& values) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(written(value));
  return json;
}
template <class T>
Json written(const std::optional<T>& value) {
  return value ? written(*value) : Json();
}
template <class A, class B>
Json written(const std::pair<A, B>& value) {
  Json json = Json::array();
  json.push_back(written(value.first));
  json.push_back(written(value.second));
  return json;
}

struct Reader {
  const Json& json;

  template <class T>
  void operator()(const char* name, T& value) {
    read(json.at(name), value);
  }
  template <class T>
  void if_any(const char* name, T& list) {
    if (json.contains(name)) read(json.at(name), list);
  }
  void contents(const char* name, std::string& bytes) {
    if (!json.at(name).is_array()) return (*this)(name, bytes);
    const auto digits = json.at(name).at(0).get<std::string>();
    for (std::size_t i = 0; i < digits.size(); i += 2) {
      unsigned byte = 0;
      const char* const end = digits.data() + std::min(i + 2, digits.size());
      if (std::from_chars(digits.data() + i, end, byte, 16).ptr != end) throw std::runtime_error("digits of a file are wrong");
      bytes += static_cast<char>(byte);
    }
  }
};

template <class T>
void read(const Json& json, T& value) {
  Reader reader{json};
  fields(reader, value);
}
template <class T>
void read(const Json& json, std::vector<T>& values) {
  if (!json.is_array()) throw std::invalid_argument("a list is missing");
  values.clear();
  for (const Json& entry : json) {
    T value{};
    read(entry, value);
    values.push_back(std::move(value));
  }
}
template <class T>
void read(const Json& json, std::optional<T>& value) {
  value.reset();
  if (!json.is_null()) read(json, value.emplace());
}
template <class A, class B>
void read(const Json& json, std::pair<A, B>& value) {
  read(json.at(0), value.first);
  read(json.at(1), value.second);
}

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

bool all_finite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
}

bool is_count(long number) { return number >= 0 && number < (1L << 62); }

/// What no run can have saved: it would be stepped backwards, or without end.
void check_run(const SavedRun& run) {
  require(std::isfinite(run.t) && run.t >= 0.0, "its time is not a number >= 0");
  require(std::isfinite(run.h) && run.h > 0.0, "its step is not a number > 0");
  require(std::isfinite(run.usual_h) && run.usual_h >= 0.0, "its usual step is not a number >= 0");
  require(is_count(run.outputs) && is_count(run.next_checkpoint), "rows or checkpoints are counted below 0");
  require(is_count(run.grid) && is_count(run.evaluations), "steps or evaluations are counted below 0");
  require(run.start_rank >= 0 && std::isfinite(run.wall_seconds) && run.wall_seconds >= 0.0, "rank or wall time are below 0");
  require(is_count(run.summary.steps) && is_count(run.summary.rejected_steps), "steps are counted below 0");
  require(std::ranges::all_of(run.parts, [](const SavedPart& part) { return all_finite(part.x); }) && all_finite(run.glue),
          "its state is not finite");
}

void check_numbers(const Checkpoint& checkpoint) {
  const Checkpoint::Request& request = checkpoint.request;
  require(std::isfinite(request.every) && request.every > 0.0, "the time between checkpoints is not a number > 0");
  require(is_count(checkpoint.rows), "rows are counted below 0");
  require(std::filesystem::path(request.model).is_absolute() && std::filesystem::path(request.out).is_absolute(),
          "its paths are not absolute");
  check_run(checkpoint.run);
}

/// What is there, links not followed.
void check_replaceable(const std::filesystem::path& file, const std::string& expected) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(file, error);
  if (!fs::exists(status)) return;
  const auto refuse = [&](const char* what) { throw InputError({file.string(), 0, 0}, what, expected); };
  if (fs::is_directory(status)) refuse("is a directory");
  if (fs::is_symlink(status)) refuse("is a link, which would be replaced");
  if (!fs::is_regular_file(status)) refuse("is no regular file");
  std::ifstream stream(file, std::ios::binary);
  std::string start(kMark.size(), '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(stream.gcount()));
  // A .part may have been cut short.
  const bool is_ours = file.extension() == ".part" ? kMark.starts_with(start) : start == kMark;
  if (!is_ours) refuse("exists, is not a checkpoint, and would be lost");
}

}  // namespace

std::string checkpoint_text(const Checkpoint& checkpoint) {
  // Names come from files, whose names need not be UTF-8.
  const std::string body = written(checkpoint).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return fmt::format("{} {} {} {:016x}\n{}", kMark, kFormat, body.size(), checksum(body), body);
}

std::string saved_run_text(const SavedRun& run) {
  Json json = written(run);
  json["inputs"] = Json::object();
  for (const auto& [name, value] : run.inputs) json["inputs"][name] = written(value);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

SavedRun parse_saved_run(std::string_view text) {
  SavedRun run;
  try {
    const Json json = parse_json(text);
    read(json, run);
    for (const auto& [name, value] : json.at("inputs").items()) read(value, run.inputs[name]);
  } catch (const std::exception& error) {
    throw InputError({}, fmt::format("what was saved is not as this program writes it: {}", error.what()));
  }
  return run;
}

Checkpoint parse_checkpoint(std::string_view text, const std::string& file) {
  const auto refuse = [&](const std::string& what, const std::string& expected = "") -> InputError {
    return expected.empty() ? InputError({file, 0, 0}, what) : InputError({file, 0, 0}, what, expected);
  };
  const std::string own = "a file that 'linkwork run --checkpoint' of this version has written";
  if (!text.starts_with(kMark)) throw refuse("is not a checkpoint", own);
  const std::size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos) throw refuse("is cut short", "a whole file; the run must be started again");
  int format = 0;
  std::size_t size = 0;
  std::uint64_t sum = 0;
  const char* at = text.data() + kMark.size();
  const char* const end = text.data() + line_end;
  const auto take = [&](auto& number, int base) {
    if (at == end || *at++ != ' ') return false;
    const auto [next, error] = std::from_chars(at, end, number, base);
    at = next;
    return error == std::errc();
  };
  if (!take(format, 10)) throw refuse("is damaged in its first line", own);
  if (format != kFormat)
    throw refuse(fmt::format("is a checkpoint of format {}, and this program reads {}", format, kFormat), own);
  if (!take(size, 10) || !take(sum, 16) || at != end) throw refuse("is damaged in its first line", own);
  const std::string_view body = text.substr(line_end + 1);
  if (body.size() < size) throw refuse(fmt::format("is cut short: it has {} of {} bytes", body.size(), size), own);
  if (body.size() > size || checksum(body) != sum) throw refuse("is damaged: its checksum does not fit its contents", own);
  Checkpoint checkpoint;
  try {
    read(parse_json(body), checkpoint);
    check_numbers(checkpoint);
  } catch (const std::exception& error) {
    throw refuse(fmt::format("is not as this program writes it: {}", error.what()), own);
  }
  return checkpoint;
}

std::string read_checkpoint_file(const std::filesystem::path& file) {
  constexpr std::size_t kLargest = std::size_t{16} << 30U;
  const std::string expected = "the file of --checkpoint";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    throw InputError({file.string(), 0, 0}, "there is no such file",
                     expected + "; if the run ended before it was there, run it again");
  check_input_file(file, expected);
  std::string start(kMark.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (stream.gcount() < std::ssize(start) || start != kMark)
    throw InputError({file.string(), 0, 0}, "is not a checkpoint", "a file that 'linkwork run --checkpoint' has written");
  return read_input_file(file, expected, kLargest);
}

void check_checkpoint_target(const std::filesystem::path& file) {
  check_replaceable(file, "a new file, or an older checkpoint");
  check_replaceable(part_of(file), "a checkpoint beside which nothing else has that name");
}

}  // namespace linkwork
