#include "linkwork/integrators/sundials.h"

#include <fmt/format.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <cmath>

#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

SUNContext make_context() {
  SUNContext context = nullptr;
  SUNContext_Create(nullptr, &context);
  return context;
}

}  // namespace

void ignore_sundials_error(int, const char*, const char*, char*, void*) {}

SundialsIntegrator::SundialsIntegrator(const Model& model, std::string name)
    : model_(model), name_(std::move(name)), nq_(model.tree.nq), nv_(model.tree.nv), context_(make_context()) {
  state_.q.resize(nq_);
  state_.v.resize(nv_);
}

SundialsIntegrator::~SundialsIntegrator() = default;

void SundialsIntegrator::pack(const State& state, N_Vector y) const {
  Eigen::Map<VecX<double>>(N_VGetArrayPointer(y), state_size()) << state.q, state.v, state.work, state.z;
}

void SundialsIntegrator::unpack(const N_Vector y, State& state) const {
  const Eigen::Map<const VecX<double>> all(N_VGetArrayPointer(y), state_size());
  state.q = all.head(nq_);
  state.v = all.segment(nq_, nv_);
  state.work = all[nq_ + nv_];
  state.z = all.tail(nz_);
}

N_Vector SundialsIntegrator::absolute_tolerances() {
  constexpr double kAny = 1e30;
  N_VConst(atol(), tolerances_.get());
  N_VGetArrayPointer(tolerances_.get())[nq_ + nv_] = kAny;
  return tolerances_.get();
}

bool SundialsIntegrator::continues(const State& from) const {
  constexpr double kTold = 10.0;  // of the tolerances, root mean square: about what the error of a run comes to
  if (!made_ || interrupted_ || std::abs(from.t - step_end_) > 1e-6 * (step_end_ - step_start_) || from.z.size() != nz_)
    return false;
  double sum = 0.0;
  const auto add = [&](const VecX<double>& now, const VecX<double>& then) {
    for (Eigen::Index i = 0; i < now.size(); ++i) sum += std::pow((now[i] - then[i]) / (atol() + rtol() * std::abs(then[i])), 2);
  };
  add(from.q, left_.q), add(from.v, left_.v), add(from.z, left_.z);
  return std::sqrt(sum / std::max(1, nq_ + nv_ + nz_)) <= kTold;
}

void SundialsIntegrator::begin_at(const State& from, const Derivative& rates) {
  nz_ = static_cast<int>(from.z.size());
  if (made_) rejected_before_ += rejected_now();
  if (!y_ || N_VGetLength(y_.get()) != size()) {
    y_.reset(N_VNew_Serial(size(), context()));
    tolerances_.reset(N_VClone(y_.get()));
    inside_.reset(N_VClone(y_.get()));
    made_ = false;
  }
  N_VConst(0.0, y_.get());
  pack(from, y_.get());
  begin(from.t, rates);
  made_ = true;
  interrupted_ = false;
}

Status SundialsIntegrator::step(EquationsOfMotion& equations, const State& from, const Derivative& rates, double h, State& to) {
  equations_ = &equations;
  trouble_.clear();
  const bool anew = !continues(from);
  if (anew) begin_at(from, rates);
  double reached = from.t;
  int flag = advance(from.t + h, reached);
  if (flag < 0 && !anew) {  // a fresh start may do better
    begin_at(from, rates);
    flag = advance(from.t + h, reached);
  }
  if (flag < 0) {
    made_ = false;
    return {fmt::format("integrator '{}' gives up: {}", name_, trouble_.empty() ? describe_failure(flag) : trouble_)};
  }
  unpack(y_.get(), to);
  to.t = reached;
  normalize_quaternions(model_.tree, to.q.data());
  step_start_ = from.t;
  step_end_ = reached;
  left_ = to;
  return {};
}

void SundialsIntegrator::interpolate(double t, State& at) const {
  interpolate_to(t, inside_.get());
  unpack(inside_.get(), at);
  at.t = t;
  normalize_quaternions(model_.tree, at.q.data());
}

int SundialsIntegrator::rates_at(N_Vector ydot) {
  if (Status status = equations_->evaluate(state_, rates_); !status.ok()) {
    trouble_ = status.trouble;
    return 1;
  }
  Eigen::Map<VecX<double>>(N_VGetArrayPointer(ydot), state_size()) << rates_.qdot, rates_.vdot, rates_.power, rates_.zdot;
  return 0;
}

int SundialsIntegrator::right_side(realtype t, N_Vector y, N_Vector ydot, void* user_data) {
  SundialsIntegrator& self = *static_cast<SundialsIntegrator*>(user_data);
  self.unpack(y, self.state_);
  self.state_.t = t;
  return self.rates_at(ydot);
}

int SundialsIntegrator::projected_right_side(realtype t, N_Vector y, N_Vector ydot, void* user_data) {
  SundialsIntegrator& self = *static_cast<SundialsIntegrator*>(user_data);
  return self.take_projected(t, y) ? self.rates_at(ydot) : 1;
}

bool SundialsIntegrator::take_projected(double t, N_Vector y) {
  unpack(y, state_);
  state_.t = t;
  normalize_quaternions(model_.tree, state_.q.data());
  const Status status = equations_->project(state_);
  if (!status.ok()) trouble_ = status.trouble;
  return status.ok();
}

int SundialsIntegrator::project(double t, N_Vector y) {
  if (!take_projected(t, y)) return 1;
  pack(state_, y);
  return 0;
}

void make_ode_linear_solver(N_Vector y, SUNContext context, OwnedMatrix& matrix, OwnedLinearSolver& solver) {
  constexpr sunindextype kDenseUpTo = 300;
  const sunindextype size = N_VGetLength(y);
  matrix.reset(size <= kDenseUpTo ? SUNDenseMatrix(size, size, context) : nullptr);
  solver.reset(matrix ? SUNLinSol_Dense(y, matrix.get(), context) : SUNLinSol_SPGMR(y, SUN_PREC_NONE, 30, context));
}

}  // namespace linkwork
