#include "linkwork/integrators/sundials.h"

#include <fmt/format.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <cmath>

#include "linkwork/integrators/shared_vector.h"
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
    : model_(&model),
      settings_(model.settings),
      name_(std::move(name)),
      nq_(model.tree.nq),
      nv_(model.tree.nv),
      context_(make_context()) {}

SundialsIntegrator::SundialsIntegrator(const Settings& settings, SharedEquation& shared, std::string name)
    : shared_(&shared), settings_(settings), name_(std::move(name)), context_(make_context()) {
  for (const SharedEquation::Part& part : shared.parts())
    for (int i = 0; i < part.size; ++i) passive_.push_back(i >= part.controlled);
}

SundialsIntegrator::~SundialsIntegrator() = default;

N_Vector SundialsIntegrator::absolute_tolerances() {
  constexpr double kAny = 1e30;
  N_VConst(atol(), tolerances_.get());
  for (int i = 0; i < state_size_; ++i)
    if (is_passive(i)) N_VGetArrayPointer(tolerances_.get())[i] = kAny;
  return tolerances_.get();
}

bool SundialsIntegrator::continues(const Moment& from) const {
  constexpr double kTold = 10.0;  // of the tolerances, root mean square: about what the error of a run comes to
  if (!made_ || interrupted_ || std::abs(from.t - step_end_) > 1e-6 * (step_end_ - step_start_) || from.y.size() != state_size_)
    return false;
  if (shared_) return equations_->error_norm(left_, left_, from.y - left_) <= kTold;
  double sum = 0.0;
  for (int i = 0; i < state_size_; ++i)
    if (!is_passive(i)) sum += std::pow((from.y[i] - left_[i]) / (atol() + rtol() * std::abs(left_[i])), 2);
  return std::sqrt(sum / std::max(1, state_size_ - 1)) <= kTold;
}

void SundialsIntegrator::begin_at(const Moment& from, const VecX<double>& rates) {
  state_size_ = static_cast<int>(from.y.size());
  if (made_) rejected_before_ += rejected_now();
  if (!y_ || (!shared_ && N_VGetLength(y_.get()) != size())) {
    y_.reset(shared_ ? make_shared_vector(*shared_, context()) : N_VNew_Serial(size(), context()));
    tolerances_.reset(N_VClone(y_.get()));
    inside_.reset(N_VClone(y_.get()));
    made_ = false;
  }
  N_VConst(0.0, y_.get());
  state_in(y_.get()) = from.y;
  begin_time_ = from.t;
  begin(from.t, rates);
  made_ = true;
  interrupted_ = false;
}

Status SundialsIntegrator::step(DifferentialEquation& equations, const Moment& from, const VecX<double>& rates, double h,
                                Moment& to) {
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
  to.t = reached;
  to.y = state_in(y_.get());
  equations_->normalize(to.y);
  step_start_ = from.t;
  step_end_ = reached;
  left_ = to.y;
  return {};
}

void SundialsIntegrator::interpolate(double t, Moment& at) const {
  interpolate_to(t, inside_.get());
  at.t = t;
  at.y = state_in(inside_.get());
  equations_->normalize(at.y);
}

int SundialsIntegrator::rates_at(N_Vector ydot) {
  if (Status status = equations_->evaluate(at_, rates_); !status.ok()) {
    trouble_ = status.trouble;
    return 1;
  }
  state_in(ydot) = rates_;
  // A mechanism says so itself; modules tell it when they are asked next.
  return shared_ && shared_->largest(rates_.allFinite() ? 0.0 : 1.0) > 0.0 ? 1 : 0;
}

int SundialsIntegrator::right_side(realtype t, N_Vector y, N_Vector ydot, void* user_data) {
  SundialsIntegrator& self = *static_cast<SundialsIntegrator*>(user_data);
  self.at_.y = self.state_in(y);
  self.at_.t = t;
  return self.rates_at(ydot);
}

int SundialsIntegrator::projected_right_side(realtype t, N_Vector y, N_Vector ydot, void* user_data) {
  SundialsIntegrator& self = *static_cast<SundialsIntegrator*>(user_data);
  return self.take_projected(t, y) ? self.rates_at(ydot) : 1;
}

bool SundialsIntegrator::take_projected(double t, N_Vector y) {
  at_.y = state_in(y);
  at_.t = t;
  equations_->normalize(at_.y);
  const Status status = equations_->project(at_);
  if (!status.ok()) trouble_ = status.trouble;
  return status.ok();
}

int SundialsIntegrator::project(double t, N_Vector y) {
  if (!take_projected(t, y)) return 1;
  state_in(y) = at_.y;
  return 0;
}

/// Dense up to a size, to a larger one with exact derivatives, then iterative and free of matrices (GMRES). The latter for shared
/// equations in any case, with their Jacobian as its preconditioner.
void SundialsIntegrator::choose_linear_solver() {
  constexpr sunindextype kDenseUpTo = 300, kExactUpTo = 1200;
  constexpr int kDirections = 30;
  const sunindextype size = N_VGetLength(y());
  if (shared_) {
    jacobian_ = std::make_unique<SharedJacobian>(*shared_, settings_);
    linear_.reset(SUNLinSol_SPGMR(y(), SUN_PREC_LEFT, kDirections, context()));
    return;
  }
  if (size <= kExactUpTo) choose_derivatives();
  const bool dense = size <= kDenseUpTo || rate_jacobian_;
  matrix_.reset(dense ? SUNDenseMatrix(size, size, context()) : nullptr);
  linear_.reset(matrix_ ? SUNLinSol_Dense(y(), matrix_.get(), context())
                        : SUNLinSol_SPGMR(y(), SUN_PREC_NONE, kDirections, context()));
}

/// Exact ones from a number of unknowns on where they are cheaper than differences, and only if the equations, as they are at
/// the moment, have no other derivatives.
void SundialsIntegrator::choose_derivatives() {
  constexpr int kWorthFrom = 12;
  rate_jacobian_.reset();
  EquationsOfMotion* const equations = equations_->equations_of_motion();
  if (equations == nullptr || size() < kWorthFrom || size() != state_size_ || !RateJacobian::is_known(*model_)) return;
  auto exact = std::make_unique<RateJacobian>(*model_);
  const Moment at{begin_time_, state_in(y())};
  MatX<double> J(size(), size());
  if (exact->compute(*equations, at, J).ok() && exact->agrees(*equations, at, J)) rate_jacobian_ = std::move(exact);
}

int SundialsIntegrator::exact_jacobian(realtype t, N_Vector y, N_Vector, SUNMatrix to, void* user_data, N_Vector, N_Vector,
                                       N_Vector) {
  SundialsIntegrator& self = *static_cast<SundialsIntegrator*>(user_data);
  self.at_.t = t;
  self.at_.y = self.state_in(y);
  Eigen::Map<MatX<double>> J(SM_DATA_D(to), self.size(), self.size());
  const Status status = self.rate_jacobian_->compute(*self.equations_->equations_of_motion(), self.at_, J);
  if (!status.ok()) self.trouble_ = status.trouble;
  return status.ok() ? 0 : 1;
}

int SundialsIntegrator::set_up_preconditioner(realtype t, N_Vector y, N_Vector rates, booleantype usable, booleantype* updated,
                                              realtype gamma, void* user_data) {
  SundialsIntegrator& self = *static_cast<SundialsIntegrator*>(user_data);
  *updated = usable ? SUNFALSE : SUNTRUE;
  if (!usable) {
    const Moment at{t, self.state_in(y)};
    if (Status status = self.jacobian_->update(*self.equations_, at, self.state_in(rates), gamma); !status.ok()) {
      self.trouble_ = status.trouble;
      return 1;
    }
  }
  self.jacobian_->factor(gamma);
  return 0;
}

int SundialsIntegrator::precondition_by_jacobian(realtype, N_Vector, N_Vector, N_Vector r, N_Vector z, realtype, realtype, int,
                                                 void* user_data) {
  SundialsIntegrator& self = *static_cast<SundialsIntegrator*>(user_data);
  N_VScale(1.0, r, z);
  self.jacobian_->solve(self.state_in(z));
  return 0;
}

}  // namespace linkwork
