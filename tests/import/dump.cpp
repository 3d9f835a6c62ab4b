// Prints the mass matrix and the bias forces of a robot file at some states, for comparison with another program: a line of JSON.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <random>

#include "linkwork/import/robot_file.h"
#include "linkwork/model/model.h"
#include "linkwork/tree/crba.h"
#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/rnea.h"

int main(int argc, char** argv) {
  using namespace linkwork;
  if (argc != 2) return 2;
  const Model model = build_model(read_robot_file(argv[1]));
  nlohmann::json out;
  for (const Joint& joint : model.joints) out["joints"].push_back({{"name", joint.name}, {"q", joint.q}, {"v", joint.v}});
  std::mt19937 random(5);
  const auto uniform = [&] { return 2.0 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 1.0; };
  TreeWork<double> work(model.tree);
  for (int trial = 0; trial < 5; ++trial) {
    VecX<double> q(model.tree.nq), v(model.tree.nv), c;
    for (double& x : q) x = uniform();
    for (double& x : v) x = uniform();
    normalize_quaternions(model.tree, q.data());
    update_motion(model.tree, q.data(), v.data(), work);
    work.clear_forces();
    bias_forces(model.tree, work, c);
    MatX<double> M;
    mass_matrix(model.tree, work, M);
    nlohmann::json rows;
    for (int i = 0; i < M.rows(); ++i) rows.push_back(std::vector<double>(M.row(i).begin(), M.row(i).end()));
    out["states"].push_back({{"q", std::vector<double>(q.begin(), q.end())},
                             {"v", std::vector<double>(v.begin(), v.end())},
                             {"M", rows},
                             {"c", std::vector<double>(c.begin(), c.end())}});
  }
  fmt::print("{}\n", out.dump());
}
