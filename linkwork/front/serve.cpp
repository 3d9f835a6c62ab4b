#include "linkwork/front/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "linkwork/import/robot_file.h"
#include "linkwork/model/model.h"
#include "linkwork/modules/assembly_plan.h"
#include "linkwork/modules/model_module.h"
#include "linkwork/modules/settings_check.h"
#include "linkwork/simulation/columns.h"
#include "linkwork/simulation/mechanism_watch.h"

namespace linkwork {

namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

Spec read_part(const std::filesystem::path& file, Texts set, const remote::Open* request) {
  if (request != nullptr)
    for (const auto& [name, value] : request->parameters) set.emplace_back(name, fmt::format("{}", value));
  Spec spec = read_any_model(file, {}, {.set = set});
  if (request == nullptr) return spec;
  if (request->gravity.size() == 3) spec.settings.gravity = {request->gravity[0], request->gravity[1], request->gravity[2]};
  const std::pair<const std::string&, Choice&> choices[] = {{request->stabilization, spec.settings.stabilization},
                                                            {request->formulation, spec.settings.formulation},
                                                            {request->coordinates, spec.settings.coordinates}};
  for (const auto& [text, choice] : choices)
    if (!text.empty()) choice = parse_choice(text, {});
  check_settings(spec.settings);
  return spec;
}

/// What comes and goes is decided where the whole is known, which is nowhere.
void check_part(const Spec& spec, const Model& model) {
  for (const BlockSpec& block : spec.blocks)
    throw InputError(block.place, fmt::format("the FMU '{}' cannot run in a module of its own", block.name),
                     "a model without FMUs");
  if (spec.ports.empty()) throw InputError(spec.place, fmt::format("'{}' has no ports to be joined at", spec.name), "a [[port]]");
  if (MechanismWatch::is_needed(model))
    throw InputError(spec.place, fmt::format("events, contacts, stops or dry friction come and go in '{}'", spec.name),
                     "a module in which all holds all the time");
  if (!spec.custom_forces.empty()) throw InputError(spec.place, "custom forces belong to a program", "a model file");
}

ServedModule make_part(const Spec& given, const remote::Open& request, const std::vector<std::string>& columns) {
  std::vector<FrameSpec> frames;
  for (const std::string& port : request.ports) {
    const auto found = std::ranges::find(given.ports, port, &PortSpec::name);
    if (found == given.ports.end()) {
      std::vector<std::string> names;
      for (const PortSpec& own : given.ports) names.push_back(own.name);
      throw unknown_name({}, "port", port, names);
    }
    frames.push_back(found->frame);
  }
  Spec spec = given;
  spec.settings.columns = columns;
  Model model = build_model(spec);
  check_part(spec, model);
  ServedModule served;
  served.length = longest_distance(spec);
  for (const Body& body : model.bodies) served.mass += body.mass;
  for (const Input& input : model.inputs) served.inputs.push_back(input.name);
  const Settings settings = model.settings;
  served.module = make_model_module(std::move(model), frames);
  if (!columns.empty()) served.shown = ColumnChoice(settings).among(served.module->columns());
  return served;
}

}  // namespace

ServedParts served_model(const std::filesystem::path& file, const Parameters& parameters,
                         const std::vector<std::string>& columns) {
  Texts set;
  for (const auto& [name, value] : parameters) set.emplace_back(name, value.text);
  const Spec spec = read_part(file, set, nullptr);
  check_part(spec, build_model(spec));
  const auto make = [file, set, columns](const remote::Open& request) {
    return make_part(read_part(file, set, &request), request, columns);
  };
  make_part(spec, {.part = spec.name, .ports = {}, .parameters = {}, .gravity = {}, .stabilization = {}},
            columns);  // columns exist
  return {{file.stem().string(), make}, {spec.name, make}};
}

ServedParts served_module(const std::string& part, const std::vector<std::string>& ports,
                          std::function<ServedModule(const remote::Open& request)> make) {
  return {{part, [part, ports, make = std::move(make)](const remote::Open& request) {
             if (request.ports != ports)
               throw InputError({}, fmt::format("the ports {} of '{}' were asked for", listed(request.ports), part),
                                listed(ports));
             return make(request);
           }}};
}

void serve(const ServedParts& parts, const ListenSettings& settings, const std::function<void(int port)>& listening,
           const std::function<bool()>& go_on) {
  const std::unique_ptr<Sealer> sealer = network().make_sealer(settings.credentials.key);
  network().listen(
      settings, [&] { return std::make_unique<Conversation>(parts, *sealer); }, listening, go_on);
}

}  // namespace linkwork
