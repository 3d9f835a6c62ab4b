#include "linkwork/fmi/fmu_block.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <fstream>
#include <mutex>
#include <set>
#include <unordered_map>

#include "linkwork/fmi/fmu_calls.h"
#include "linkwork/fmi/model_description.h"
#include "linkwork/fmi/zip_archive.h"

namespace linkwork {

namespace {

namespace fs = std::filesystem;
using Type = FmuDescription::Type;

std::atomic<bool> forbidden = false;

/// What instances share: the description, and the library once it is loaded.
class FmuBlock : public SignalBlock {
 public:
  explicit FmuBlock(FmuRequest request) : request_(std::move(request)), archive_(request_.bytes, request_.file) {
    read_description();
    choose_kind();
    connect_inputs();
    if (request_.connects_ports) connect_ports();
    name_outputs();
    check_parameters();
    if (exchange_) {
      indicators = fmu_.indicators;
      for (const FmuDescription::Unknown& unknown : fmu_.derivatives) {
        const FmuDescription::Variable& rate = fmu_.variables[unknown.variable];
        if (rate.is_array) throw refuse(fmt::format("has an array of states ('{}'), which is not supported", rate.name));
        states.push_back(fmu_.variables[*rate.derivative_of].name);
        std::ranges::replace_if(states.back(), is_no_part_of_column, '_');
      }
    }
  }

  std::unique_ptr<BlockInstance> instantiate() const override;

  const FmuDescription& description() const { return fmu_; }
  const FmuDescription::Interface& interface() const { return exchange_ ? *fmu_.exchange : *fmu_.co_simulation; }
  bool is_exchange() const { return exchange_; }
  const FmuDescription::Variable& input(std::size_t k) const { return *input_variables_[k]; }
  const FmuDescription::Variable& output(std::size_t k) const { return *output_variables_[k]; }
  const FmuRequest& request() const { return request_; }

  std::shared_ptr<const FmuLibrary> library() const {
    std::call_once(loaded_, [&] { library_ = load(); });
    return library_;
  }

 private:
  InputError refuse(const std::string& what, const std::string& expected = "") const {
    const std::string said = fmt::format("the FMU '{}' ({}) {}", request_.name, request_.file, what);
    return expected.empty() ? InputError(request_.place, said) : InputError(request_.place, said, expected);
  }

  void read_description() {
    constexpr std::uint64_t kLargest = 64U << 20U;
    const auto& entries = archive_.entries();
    const auto found = std::ranges::find(entries, "modelDescription.xml", &ZipArchive::Entry::name);
    if (found == entries.end()) throw refuse("has no modelDescription.xml");
    if (found->size > kLargest) throw refuse("has a modelDescription.xml of more than 64 MB");
    fmu_ = parse_model_description(archive_.read("modelDescription.xml"), request_.file + "/modelDescription.xml");
    for (const FmuDescription::Variable& v : fmu_.variables)
      if (v.type == Type::kClock)
        throw refuse(fmt::format("has clocks ('{}'), which are not supported", v.name), "an FMU without clocks");
  }

  void choose_kind() {
    exchange_ = request_.kind == "me" || (request_.kind == "auto" && fmu_.exchange && !request_.step);
    if (exchange_ && !fmu_.exchange) throw refuse("offers no model exchange", "type = \"cs\"");
    if (!exchange_ && !fmu_.co_simulation) throw refuse("offers no co-simulation", "an FMU of model exchange has no 'step'");
    if (interface().needs_tool) throw refuse("needs another program to run");
    if (exchange_) {
      if (request_.step) throw refuse("is integrated with the motion, and has no 'step'", "type = \"cs\", or no step");
      if (request_.linear) throw refuse("is integrated with the motion, and its inputs are not interpolated");
      return;
    }
    step = request_.step.value_or(fmu_.step_size.value_or(0.0));
    if (!(step > 0.0) || !std::isfinite(step)) throw refuse("is of co-simulation, and its step is not known", "step = 1e-3");
    linear = request_.linear;
  }

  std::vector<std::string> names_with(std::string_view causality) const {
    std::vector<std::string> names;
    for (const FmuDescription::Variable& v : fmu_.variables)
      if (v.causality == causality) names.push_back(v.name);
    return names;
  }

  const FmuDescription::Variable& variable(const std::string& name, std::string_view causality, const Place& place) const {
    const FmuDescription::Variable* const v = fmu_.find(name);
    if (v == nullptr || v->causality != causality)
      throw unknown_name(place, fmt::format("{} of the FMU '{}'", causality, request_.name), name, names_with(causality));
    return *v;
  }

  static bool is_no_part_of_column(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == ',' || c == '"'; }
  /// A name that is none is left out, unless `outputs` gives another.
  static bool is_column(const std::string& name) { return !name.empty() && std::ranges::none_of(name, is_no_part_of_column); }

  static Input::Kind kind_of(const FmuDescription::Variable& v) {
    if (v.type == Type::kBoolean) return Input::Kind::kFlag;
    if (v.type != Type::kFloat64 && v.type != Type::kFloat32) return Input::Kind::kWhole;
    return v.variability == "continuous" ? Input::Kind::kContinuous : Input::Kind::kDiscrete;
  }

  void connect_inputs() {
    for (const auto& [name, place] : request_.inputs) {
      const FmuDescription::Variable& v = variable(name, "input", place);
      if (!v.is_number())
        throw InputError(place,
                         fmt::format("the input '{}' of the FMU '{}' is {}", name, request_.name,
                                     v.is_array ? "an array" : fmt::format("of type {}", in_words(v.type))),
                         "a number or a Boolean");
      inputs.push_back({name, kind_of(v)});
      input_variables_.push_back(&v);
    }
  }

  void connect_ports() {
    const auto is_force = [](const FmuDescription::Variable& v) {
      constexpr std::array<std::string_view, 6> kForces{".fx", ".fy", ".fz", ".tx", ".ty", ".tz"};
      return v.causality == "input" && v.type == Type::kFloat64 && !v.is_array &&
             std::ranges::any_of(kForces, [&](std::string_view end) { return v.name.ends_with(end); });
    };
    for (const FmuDescription::Variable& v : fmu_.variables)
      if (is_force(v)) {
        inputs.push_back({v.name, kind_of(v)});
        input_variables_.push_back(&v);
      }
  }

  void name_outputs() {
    std::unordered_map<std::size_t, const FmuDescription::Unknown*> by_variable;
    for (const FmuDescription::Unknown& known : fmu_.outputs) by_variable.emplace(known.variable, &known);
    const auto dependencies = [&](const FmuDescription::Variable& v) {
      std::vector<std::size_t> on;
      const auto index = static_cast<std::size_t>(&v - fmu_.variables.data());
      const auto found = by_variable.find(index);
      const auto* const only = found != by_variable.end() && found->second->depends_on ? &*found->second->depends_on : nullptr;
      for (std::size_t k = 0; k < input_variables_.size(); ++k) {
        const auto input = static_cast<std::size_t>(input_variables_[k] - fmu_.variables.data());
        const bool independent = only != nullptr && std::ranges::find(*only, input) == only->end();
        if (!independent) on.push_back(k);
      }
      return on;
    };
    for (const FmuDescription::Variable& v : fmu_.variables)
      if (v.causality == "output" && v.is_number() && is_column(v.name)) {
        outputs.push_back({v.name, dependencies(v)});
        output_variables_.push_back(&v);
      }
    for (const auto& [alias, name] : request_.outputs) {
      const FmuDescription::Variable* const v = fmu_.find(name);
      if (v == nullptr)
        throw unknown_name(request_.place, fmt::format("output of the FMU '{}'", request_.name), name, names_with("output"));
      if (!v->is_number()) throw refuse(fmt::format("has an output '{}' that is no number", name));
      if (!is_column(alias))
        throw refuse(fmt::format("has an output that is to be named '{}'", alias), "a name without commas and quotes");
      if (std::ranges::find(outputs, alias, &Output::name) != outputs.end())
        throw refuse(fmt::format("has an output '{}' already", alias), "another name");
      outputs.push_back({alias, dependencies(*v)});
      output_variables_.push_back(v);
    }
  }

  void check_parameters() const {
    for (const FmuRequest::Parameter& parameter : request_.parameters) {
      const FmuDescription::Variable* v = fmu_.find(parameter.name);
      const bool is_start = v != nullptr && !v->start.empty() && v->causality != "input" && v->variability != "constant";
      if (v == nullptr || (v->causality != "parameter" && !is_start))
        throw unknown_name(parameter.place, fmt::format("parameter of the FMU '{}'", request_.name), parameter.name,
                           names_with("parameter"));
      const bool fits = v->type == Type::kString ? parameter.text.has_value() : v->is_number() && parameter.number;
      if (v->is_array || !fits)
        throw InputError(parameter.place,
                         fmt::format("the parameter '{}' of the FMU '{}' is of type {}{}", parameter.name, request_.name,
                                     in_words(v->type), v->is_array ? ", an array" : ""),
                         v->type == Type::kString ? "a text" : "a number");
    }
  }

  std::shared_ptr<const FmuLibrary> load() const {
    const std::string folder = fmu_.version == 2 ? "binaries/linux64/" : "binaries/x86_64-linux/";
    const std::string object = folder + interface().identifier + ".so";
    if (!archive_.has(object)) {
      std::set<std::string> platforms;
      for (const ZipArchive::Entry& entry : archive_.entries())
        if (entry.name.starts_with("binaries/") && !entry.is_folder()) {
          const std::size_t end = entry.name.find('/', 9);
          if (end != std::string::npos) platforms.insert(entry.name.substr(9, end - 9));
        }
      throw refuse(
          fmt::format("has no binary for this platform, {}", object),
          platforms.empty() ? "an FMU with binaries" : fmt::format("it has: {}", listed({platforms.begin(), platforms.end()})));
    }
    std::string place = (fs::temp_directory_path() / "linkwork-fmu-XXXXXX").string();
    if (mkdtemp(place.data()) == nullptr) throw refuse("cannot be unpacked: there is no place for it in " + place);
    const fs::path root = place;
    try {
      for (std::size_t k = 0; k < archive_.entries().size(); ++k) {
        const ZipArchive::Entry& entry = archive_.entries()[k];
        if (entry.is_folder() || (!entry.name.starts_with(folder) && !entry.name.starts_with("resources/"))) continue;
        fs::create_directories((root / entry.name).parent_path());
        std::ofstream file(root / entry.name, std::ios::binary);
        file << archive_.read(k);
        if (!file.flush()) throw refuse(fmt::format("cannot be unpacked to {}", place));
      }
      fs::create_directories(root / "resources");
      return std::make_shared<const FmuLibrary>(root, root / object, request_.file);
    } catch (const fs::filesystem_error& error) {
      std::error_code ignored;
      fs::remove_all(root, ignored);
      throw refuse(fmt::format("cannot be unpacked: {}", error.what()));
    } catch (...) {
      std::error_code ignored;
      fs::remove_all(root, ignored);
      throw;
    }
  }

  FmuRequest request_;
  ZipArchive archive_;
  FmuDescription fmu_;
  bool exchange_ = true;
  std::vector<const FmuDescription::Variable*> input_variables_, output_variables_;
  mutable std::once_flag loaded_;
  mutable std::shared_ptr<const FmuLibrary> library_;
};

class FmuBlockInstance : public BlockInstance {
 public:
  explicit FmuBlockInstance(const FmuBlock& block) : block_(block) { make(); }

  void start(double t, std::span<const double> inputs) override {
    for (const FmuRequest::Parameter& parameter : block_.request().parameters) {
      const FmuDescription::Variable& v = *block_.description().find(parameter.name);
      if (v.type == Type::kString)
        calls_->set_text(v, *parameter.text);
      else
        calls_->set(v, *parameter.number);
    }
    calls_->enter_initialization(t);
    for (std::size_t k = 0; k < inputs.size(); ++k) calls_->set(block_.input(k), inputs[k]);
    calls_->exit_initialization();
  }

  void set_input(std::size_t input, double value) override { calls_->set(block_.input(input), value); }
  double output(std::size_t output) override { return calls_->get(block_.output(output)); }
  void set_time(double t) override { calls_->set_time(t); }
  void set_states(std::span<const double> z) override {
    if (!z.empty()) calls_->set_states(z);
  }
  void get_states(std::span<double> z) override {
    if (!z.empty()) calls_->get_states(z);
  }
  void rates(std::span<double> zdot) override {
    if (!zdot.empty()) calls_->rates(zdot);
  }
  void indicators(std::span<double> values) override {
    if (!values.empty()) calls_->indicators(values);
  }
  StepEnd complete_step() override { return block_.interface().completes_steps ? calls_->complete_step() : StepEnd{}; }
  void enter_event() override { calls_->enter_event(); }
  Happened update() override {
    ++events_;
    return calls_->update();
  }
  void leave_event() override { calls_->enter_continuous(); }

  /// An FMU that does not interpolate gets the mean of its inputs, which is right to second order.
  bool step(double t, double h, std::span<const double> from, std::span<const double> to, bool linear) override {
    for (std::size_t k = 0; k < from.size(); ++k) {
      const FmuDescription::Variable& v = block_.input(k);
      const bool real = v.type == Type::kFloat64 && v.variability == "continuous";
      const bool ramp = linear && real && block_.interface().interpolates;
      calls_->set(v, linear && real && !ramp ? 0.5 * (from[k] + to[k]) : from[k]);
      if (ramp) calls_->set_rate(v, (to[k] - from[k]) / h);
    }
    return calls_->do_step(t, h);
  }

  std::optional<std::string> save() override {
    if (block_.interface().serializes) return calls_->save();
    const bool remembers = !block_.is_exchange() || block_.description().indicators > 0 || events_ > 1;
    return remembers ? std::nullopt : std::optional<std::string>("");
  }
  void restore(const std::string& saved) override {
    if (block_.interface().serializes) calls_->restore(saved);
  }

 private:
  void make() {
    const auto make = block_.description().version == 2 ? make_fmi2_calls : make_fmi3_calls;
    calls_ = make(block_.library(), block_.description(), block_.is_exchange(), block_.request().name);
  }

  const FmuBlock& block_;
  std::unique_ptr<FmuCalls> calls_;
  long events_ = 0;
};

std::unique_ptr<BlockInstance> FmuBlock::instantiate() const { return std::make_unique<FmuBlockInstance>(*this); }

}  // namespace

void throw_out_of_range(const FmuDescription::Variable& variable, double value) {
  throw BlockError(
      fmt::format("'{}' of an FMU is {}, which its type {} cannot hold", variable.name, value, in_words(variable.type)));
}

FmuLibrary::FmuLibrary(fs::path folder, const fs::path& object, std::string name)
    : folder_(std::move(folder)), name_(std::move(name)) {
  handle_ = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    std::string why = dlerror();
    for (std::size_t at = why.find(folder_.string()); at != std::string::npos; at = why.find(folder_.string()))
      why.erase(at, folder_.string().size() + 1);  // where it was unpacked is of no interest
    throw InputError({name_, 0, 0}, "its binary cannot be loaded: " + why);
  }
}

FmuLibrary::~FmuLibrary() {
  dlclose(handle_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void* FmuLibrary::function(const std::string& name) const { return dlsym(handle_, name.c_str()); }

std::shared_ptr<const SignalBlock> make_fmu_block(FmuRequest request) {
  if (forbidden)
    throw InputError(request.place, fmt::format("the FMU '{}' is not run: FMUs are forbidden (--no-fmu)", request.name));
  return std::make_shared<const FmuBlock>(std::move(request));
}

void forbid_fmus() { forbidden = true; }

}  // namespace linkwork
