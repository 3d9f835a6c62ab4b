#include "linkwork/fmi/model_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <pugixml.hpp>
#include <set>

#include "linkwork/model/input_error.h"

namespace linkwork {

namespace {

using Type = FmuDescription::Type;

constexpr std::size_t kLargest = 64U << 20U;
constexpr std::size_t kMostVariables = 1'000'000;

const std::map<std::string_view, Type>& types3() {
  static const std::map<std::string_view, Type> types{
      {"Float64", Type::kFloat64}, {"Float32", Type::kFloat32}, {"Int8", Type::kInt8},        {"UInt8", Type::kUInt8},
      {"Int16", Type::kInt16},     {"UInt16", Type::kUInt16},   {"Int32", Type::kInt32},      {"UInt32", Type::kUInt32},
      {"Int64", Type::kInt64},     {"UInt64", Type::kUInt64},   {"Boolean", Type::kBoolean},  {"String", Type::kString},
      {"Binary", Type::kBinary},   {"Clock", Type::kClock},     {"Enumeration", Type::kInt64}};
  return types;
}

const std::map<std::string_view, Type>& types2() {
  static const std::map<std::string_view, Type> types{{"Real", Type::kFloat64},
                                                      {"Integer", Type::kInt32},
                                                      {"Enumeration", Type::kInt32},
                                                      {"Boolean", Type::kBoolean},
                                                      {"String", Type::kString}};
  return types;
}

class Reader {
 public:
  Reader(std::string_view xml, const std::string& file) : file_(file) {
    if (xml.size() > kLargest) throw refuse("is larger than 64 MB");
    // A document type could define entities; none of the standard's files has one.
    if (xml.find("<!DOCTYPE") != std::string_view::npos) throw refuse("has a document type, which the standard does not know");
    const pugi::xml_parse_result result = document_.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_auto);
    if (!result) throw refuse(fmt::format("is not XML: {} at byte {}", result.description(), result.offset));
  }

  FmuDescription read() {
    const pugi::xml_node root = document_.child("fmiModelDescription");
    if (!root) throw refuse("has no <fmiModelDescription>");
    const std::string version = text(root, "fmiVersion");
    if (version == "2.0")
      fmu_.version = 2;
    else if (version == "3.0" || version.starts_with("3.0"))
      fmu_.version = 3;
    else
      throw refuse(version.empty() ? "does not say its version of FMI" : fmt::format("is of FMI {}", version), "2.0 or 3.0");
    fmu_.name = text(root, "modelName");
    fmu_.token = required(root, fmu_.version == 2 ? "guid" : "instantiationToken");
    for (const pugi::xml_node node : root.children("ModelExchange")) fmu_.exchange = interface(node);
    for (const pugi::xml_node node : root.children("CoSimulation")) fmu_.co_simulation = interface(node);
    if (!fmu_.exchange && !fmu_.co_simulation)
      throw refuse(root.child("ScheduledExecution") ? "offers scheduled execution by clocks only, which is not supported"
                                                    : "offers neither model exchange nor co-simulation");
    if (const pugi::xml_node experiment = root.child("DefaultExperiment"); experiment.attribute("stepSize"))
      fmu_.step_size = number<double>(experiment, "stepSize");
    read_variables(root.child("ModelVariables"));
    const pugi::xml_node structure = root.child("ModelStructure");
    if (fmu_.version == 2) {
      for (const pugi::xml_node unknown : structure.child("Outputs").children("Unknown")) add_unknown(unknown, fmu_.outputs);
      for (const pugi::xml_node unknown : structure.child("Derivatives").children("Unknown"))
        add_unknown(unknown, fmu_.derivatives);
      if (root.attribute("numberOfEventIndicators")) fmu_.indicators = number<std::uint32_t>(root, "numberOfEventIndicators");
    } else {
      for (const pugi::xml_node unknown : structure.children("Output")) add_unknown(unknown, fmu_.outputs);
      for (const pugi::xml_node unknown : structure.children("ContinuousStateDerivative")) add_unknown(unknown, fmu_.derivatives);
      for ([[maybe_unused]] const pugi::xml_node indicator : structure.children("EventIndicator")) ++fmu_.indicators;
    }
    if (fmu_.indicators > kMostVariables) throw refuse("has too many event indicators");
    for (const FmuDescription::Unknown& unknown : fmu_.derivatives) {
      const FmuDescription::Variable& rate = fmu_.variables[unknown.variable];
      if (!rate.derivative_of || rate.type != Type::kFloat64)
        throw refuse(fmt::format("lists '{}' among the derivatives, which is none", rate.name));
    }
    return std::move(fmu_);
  }

 private:
  InputError refuse(const std::string& what, const std::string& expected = "") const {
    return expected.empty() ? InputError({file_, 0, 0}, what) : InputError({file_, 0, 0}, what, expected);
  }
  static std::string text(const pugi::xml_node& node, const char* name) { return node.attribute(name).value(); }
  std::string required(const pugi::xml_node& node, const char* name) const {
    if (!node.attribute(name)) throw refuse(fmt::format("has a <{}> without {}", node.name(), name));
    return text(node, name);
  }
  static bool flag(const pugi::xml_node& node, const char* name, bool otherwise = false) {
    const std::string value = text(node, name);
    return value.empty() ? otherwise : value == "true" || value == "1";
  }
  template <class Number>
  Number number(const pugi::xml_node& node, const char* name) const {
    const std::string value = required(node, name);
    Number result{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size())
      throw refuse(fmt::format("has a <{}> whose {} is '{}'", node.name(), name, value.substr(0, 40)), "a number");
    return result;
  }

  FmuDescription::Interface interface(const pugi::xml_node& node) const {
    FmuDescription::Interface made;
    made.identifier = required(node, "modelIdentifier");
    const auto is_bad = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.';
    };
    if (made.identifier.empty() || made.identifier.starts_with('.') || std::ranges::any_of(made.identifier, is_bad))
      throw refuse(fmt::format("has the model identifier '{}'", made.identifier.substr(0, 40)), "a name in the syntax of C");
    made.needs_tool = flag(node, "needsExecutionTool");
    made.gets_state = flag(node, fmu_.version == 2 ? "canGetAndSetFMUstate" : "canGetAndSetFMUState");
    made.serializes = made.gets_state && flag(node, fmu_.version == 2 ? "canSerializeFMUstate" : "canSerializeFMUState");
    made.derivatives = flag(node, fmu_.version == 2 ? "providesDirectionalDerivative" : "providesDirectionalDerivatives");
    made.interpolates = fmu_.version == 2 && flag(node, "canInterpolateInputs");
    made.variable_step = flag(node, "canHandleVariableCommunicationStepSize");
    made.completes_steps =
        fmu_.version == 2 ? !flag(node, "completedIntegratorStepNotNeeded") : flag(node, "needsCompletedIntegratorStep");
    return made;
  }

  void read_variables(const pugi::xml_node& list) {
    std::set<std::string> names;
    std::vector<std::pair<std::size_t, std::uint32_t>> derivatives;
    for (const pugi::xml_node node : list.children()) {
      if (node.type() != pugi::node_element) continue;
      FmuDescription::Variable v;
      pugi::xml_node of_type = node;
      if (fmu_.version == 2) {
        if (std::string_view(node.name()) != "ScalarVariable") continue;
        of_type = {};
        for (const pugi::xml_node child : node.children())
          if (types2().contains(child.name())) of_type = child;
        if (!of_type) throw refuse(fmt::format("has a variable '{}' without a type", text(node, "name")));
        v.type = types2().at(of_type.name());
      } else {
        const auto type = types3().find(node.name());
        if (type == types3().end()) continue;
        v.type = type->second;
        v.is_array = static_cast<bool>(node.child("Dimension"));
      }
      v.name = required(node, "name");
      v.reference = number<std::uint32_t>(node, "valueReference");
      if (node.attribute("causality")) v.causality = text(node, "causality");
      const bool is_real = v.type == Type::kFloat64 || v.type == Type::kFloat32;
      v.variability = node.attribute("variability")       ? text(node, "variability")
                      : v.causality.ends_with("arameter") ? "fixed"
                      : is_real                           ? "continuous"
                                                          : "discrete";
      v.start = text(of_type, "start");
      if (v.start.empty() && fmu_.version == 3) v.start = text(node.child("Start"), "value");
      if (of_type.attribute("derivative"))
        derivatives.emplace_back(fmu_.variables.size(), number<std::uint32_t>(of_type, "derivative"));
      if (!names.insert(v.name).second) throw refuse(fmt::format("has two variables named '{}'", v.name));
      if (fmu_.version == 3) place_of_.emplace(v.reference, fmu_.variables.size());
      fmu_.variables.push_back(std::move(v));
      if (fmu_.variables.size() > kMostVariables) throw refuse("has more than a million variables");
    }
    for (const auto& [rate, state] : derivatives) fmu_.variables[rate].derivative_of = variable_at(state);
  }

  /// By index from 1, or by value reference.
  std::size_t variable_at(std::uint32_t number) const {
    if (fmu_.version == 2 && number >= 1 && number <= fmu_.variables.size()) return number - 1;
    const auto found = place_of_.find(number);
    if (fmu_.version == 3 && found != place_of_.end()) return found->second;
    throw refuse(fmt::format("speaks of variable {}, which is not there", number));
  }

  void add_unknown(const pugi::xml_node& node, std::vector<FmuDescription::Unknown>& to) const {
    FmuDescription::Unknown unknown{variable_at(number<std::uint32_t>(node, fmu_.version == 2 ? "index" : "valueReference")), {}};
    if (const pugi::xml_attribute list = node.attribute("dependencies")) {
      unknown.depends_on.emplace();
      const std::string_view text = list.value();
      for (std::size_t from = text.find_first_not_of(" \t\r\n"); from != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(" \t\r\n", from), text.size());
        std::uint32_t number = 0;
        const auto [stop, error] = std::from_chars(text.data() + from, text.data() + end, number);
        if (error != std::errc() || stop != text.data() + end) throw refuse("has dependencies that are not numbers");
        unknown.depends_on->push_back(variable_at(number));
        from = text.find_first_not_of(" \t\r\n", end);
      }
    }
    to.push_back(std::move(unknown));
  }

  std::string file_;
  pugi::xml_document document_;
  FmuDescription fmu_;
  std::map<std::uint32_t, std::size_t> place_of_;
};

}  // namespace

const FmuDescription::Variable* FmuDescription::find(std::string_view wanted) const {
  const auto found = std::ranges::find(variables, wanted, &Variable::name);
  return found == variables.end() ? nullptr : &*found;
}

FmuDescription parse_model_description(std::string_view xml, const std::string& file) { return Reader(xml, file).read(); }

const char* in_words(Type type) {
  constexpr const char* kWords[]{"Float64", "Float32", "Int8",   "UInt8",   "Int16",  "UInt16", "Int32",
                                 "UInt32",  "Int64",   "UInt64", "Boolean", "String", "Binary", "Clock"};
  return kWords[static_cast<int>(type)];
}

}  // namespace linkwork
