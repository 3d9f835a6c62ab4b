#pragma once

#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nonlinearsolver.h>

#include <cmath>
#include <memory>
#include <string>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/dynamics/integrator.h"
#include "linkwork/dynamics/rate_jacobian.h"
#include "linkwork/integrators/shared_jacobian.h"

namespace linkwork {

/// SUNDIALS objects [Hindmarsh2005] that free themselves.
struct SundialsDeleter {
  void operator()(SUNContext context) const { SUNContext_Free(&context); }
  void operator()(N_Vector vector) const { N_VDestroy(vector); }
  void operator()(SUNMatrix matrix) const { SUNMatDestroy(matrix); }
  void operator()(SUNLinearSolver solver) const { SUNLinSolFree(solver); }
  void operator()(SUNNonlinearSolver solver) const { SUNNonlinSolFree(solver); }
};
using OwnedContext = std::unique_ptr<std::remove_pointer_t<SUNContext>, SundialsDeleter>;
using OwnedVector = std::unique_ptr<std::remove_pointer_t<N_Vector>, SundialsDeleter>;
using OwnedMatrix = std::unique_ptr<std::remove_pointer_t<SUNMatrix>, SundialsDeleter>;
using OwnedLinearSolver = std::unique_ptr<std::remove_pointer_t<SUNLinearSolver>, SundialsDeleter>;
using OwnedNonlinearSolver = std::unique_ptr<std::remove_pointer_t<SUNNonlinearSolver>, SundialsDeleter>;

/// What the solvers of SUNDIALS have in common here: each controls its own steps and interpolates, on y = (q, v, work, z, ...),
/// or on the parts of an equation that ranks share, with quaternions in the space they are embedded in. A step ends where the
/// solver wants. If the state was moved since (by a projection) less than the tolerances can tell, the solver goes on with its
/// history; if more, it begins anew.
class SundialsIntegrator : public Integrator {
 public:
  SundialsIntegrator(const Model& model, std::string name);
  SundialsIntegrator(const Settings& settings, SharedEquation& shared, std::string name);
  ~SundialsIntegrator() override;

  bool controls_step() const override { return true; }
  bool interpolates() const override { return true; }
  long rejected_steps() const override { return rejected_before_ + rejected_now(); }
  Status step(DifferentialEquation& equations, const Moment& from, const VecX<double>& rates, double h, Moment& to) override;
  void interpolate(double t, Moment& at) const override;
  void forget() override { begin_anew(); }

 protected:
  /// The next step begins anew, whatever the state is.
  void begin_anew() { interrupted_ = true; }
  /// Makes the solver, or starts it anew, from y() at time t. Linear solvers are made for the equations as they are then.
  virtual void begin(double t, const VecX<double>& rates) = 0;
  /// One step from where it is, not beyond `stop`; y() and t are then where it got. A negative return value is a failure.
  virtual int advance(double stop, double& t) = 0;
  virtual int interpolate_to(double t, N_Vector y) const = 0;
  virtual std::string describe_failure(int flag) const = 0;
  virtual long rejected_now() const = 0;
  /// Entries of y beyond the state.
  virtual int extra() const { return 0; }

  /// dy/dt = f(y): the right-hand side for solvers of ordinary differential equations, with the integrator as `user_data`.
  static int right_side(realtype t, N_Vector y, N_Vector ydot, void* user_data);
  /// The same with the rates of the nearest state on the constraints, if the stabilization finds one: drift then does not feed
  /// upon itself.
  static int projected_right_side(realtype t, N_Vector y, N_Vector ydot, void* user_data);
  /// y moved onto the constraints, if the stabilization does that. 0, or 1 if it cannot.
  int project(double t, N_Vector y);

  /// Absolute tolerances; of the work done so large that it is no matter of step control.
  N_Vector absolute_tolerances();
  double rtol() const { return settings_.rtol; }
  double atol() const { return settings_.atol; }
  /// 0: there is none.
  double max_step() const { return std::isfinite(settings_.max_step) ? settings_.max_step : 0.0; }
  /// Whether there is something to project onto.
  bool has_constraints() const { return shared_ || model_->row_count() > 0 || nq_ != nv_; }
  /// Makes the linear solver of an implicit method, and tells it to the solver by attach(linear, matrix); if the equation is
  /// shared, by precondition(setup, solve); and if exact derivatives are to be had, by differentiate(jacobian).
  template <class Attach, class Precondition, class Differentiate>
  void make_linear_solver(Attach attach, Precondition precondition, Differentiate differentiate) {
    choose_linear_solver();
    attach(linear_.get(), matrix_.get());
    if (jacobian_) precondition(set_up_preconditioner, precondition_by_jacobian);
    if (rate_jacobian_) differentiate(exact_jacobian);
  }

  const Model& model() const { return *model_; }
  EquationsOfMotion& equations() const { return *equations_->equations_of_motion(); }
  SUNContext context() const { return context_.get(); }
  N_Vector y() const { return y_.get(); }
  int state_size() const { return state_size_; }
  int size() const { return state_size() + extra(); }
  int nq() const { return nq_; }
  int nv() const { return nv_; }
  bool made() const { return made_; }

 private:
  bool continues(const Moment& from) const;
  /// Of y: the work done, which is no matter of step control.
  bool is_passive(int i) const { return shared_ ? passive_[static_cast<std::size_t>(i)] != 0 : i == nq_ + nv_; }
  void choose_linear_solver();
  void choose_derivatives();
  static int exact_jacobian(realtype t, N_Vector y, N_Vector rates, SUNMatrix to, void* user_data, N_Vector, N_Vector, N_Vector);
  static int set_up_preconditioner(realtype t, N_Vector y, N_Vector rates, booleantype usable, booleantype* updated,
                                   realtype gamma, void* user_data);
  static int precondition_by_jacobian(realtype t, N_Vector y, N_Vector rates, N_Vector r, N_Vector z, realtype gamma,
                                      realtype delta, int side, void* user_data);
  void begin_at(const Moment& from, const VecX<double>& rates);
  Eigen::Map<VecX<double>> state_in(N_Vector y) const { return {N_VGetArrayPointer(y), state_size_}; }
  bool take_projected(double t, N_Vector y);
  int rates_at(N_Vector ydot);

  const Model* model_ = nullptr;  // or:
  SharedEquation* shared_ = nullptr;
  Settings settings_;
  std::string name_;
  int nq_ = 0, nv_ = 0, state_size_ = 0;
  std::vector<char> passive_;  // of a shared equation
  OwnedContext context_;
  OwnedVector y_, tolerances_, inside_;
  DifferentialEquation* equations_ = nullptr;
  OwnedMatrix matrix_;
  OwnedLinearSolver linear_;
  std::unique_ptr<SharedJacobian> jacobian_;
  std::unique_ptr<RateJacobian> rate_jacobian_;
  Moment at_;
  VecX<double> rates_;
  VecX<double> left_;  // as the last step left it
  double begin_time_ = 0.0, step_start_ = 0.0, step_end_ = 0.0;
  bool made_ = false, interrupted_ = false;
  std::string trouble_;
  long rejected_before_ = 0;  // before it last began anew
};

/// Says nothing: what goes wrong is told by the status of a step.
void ignore_sundials_error(int, const char*, const char*, char*, void*);

}  // namespace linkwork
