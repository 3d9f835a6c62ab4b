#include "apps/linkwork/live_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "linkwork/dynamics/diagnosis.h"
#include "linkwork/io/parameters.h"
#include "linkwork/io/report.h"
#include "linkwork/io/scene.h"
#include "linkwork/io/summary_file.h"
#include "linkwork/modules/model_run.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/moving_system.h"
#include "linkwork/simulation/pacing.h"

namespace linkwork::cli {
namespace {

using Json = nlohmann::ordered_json;

/// How long a question waits for rows: then it gets what there is, so that others are not kept waiting. A new run is waited for
/// longer: most are there then as a whole, and in less than 100 ms.
constexpr std::chrono::milliseconds kPatience(40), kPatienceAtFirst(50);

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Other pages of the browser may send requests here, but cannot know this.
std::string secret() {
  std::random_device random;
  std::string digits;
  for (int k = 0; k < 4; ++k) digits += fmt::format("{:08x}", random());
  return digits;
}

std::string decoded(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool coded = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    result += coded ? static_cast<char>(16 * digit(text[i + 1]) + digit(text[i + 2])) : text[i];
    if (coded) i += 2;
  }
  return result;
}

/// By which a page says that it has a scene already (FNV-1a): it may be large, and changes seldom.
std::uint32_t id_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

/// "a=1&b=2": those that are numbers.
std::map<std::string, double> parsed_query(std::string_view query) {
  std::map<std::string, double> values;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string number = decoded(pair.substr(equals + 1));
    double value = 0.0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error == std::errc() && end == number.data() + number.size()) values[decoded(pair.substr(0, equals))] = value;
  }
  return values;
}

/// Modules see their own constraints only; which reactions are not unique is a matter of the whole.
Summary judged(Summary summary, const LiveRun& live) {
  AssemblyReport report;
  if (!live.is_one_piece && !summary.redundant.empty())
    summary.not_unique = diagnose(*live.model, assemble(*live.model, report)).undetermined;
  return summary;
}

}  // namespace

/// A run as its thread and the server share it.
struct LiveModel::Running {
  long number = 0;
  std::atomic<bool> wanted{true};
  std::mutex mutex;
  std::condition_variable news;
  // Under the mutex.
  std::map<std::string, double> inputs;  // to be set
  std::vector<std::string> columns;
  std::string scene, summary, error;
  std::string not_unique;  // a JSON array, with the first row
  std::uint32_t scene_id = 0;
  std::vector<double> rows;
  bool done = false;
};

LiveModel::LiveModel(ModelArgument model, SettingsOptions settings, std::optional<double> pace)
    : model_(std::move(model)), settings_(std::move(settings)), pace_(pace), path_("/live/" + secret() + "/") {
  const Spec spec = read(model_, settings_, {});
  const LiveRun live = make_live_run(spec);
  if (pace && !live.simulation->has_fixed_steps())
    throw InputError({"--realtime", 0, 0},
                     fmt::format("integrator '{}' chooses its own steps, which no clock can pace", spec.settings.integrator.name),
                     "an integrator of fixed steps, such as rk4 or semi-implicit-euler, and --step");
  find_parameters();
}

LiveModel::~LiveModel() {
  if (running_) running_->wanted = false;
}

Spec LiveModel::read(ModelArgument model, const SettingsOptions& settings, const Values& values) {
  for (const auto& [name, value] : values)
    if (name.starts_with("p.")) model.set.push_back(fmt::format("{}={}", name.substr(2), value));
  Spec spec = model.read();
  settings.apply_to(spec.settings);
  return spec;
}

/// Those of the file that are numbers; what follows from others by an expression moves with them.
void LiveModel::find_parameters() {
  const std::filesystem::path file = model_.path();
  if (is_robot_file(file)) return;
  const TomlValue root = parse_toml(read_text_file(file), file.string());
  const TomlValue* const table = root.find("parameters");
  if (table == nullptr) return;
  std::vector<ParameterOverride> overrides;
  for (const std::string& text : model_.set) {
    const std::size_t equals = text.find('=');
    overrides.push_back({text.substr(0, equals), text.substr(equals + 1), {"--set", 0, 0}});
  }
  const std::map<std::string, double> values = parameter_values(table, file.string(), overrides);
  for (const auto& [key, line, column, value] : table->entries)
    if (value.is_number()) parameters_.push_back({key, values.at(key), value.kind == TomlValue::Kind::kInteger});
}

std::string LiveModel::page() const {
  const Spec spec = read(model_, settings_, moved_);
  const LiveRun live = make_live_run(spec);
  Simulation& simulation = *live.simulation;
  const std::vector<std::string>& columns = simulation.system().columns();
  const std::vector<double> start = simulation.row();
  ThinnedRows rows(columns.size());
  rows.add(start);
  Json json{{"path", path_}, {"paced", pace_.has_value()}, {"parameters", Json::array()}, {"inputs", Json::array()}};
  for (const Parameter& parameter : parameters_) {
    const auto moved = moved_.find("p." + parameter.name);
    json["parameters"].push_back({{"name", parameter.name},
                                  {"value", moved != moved_.end() ? moved->second : parameter.value},
                                  {"start", parameter.value},
                                  {"whole", parameter.whole}});
  }
  for (const InputSpec& input : spec.inputs) {
    const auto column = std::find(columns.begin(), columns.end(), "u." + input.name);
    const double value = column == columns.end() ? 0.0 : start[static_cast<std::size_t>(column - columns.begin())];
    if (!input.is_copy) json["inputs"].push_back({{"name", input.name}, {"value", value}, {"recorded", input.data != nullptr}});
  }
  const ReportRun run{live.model->name, scene_json(spec, *live.model, columns), "", std::move(rows)};
  json["scene"] = id_of(run.scene);
  return report_html(report_template(), {&run, 1}, ReportPrecision::kFloat32, true, json.dump());
}

void LiveModel::start(const Values& values) {
  if (running_) running_->wanted = false;
  moved_ = values;
  running_ = std::make_shared<Running>();
  running_->number = ++runs_;
  for (const auto& [name, value] : values)
    if (name.starts_with("u.")) running_->inputs[name.substr(2)] = value;
  std::thread([this_run = running_, model = model_, settings = settings_, values, pace = pace_] {
    try {
      run(*this_run, read(model, settings, values), pace);
    } catch (const std::exception& error) {
      const std::lock_guard lock(this_run->mutex);
      this_run->error = error.what();
    }
    const std::lock_guard lock(this_run->mutex);
    this_run->done = true;
    this_run->news.notify_all();
  }).detach();
}

void LiveModel::run(Running& running, const Spec& spec, std::optional<double> pace) {
  LiveRun live = make_live_run(spec);
  Simulation& simulation = *live.simulation;
  {
    const std::lock_guard lock(running.mutex);
    running.columns = simulation.system().columns();
    running.scene = scene_json(spec, *live.model, running.columns);
    running.scene_id = id_of(running.scene);
  }
  std::optional<Pacing> pacing;
  if (pace) pacing.emplace(*pace);
  const auto set_inputs = [&] {
    std::map<std::string, double> inputs;
    {
      const std::lock_guard lock(running.mutex);
      inputs.swap(running.inputs);
    }
    for (const auto& [name, value] : inputs) simulation.set_input(name, value);
  };
  set_inputs();
  const auto is_wanted = [&] { return running.wanted.load(); };
  Observer observer;
  observer.whole_row = [&](std::span<const double> row) {
    const std::lock_guard lock(running.mutex);
    if (running.rows.empty()) running.not_unique = text_of(judged(simulation.summary(), live).not_unique);
    running.rows.insert(running.rows.end(), row.begin(), row.end());
    if (pace) running.news.notify_all();
  };
  observer.progress = [&](double t, double) {
    if (pacing) pacing->wait(t, is_wanted);
    set_inputs();
  };
  observer.go_on = is_wanted;
  Summary summary = judged(simulation.run(observer), live);
  if (pacing) summary.realtime = pacing->summary();
  summary.notes.insert(summary.notes.end(), live.notes.begin(), live.notes.end());
  const std::lock_guard lock(running.mutex);
  running.summary = summary_json(summary);
}

/// A head in JSON, its length before it, and rows as numbers of 8 bytes after it. The scene only if the page has another one.
HttpAnswer LiveModel::told(long from, long known_scene) const {
  Running& running = *running_;
  std::unique_lock lock(running.mutex);
  const auto rows = [&] {
    return running.columns.empty() ? 0L : static_cast<long>(running.rows.size() / running.columns.size());
  };
  running.news.wait_for(lock, from == 0 ? kPatienceAtFirst : kPatience, [&] { return running.done || (pace_ && rows() > from); });
  Json head{{"run", running.number}, {"done", running.done}};
  if (!running.error.empty()) head["error"] = running.error;
  const bool begins = from == 0 && !running.columns.empty();
  if (begins) head["columns"] = running.columns;
  if (begins) head["scene_id"] = running.scene_id;
  std::string text = text_of(head);
  const auto add = [&](const char* name, const std::string& json) {
    text.pop_back();
    text += fmt::format(",\"{}\":{}}}", name, json);
  };
  if (begins && running.scene_id != known_scene) add("scene", running.scene);
  if (begins && !running.not_unique.empty()) add("not_unique", running.not_unique);
  if (!running.summary.empty()) add("summary", running.summary);
  const auto length = static_cast<std::uint32_t>(text.size());
  const std::size_t first = std::min(static_cast<std::size_t>(from) * running.columns.size(), running.rows.size());
  std::string body(sizeof length + text.size() + (running.rows.size() - first) * sizeof(double), '\0');
  std::memcpy(body.data(), &length, sizeof length);
  std::memcpy(body.data() + sizeof length, text.data(), text.size());
  if (first < running.rows.size())
    std::memcpy(body.data() + sizeof length + text.size(), running.rows.data() + first,
                (running.rows.size() - first) * sizeof(double));
  return {200, "application/octet-stream", std::move(body)};
}

HttpAnswer LiveModel::answer(std::string_view target) {
  const HttpAnswer nothing{404, "text/plain", "there is no such page\n"};
  if (target == "/") return {200, "text/html; charset=utf-8", page()};
  if (!target.starts_with(path_)) return nothing;
  target.remove_prefix(path_.size());
  const std::string_view what = target.substr(0, target.find('?'));
  const Values values = parsed_query(target.substr(std::min(what.size() + 1, target.size())));
  const auto number = [&](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? 0L : static_cast<long>(std::clamp(found->second, 0.0, 1e15));
  };
  if (what == "run") {
    start(values);
    return told(0, number("scene"));
  }
  if (!running_) return nothing;
  if (what == "input") {
    const std::lock_guard lock(running_->mutex);
    for (const auto& [name, value] : values)
      if (name.starts_with("u.")) running_->inputs[name.substr(2)] = moved_[name] = value;
    return {200, "application/octet-stream", std::string("\2\0\0\0{}", 6)};
  }
  // Rows of a run that another has taken the place of are of no use: the new one is told from its start.
  if (what == "more") return told(number("run") == running_->number ? number("from") : 0, number("scene"));
  return nothing;
}

}  // namespace linkwork::cli
