#include "linkwork/modules/remote/remote_assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "linkwork/integrators/tableau.h"
#include "linkwork/model/kinds.h"
#include "linkwork/model/model.h"
#include "linkwork/modules/block_module.h"
#include "linkwork/modules/remote/remote_module.h"
#include "linkwork/simulation/mechanism_watch.h"
#include "linkwork/transport/text.h"

namespace linkwork {

namespace {

/// What is given in the model, or else in the environment.
Credentials credentials_of(const RemoteModules& remote) {
  const auto find = [&](const std::string& given, const char* key, const char* variable) {
    if (!given.empty()) return given;
    if (const char* const set = std::getenv(variable); set != nullptr && *set != '\0') return std::string(set);
    const RemoteModuleSpec& first = *std::ranges::find(remote.modules, nullptr, &RemoteModuleSpec::fmu);
    throw InputError(first.place, fmt::format("the module '{}' is on another host, and '{}' is not given", first.name, key),
                     fmt::format("{} = \"FILE\" in [settings.network], or the variable {}", key, variable));
  };
  return {find(remote.network.cert, "cert", "LINKWORK_CERT"), find(remote.network.key, "key", "LINKWORK_KEY"),
          find(remote.network.ca, "ca", "LINKWORK_CA")};
}

/// The hosts of a run. Each rank has lines of its own; ranks may be threads.
class RemoteHosts {
 public:
  RemoteHosts(DialHost dial, double timeout) : dial_(std::move(dial)), timeout_(timeout) {}

  std::shared_ptr<RemoteHost> at(const std::string& host) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<RemoteHost>& known = hosts_[{std::this_thread::get_id(), host}];
    std::shared_ptr<RemoteHost> found = known.lock();
    if (!found || !found->lost().empty()) {
      found = std::make_shared<RemoteHost>(
          "linkwork://" + host, [dial = dial_, host] { return dial(host); }, timeout_);
      known = found;
    }
    return found;
  }

 private:
  DialHost dial_;
  double timeout_;
  std::mutex mutex_;
  std::map<std::pair<std::thread::id, std::string>, std::weak_ptr<RemoteHost>> hosts_;
};

std::string text_of(const Choice& choice) {
  std::string text = choice.name;
  for (const auto& [name, value] : choice.options) text += fmt::format("{}{}={}", text == choice.name ? ":" : ",", name, value);
  return text;
}

/// How many states and rates a step may need at a time, corrections and rows in between included.
std::uint32_t slots_for(const Settings& settings) {
  const auto tableau = std::ranges::find(tableaus(), settings.integrator.name, &Tableau::name);
  const std::size_t stages = tableau == tableaus().end() ? 4 : tableau->b.size();
  std::size_t slots = 2 * stages + 40;
  const auto option = [&](const char* name, double otherwise) {
    const auto given = settings.glue.options.find(name);
    return static_cast<std::size_t>(given == settings.glue.options.end() ? otherwise : std::clamp(given->second, 1.0, 1e6));
  };
  if (settings.glue.name == "waveform") slots += (option("window", 20.0) + 1) * (stages + 6);
  if (settings.glue.name == "gluing") slots += (option("most", 50.0) + 1) * 16;
  return static_cast<std::uint32_t>(slots);
}

remote::Open request_for(const ModulePlan& plan, const Settings& settings) {
  remote::Open request{.part = plan.remote->part, .ports = plan.ports, .parameters = {}, .gravity = {}, .stabilization = {}};
  for (const auto& [name, value] : plan.remote->parameters) request.parameters.push_back({name, value});
  request.gravity.assign(settings.gravity.begin(), settings.gravity.end());
  request.stabilization = text_of(settings.stabilization);
  request.slots = slots_for(settings);
  request.formulation = text_of(settings.formulation);
  request.coordinates = text_of(settings.coordinates);
  return request;
}

/// All of a model that is here.
Spec local_part(const Spec& spec) {
  const RemoteModules& remote = *remote_modules(spec);
  Spec local = spec;
  const auto is_remote = [&](const auto& thing) {
    return remote.of_body(thing.a.body) != nullptr || remote.of_body(thing.b.body) != nullptr;
  };
  std::erase_if(local.closures, is_remote);
  std::erase_if(local.forces, is_remote);
  local.modules.clear();
  return local;
}

}  // namespace

void use_remote_modules(AssemblyPlan& plan, const Spec& spec, Transport& transport, DialHost dial) {
  const RemoteModules& remote = *remote_modules(spec);
  const auto is_fmu = [](const RemoteModuleSpec& module) { return module.fmu != nullptr; };
  if (!dial && !std::ranges::all_of(remote.modules, is_fmu)) {
    const Credentials credentials = credentials_of(remote);
    const double timeout = remote.network.timeout;
    dial = [credentials, timeout](const std::string& host) { return network().dial(host, credentials, timeout); };
  }
  const auto hosts = std::make_shared<RemoteHosts>(std::move(dial), remote.network.timeout);
  for (ModulePlan& module : plan.modules)
    if (module.remote && is_fmu(*module.remote))
      module.make = [at = *module.remote, ports = module.ports](const std::vector<double>&) -> std::unique_ptr<Module> {
        try {
          return make_block_module(at.name, at.fmu, ports);
        } catch (const InputError& error) {
          throw InputError(at.place, error.message());
        }
      };
    else if (module.remote)
      module.make = [hosts, request = request_for(module, plan.settings),
                     at = *module.remote](const std::vector<double>&) -> std::unique_ptr<Module> {
        try {
          return std::make_unique<RemoteModule>(at.name, hosts->at(at.host), request);
        } catch (const InputError& error) {
          throw InputError(at.place, fmt::format("module '{}': {}", at.name, error.message()));
        } catch (const std::runtime_error& error) {
          throw InputError(at.place, fmt::format("module '{}' at linkwork://{}: {}", at.name, at.host, error.what()));
        }
      };

  double mass = 0.0, length = 0.0, local = 0.0;
  std::string trouble;
  if (transport.rank() == 0) {
    try {
      const auto model = std::make_shared<const Model>(build_model(local_part(spec)));
      local = spec.bodies.empty() ? 0.0 : longest_distance(spec);
      length = model->bodies.empty() ? 0.0 : model->units.length;
      for (const Body& body : model->bodies) mass += body.mass;
      plan.watched = MechanismWatch::is_needed(*model);
      plan.drawn = model;
      std::vector<std::unique_ptr<Module>> made;  // together, over one line per host
      for (const ModulePlan& module : plan.modules) {
        if (!module.remote) continue;
        made.push_back(module.make({}));
        if (is_fmu(*module.remote)) continue;
        const auto& own = static_cast<const RemoteModule&>(*made.back());
        length = std::max(length, own.length());
        local = std::max(local, own.length());
        mass += own.mass();
      }
    } catch (const InputError& error) {
      trouble = error.what();
    }
  }
  trouble = said_by_first(transport, trouble);
  if (!trouble.empty()) throw InputError({}, trouble);
  std::vector<double> numbers{mass, length, local, plan.watched ? 1.0 : 0.0};
  transport.broadcast(numbers, 0);
  mass = numbers[0], length = numbers[1], local = numbers[2];
  plan.watched = numbers[3] != 0.0;
  if (length > 0.0) plan.length = length;
  if (!spec.settings.tolerance_in_metres)
    plan.settings.constraint_tolerance = spec.settings.constraint_tolerance * std::max(kShortestDistance, local);
  const double gravity = plan.settings.gravity.norm();
  plan.energy = mass * gravity * plan.length;
  plan.weight = mass * (gravity > 0.0 ? gravity : plan.length);
}

}  // namespace linkwork
