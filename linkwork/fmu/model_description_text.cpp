#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "linkwork/fmu/exported_model.h"
#include "linkwork/fmu/fmu_export.h"
#include "linkwork/version.h"

namespace linkwork {

namespace {

using Role = FmuVariable::Role;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += ' ';
    else
      out += c;
  }
  return out;
}

/// attribute="value", with a blank before.
template <class T>
std::string attribute(const char* name, const T& value) {
  return fmt::format(" {}=\"{}\"", name, escaped(fmt::format("{}", value)));
}

struct Kind {
  const char *causality, *variability, *initial;  // initial: of FMI 2; null: the default
};

Kind kind_of(const FmuVariable& v) {
  switch (v.role) {
    case Role::kTime:
      return {"independent", "continuous", nullptr};
    case Role::kInput:
      return {"input", "continuous", nullptr};
    case Role::kOutput:
      return {"output", "continuous", "calculated"};
    case Role::kParameter:
      return {"parameter", v.tunable ? "tunable" : "fixed", "exact"};
    case Role::kCalculated:
      return {"calculatedParameter", v.tunable ? "tunable" : "fixed", "calculated"};
    default:
      return {"local", "continuous", "calculated"};
  }
}

bool has_start(const FmuVariable& v) { return v.role == Role::kInput || v.role == Role::kParameter; }

bool is_unknown_at_start(const FmuVariable& v) {
  return v.role == Role::kOutput || v.role == Role::kCalculated || v.role == Role::kState || v.role == Role::kRate;
}

/// Writes the parts that both versions have, with what differs between them in one place each.
class Description {
 public:
  Description(const FmuInterface& model, const FmuOptions& options) : model_(model), options_(options) {
    for (const FmuVariable& v : model.variables)
      if (is_shown(v)) shown_.push_back(&v);
  }

  std::string text() {
    head();
    interfaces();
    units();
    line(1, "<LogCategories>");
    for (const char* const name : {"logEvents", "logStatusWarning", "logStatusDiscard", "logStatusError"})
      line(2, fmt::format("<Category name=\"{}\"/>", name));
    line(1, "</LogCategories>");
    line(1, fmt::format("<DefaultExperiment startTime=\"0\" stopTime=\"{}\" tolerance=\"{}\"{}/>", model_.end, model_.tolerance,
                        attribute("stepSize", model_.step)));
    line(1, "<ModelVariables>");
    for (const FmuVariable* v : shown_) variable(*v);
    line(1, "</ModelVariables>");
    line(1, "<ModelStructure>");
    is_2() ? structure2() : structure3();
    line(1, "</ModelStructure>");
    line(0, "</fmiModelDescription>");
    return text_;
  }

 private:
  bool is_2() const { return options_.fmi == 2; }

  bool is_shown(const FmuVariable& v) const {
    if (v.role == Role::kState || v.role == Role::kRate) return options_.model_exchange;
    return v.role != Role::kIndicator || (options_.model_exchange && !is_2());
  }

  void line(int depth, const std::string& text) { text_ += std::string(static_cast<std::size_t>(2 * depth), ' ') + text + "\n"; }
  std::size_t reference(const FmuVariable& v) const { return static_cast<std::size_t>(&v - model_.variables.data()); }

  void head() {
    line(0, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    std::string head = "<fmiModelDescription" + attribute("fmiVersion", is_2() ? "2.0" : "3.0") +
                       attribute("modelName", model_.name) + attribute(is_2() ? "guid" : "instantiationToken", model_.token) +
                       attribute("generationTool", "Linkwork " LINKWORK_VERSION) + attribute("variableNamingConvention", "flat");
    if (is_2()) head += attribute("numberOfEventIndicators", options_.model_exchange ? model_.count(Role::kIndicator) : 0);
    line(0, head + ">");
  }

  void interfaces() {
    const std::string identifier = attribute("modelIdentifier", model_identifier(model_.name));
    const std::string state = is_2() ? " canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\""
                                     : " canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"";
    if (options_.model_exchange)
      line(1, "<ModelExchange" + identifier + state +
                  (is_2() ? " providesDirectionalDerivative=\"true\""
                          : " providesDirectionalDerivatives=\"true\" needsCompletedIntegratorStep=\"true\"") +
                  "/>");
    if (options_.co_simulation)
      line(1, "<CoSimulation" + identifier + state + " canHandleVariableCommunicationStepSize=\"true\"/>");
  }

  void units() {
    std::set<std::string> names;
    for (const FmuVariable* v : shown_)
      if (!v->unit.empty()) names.insert(v->unit);
    line(1, "<UnitDefinitions>");
    for (const std::string& name : names) line(2, "<Unit" + attribute("name", name) + "/>");
    line(1, "</UnitDefinitions>");
  }

  void variable(const FmuVariable& v) {
    const Kind kind = kind_of(v);
    std::string common = attribute("name", v.name) + attribute("valueReference", reference(v));
    if (!v.description.empty()) common += attribute("description", v.description);
    common += attribute("causality", kind.causality) + attribute("variability", kind.variability);
    std::string real;
    if (!v.unit.empty()) real += attribute("unit", v.unit);
    if (has_start(v)) real += attribute("start", v.start);
    if (v.role == Role::kRate) {
      const std::size_t state = reference(v) - model_.count(Role::kState);
      real += attribute("derivative", is_2() ? state + 1 : state);
    }
    if (v.role == Role::kState) real += " reinit=\"true\"";
    if (kind.initial != nullptr) common += attribute("initial", kind.initial);
    if (is_2())
      line(2, "<ScalarVariable" + common + "><Real" + real + "/></ScalarVariable>");
    else
      line(2, "<Float64" + common + real + "/>");
  }

  void structure2() {
    const auto list = [&](const char* name, auto wanted) {
      if (std::ranges::none_of(shown_, [&](const FmuVariable* v) { return wanted(*v); })) return;
      line(2, fmt::format("<{}>", name));
      for (const FmuVariable* v : shown_)
        if (wanted(*v)) line(3, "<Unknown" + attribute("index", reference(*v) + 1) + "/>");
      line(2, fmt::format("</{}>", name));
    };
    list("Outputs", [](const FmuVariable& v) { return v.role == Role::kOutput; });
    list("Derivatives", [](const FmuVariable& v) { return v.role == Role::kRate; });
    list("InitialUnknowns", is_unknown_at_start);
  }

  void structure3() {
    const auto list = [&](const char* name, auto wanted) {
      for (const FmuVariable* v : shown_)
        if (wanted(*v)) line(2, fmt::format("<{}{}/>", name, attribute("valueReference", reference(*v))));
    };
    list("Output", [](const FmuVariable& v) { return v.role == Role::kOutput; });
    list("ContinuousStateDerivative", [](const FmuVariable& v) { return v.role == Role::kRate; });
    list("InitialUnknown", is_unknown_at_start);
    list("EventIndicator", [](const FmuVariable& v) { return v.role == Role::kIndicator; });
  }

  const FmuInterface& model_;
  const FmuOptions& options_;
  std::vector<const FmuVariable*> shown_;
  std::string text_;
};

}  // namespace

std::string model_description(const FmuInterface& model, const FmuOptions& options) { return Description(model, options).text(); }

std::string model_identifier(const std::string& name) {
  std::string identifier;
  for (const char c : name) identifier += std::isalnum(static_cast<unsigned char>(c)) != 0 && (c & 0x80) == 0 ? c : '_';
  if (identifier.empty() || std::isdigit(static_cast<unsigned char>(identifier[0])) != 0) identifier.insert(0, "_");
  return identifier.substr(0, 100);
}

}  // namespace linkwork
