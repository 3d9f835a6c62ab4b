#include <cvode/cvode.h>
#include <cvode/cvode_ls.h>
#include <cvode/cvode_proj.h>
#include <fmt/format.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "linkwork/integrators/catalog.h"
#include "linkwork/integrators/shared_methods.h"
#include "linkwork/integrators/sundials.h"

namespace linkwork {

namespace {

/// Linear multistep methods of variable order and step: BDF with Newton iteration and each step's result projected inside the
/// solver, so that its history stays on the constraints; or Adams-Moulton with functional iteration, for which the solver offers
/// no such place, and rates are taken at projected states instead.
class Cvode : public SundialsIntegrator {
 public:
  Cvode(const Model& model, std::string name, bool stiff, int most_order)
      : SundialsIntegrator(model, std::move(name)), stiff_(stiff), most_order_(most_order) {}
  Cvode(const Settings& settings, SharedEquation& shared, std::string name, bool stiff, int most_order)
      : SundialsIntegrator(settings, shared, std::move(name)), stiff_(stiff), most_order_(most_order) {}
  ~Cvode() override { CVodeFree(&solver_); }

  int order() const override { return most_order_; }

 private:
  void begin(double t, const VecX<double>&) override {
    if (made() && solver_ != nullptr) {
      CVodeReInit(solver_, t, y());
      return;
    }
    CVodeFree(&solver_);
    solver_ = CVodeCreate(stiff_ ? CV_BDF : CV_ADAMS, context());
    CVodeSetErrHandlerFn(solver_, ignore_sundials_error, nullptr);
    CVodeInit(solver_, stiff_ ? right_side : projected_right_side, t, y());
    CVodeSVtolerances(solver_, rtol(), absolute_tolerances());
    CVodeSetUserData(solver_, static_cast<SundialsIntegrator*>(this));
    CVodeSetMaxOrd(solver_, most_order_);
    if (max_step() > 0.0) CVodeSetMaxStep(solver_, max_step());
    if (!stiff_) {
      iteration_.reset(SUNNonlinSol_FixedPoint(y(), 0, context()));
      CVodeSetNonlinearSolver(solver_, iteration_.get());
      return;
    }
    make_linear_solver([&](auto linear, auto matrix) { CVodeSetLinearSolver(solver_, linear, matrix); },
                       [&](auto set_up, auto solve) { CVodeSetPreconditioner(solver_, set_up, solve); },
                       [&](auto jacobian) { CVodeSetJacFn(solver_, jacobian); });
    if (!has_constraints()) return;
    CVodeSetProjFn(solver_, correction);
    CVodeSetProjErrEst(solver_, SUNFALSE);
  }

  static int correction(realtype t, N_Vector y, N_Vector change, realtype, N_Vector, void* user_data) {
    Cvode& self = *static_cast<Cvode*>(static_cast<SundialsIntegrator*>(user_data));
    N_VScale(1.0, y, change);
    if (self.project(t, change) != 0) return 1;
    N_VLinearSum(1.0, change, -1.0, y, change);
    return 0;
  }

  int advance(double stop, double& t) override {
    CVodeSetStopTime(solver_, stop);
    return CVode(solver_, stop, y(), &t, CV_ONE_STEP);
  }
  int interpolate_to(double t, N_Vector at) const override { return CVodeGetDky(solver_, t, 0, at); }
  std::string describe_failure(int flag) const override {
    if (flag == CV_ERR_FAILURE || flag == CV_CONV_FAILURE) return "no step is short enough to meet rtol and atol";
    const std::unique_ptr<char, decltype(&std::free)> name(CVodeGetReturnFlagName(flag), std::free);
    return fmt::format("CVODE reports {}", name.get());
  }
  long rejected_now() const override {
    long of_error = 0, of_iteration = 0;
    if (solver_ == nullptr) return 0;
    CVodeGetNumErrTestFails(solver_, &of_error);
    CVodeGetNumNonlinSolvConvFails(solver_, &of_iteration);
    return of_error + of_iteration;
  }

  bool stiff_;
  int most_order_;
  OwnedNonlinearSolver iteration_;
  void* solver_ = nullptr;
};

constexpr double kMostStiffOrder = 5, kMostOrder = 12;

CatalogEntry<Integrator> cvode(const char* name, const char* summary, bool stiff, double most) {
  return {{name, summary, "Hindmarsh2005", {{"order", most, "the highest order used", whole_numbers(1.0, most)}}},
          [=](const Model& model, const Options& options) {
            return std::make_unique<Cvode>(model, name, stiff, static_cast<int>(options.at("order")));
          }};
}

}  // namespace

std::unique_ptr<Integrator> make_shared_cvode(const Settings& settings, const Options& options, SharedEquation& equation) {
  const std::string& name = settings.integrator.name;
  const bool stiff = name == "cvode-bdf";
  return std::make_unique<Cvode>(settings, equation, name, stiff, static_cast<int>(options.at("order")));
}

std::vector<CatalogEntry<Integrator>> cvode_methods() {
  return {cvode("cvode-adams", "CVODE: Adams methods of order 1 to 12, own step control, for smooth motion at tight tolerances",
                false, kMostOrder),
          cvode("cvode-bdf", "CVODE: backward differentiation of order 1 to 5, own step control, for stiff systems", true,
                kMostStiffOrder)};
}

}  // namespace linkwork
