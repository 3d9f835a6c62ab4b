#include <arkode/arkode_arkstep.h>
#include <fmt/format.h>

#include "linkwork/integrators/catalog.h"
#include "linkwork/integrators/shared_methods.h"
#include "linkwork/integrators/sundials.h"

namespace linkwork {

namespace {

/// Diagonally implicit Runge-Kutta methods with error control. Each accepted step is projected before the next begins.
class Arkode : public SundialsIntegrator {
 public:
  Arkode(const Model& model, int order) : SundialsIntegrator(model, "arkode"), order_(order) {}
  Arkode(const Settings& settings, SharedEquation& shared, int order)
      : SundialsIntegrator(settings, shared, "arkode"), order_(order) {}
  ~Arkode() override { ARKStepFree(&solver_); }

  int order() const override { return order_; }

 private:
  void begin(double t, const VecX<double>&) override {
    if (made() && solver_ != nullptr) {
      ARKStepReInit(solver_, nullptr, right_side, t, y());  // not Reset: that keeps a Jacobian from before an event
      return;
    }
    ARKStepFree(&solver_);
    solver_ = ARKStepCreate(nullptr, right_side, t, y(), context());
    ARKStepSetErrHandlerFn(solver_, ignore_sundials_error, nullptr);
    ARKStepSVtolerances(solver_, rtol(), absolute_tolerances());
    ARKStepSetUserData(solver_, static_cast<SundialsIntegrator*>(this));
    const char* const tables[] = {"ARKODE_SDIRK_2_1_2", "ARKODE_ESDIRK324L2SA_4_2_3", "ARKODE_ESDIRK436L2SA_6_3_4",
                                  "ARKODE_ESDIRK547L2SA_7_4_5"};
    ARKStepSetTableName(solver_, tables[order_ - 2], "ARKODE_ERK_NONE");
    if (max_step() > 0.0) ARKStepSetMaxStep(solver_, max_step());
    // Iterations end by the change they make, not by that times the rate at which they converged with earlier matrices: where
    // these were exact that is next to nothing, and any first guess with a matrix of another step would be taken.
    ARKStepSetNonlinCRDown(solver_, 1.0);
    make_linear_solver([&](auto linear, auto matrix) { ARKStepSetLinearSolver(solver_, linear, matrix); },
                       [&](auto set_up, auto solve) { ARKStepSetPreconditioner(solver_, set_up, solve); },
                       [&](auto jacobian) { ARKStepSetJacFn(solver_, jacobian); });
    if (has_constraints()) ARKStepSetPostprocessStepFn(solver_, put_back);
  }

  static int put_back(realtype t, N_Vector y, void* user_data) {
    return static_cast<Arkode*>(static_cast<SundialsIntegrator*>(user_data))->project(t, y);
  }

  int advance(double stop, double& t) override {
    ARKStepSetStopTime(solver_, stop);
    return ARKStepEvolve(solver_, stop, y(), &t, ARK_ONE_STEP);
  }
  int interpolate_to(double t, N_Vector at) const override { return ARKStepGetDky(solver_, t, 0, at); }
  std::string describe_failure(int flag) const override {
    if (flag == ARK_ERR_FAILURE || flag == ARK_CONV_FAILURE) return "no step is short enough to meet rtol and atol";
    const std::unique_ptr<char, decltype(&std::free)> name(ARKStepGetReturnFlagName(flag), std::free);
    return fmt::format("ARKODE reports {}", name.get());
  }
  long rejected_now() const override {
    long attempts = 0, steps = 0;
    if (solver_ == nullptr) return 0;
    ARKStepGetNumStepAttempts(solver_, &attempts);
    ARKStepGetNumSteps(solver_, &steps);
    return attempts - steps;
  }

  int order_;
  void* solver_ = nullptr;
};

}  // namespace

std::unique_ptr<Integrator> make_shared_arkode(const Settings& settings, const Options& options, SharedEquation& equation) {
  return std::make_unique<Arkode>(settings, equation, static_cast<int>(options.at("order")));
}

CatalogEntry<Integrator> arkode_method() {
  return {{"arkode",
           "ARKODE: diagonally implicit Runge-Kutta, own step control, for stiff systems with events or changing steps",
           "Gardner2022",
           {{"order", 4.0, "2 to 5", whole_numbers(2.0, 5.0)}}},
          [](const Model& model, const Options& options) {
            return std::make_unique<Arkode>(model, static_cast<int>(options.at("order")));
          }};
}

}  // namespace linkwork
