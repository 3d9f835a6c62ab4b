#include "tests/support/mechanisms.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork::test {

Spec spec_of(const std::string& toml) { return read_model_text("linkwork = 1\nname = \"test\"\n" + toml, "test.toml"); }
Model model_of(const std::string& toml) { return build_model(spec_of(toml)); }

std::filesystem::path source_dir() { return LINKWORK_SOURCE_DIR; }

Spec library_spec(const std::string& name, const std::vector<std::pair<std::string, std::string>>& set) {
  ReadOptions options;
  options.set = set;
  return read_model_file(source_dir() / "models" / (name + ".toml"), options);
}

std::vector<std::string> library_models() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "models"))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

double uniform(std::mt19937& random) {
  return 2.0 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 1.0;
}

VecX<double> uniform_vector(std::mt19937& random, int size) {
  VecX<double> x(size);
  for (double& value : x) value = uniform(random);
  return x;
}

State start_state(const Model& model) {
  AssemblyReport report;
  return assemble(model, report);
}

State random_state(const Model& model, const State& around, std::mt19937& random, double spread) {
  State state = around;
  const VecX<double> change = spread * uniform_vector(random, model.tree.nv);
  displace(model.tree, state.q.data(), change.data());
  state.v = uniform_vector(random, model.tree.nv);
  return state;
}

State random_consistent_state(const Model& model, std::mt19937& random) {
  Model kicked = model;
  for (Joint& joint : kicked.joints) joint.fixed = false;
  for (double& v : kicked.start_v) v += uniform(random);
  if (model.settings.integrator.name != "generalized-alpha")
    kicked.settings.integrator = {"rk4", {}, {}};  // not where it is stiff
  kicked.settings.end = 0.15 * (1.1 + uniform(random)) * std::min(1.0, model.settings.end);
  kicked.settings.step = 1e-3 * std::min(1.0, model.settings.end);
  Simulation simulation(kicked);
  simulation.run();
  return simulation.state();
}

double relative_difference(const VecX<double>& a, const VecX<double>& b) {
  if (a.size() == 0) return 0.0;
  return (a - b).cwiseAbs().maxCoeff() / std::max(1.0, b.cwiseAbs().maxCoeff());
}

std::string generic_axis(const std::string& type) {
  if (type == "universal") return "axis = [0.6, 0.0, 0.8]\naxis2 = [0.0, 1.0, 0.0]\n";
  if (type == "screw") return "axis = [0.48, 0.6, 0.64]\npitch = 0.7\n";
  if (type == "distance") return "length = 0.9\n";
  if (type == "rolling-ball" || type == "point-contact") return "";
  if (type == "spherical" || type == "free" || type == "weld" || type == "translational" || type == "point") return "";
  return "axis = [0.48, 0.6, 0.64]\n";
}

std::string generic_chain(const std::vector<std::string>& types, bool reversed, int branch) {
  std::string toml = "settings.gravity = [0.3, -9.81, 1.2]\n";
  for (std::size_t i = 0; i < types.size(); ++i) {
    const double k = static_cast<double>(i + 1);
    const std::size_t on = branch > 0 && i > 1 && i % static_cast<std::size_t>(branch) == 0 ? i - 1 : i;
    const std::string inner = fmt::format(R"({{ body = "{}", at = [{}, 0.2, {}], rpy = [0.3, {}, -0.4] }})",
                                          on == 0 ? "ground" : fmt::format("b{}", on - 1), 0.4 + 0.1 * k, -0.1 * k, 0.2 * k);
    const std::string outer =
        fmt::format(R"({{ body = "b{}", at = [0.1, -{}, 0.05], rpy = [-0.2, 0.5, {}] }})", i, 0.03 * k, 0.1 * k);
    toml += fmt::format(R"(
[[body]]
name = "b{}"
mass = {}
com = [0.2, {}, -0.1]
inertia = [{}, 0.11, 0.09, 0.01, -0.02, 0.015]
[[joint]]
name = "j{}"
type = "{}"
parent = {}
child = {}
{})",
                        i, 1.0 + 0.3 * k, 0.05 * k, 0.1 + 0.005 * k, i, types[i], reversed ? outer : inner,
                        reversed ? inner : outer, generic_axis(types[i]));
  }
  return toml;
}

}  // namespace linkwork::test
