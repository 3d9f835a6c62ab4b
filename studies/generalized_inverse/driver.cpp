#include "studies/generalized_inverse/driver.h"

#include <Eigen/Cholesky>

#include "linkwork/coordinates/fully_augmented.h"
#include "linkwork/io/model_file.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork::studies::generalized_inverse {
namespace {

using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Model driver_model(const StudyContext& context, bool free_bodies) {
  Spec spec = read_model_file(context.models / "constant_speed_driver.toml");
  spec.settings.coordinates = {"TA", {}, {}};
  Model model = build_model(spec);
  return free_bodies ? fully_augmented(model) : model;
}

State start_of(const StudyContext& context, const Model& model, bool free_bodies) {
  const Model tree = driver_model(context, false);
  State state = Simulation(tree).state();
  if (!free_bodies) return state;
  System system(tree);
  system.update(state);
  state.q.resize(model.tree.nq);
  state.v.resize(model.tree.nv);
  free_body_state(tree, system.work(), state.q.data(), state.v.data());
  return state;
}

void store(const auto& matrix, std::vector<double>& numbers) {
  numbers.resize(static_cast<std::size_t>(matrix.size()));
  Eigen::Map<ByRows>(numbers.data(), matrix.rows(), matrix.cols()) = matrix;
}

}  // namespace

Driver::Driver(const StudyContext& context, bool free_bodies)
    : model_(driver_model(context, free_bodies)), state_(start_of(context, model_, free_bodies)), system_(model_) {
  update();
}

void Driver::update() {
  system_.update(state_);
  system_.update_forces();
  store(system_.mass_matrix(), M_);
  store(system_.jacobian(), A_);
  store(system_.terms().b, b_);
  store(VecX<double>(system_.work().tau - system_.bias()), f_);
}

MatX<double> Driver::weighted_rows() const {
  MatX<double> rows = Eigen::Map<const ByRows>(A_.data(), m(), n()).transpose();
  const MatX<double> mass = Eigen::Map<const ByRows>(M_.data(), n(), n());
  mass.llt().matrixL().solveInPlace(rows);
  return rows;
}

void Driver::integrate(const std::vector<double>& a, double h) {
  const VecX<double> step = h * state_.v;
  displace(model_.tree, state_.q.data(), step.data());
  state_.v += h * Eigen::Map<const VecX<double>>(a.data(), n());
  state_.t += h;
}

}  // namespace linkwork::studies::generalized_inverse
