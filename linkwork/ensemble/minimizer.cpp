#include "linkwork/ensemble/minimizer.h"

#include <nlopt.h>

#include <exception>
#include <memory>
#include <new>
#include <stdexcept>

namespace linkwork {
namespace {

struct Call {
  const Objective& objective;
  const MinimizerOptions& options;
  nlopt_opt optimizer;
  std::exception_ptr trouble = {};
};

/// Exceptions do not pass through C.
double evaluate(unsigned n, const double* x, double* gradient, void* data) {
  Call& call = *static_cast<Call*>(data);
  try {
    if (call.options.go_on && !call.options.go_on()) {
      nlopt_force_stop(call.optimizer);
      return 0.0;
    }
    VecX<double> slope(n);
    const double value = call.objective(Eigen::Map<const VecX<double>>(x, n), gradient != nullptr ? &slope : nullptr);
    if (gradient != nullptr) Eigen::Map<VecX<double>>(gradient, n) = slope;
    return value;
  } catch (...) {
    call.trouble = std::current_exception();
    nlopt_force_stop(call.optimizer);
    return 0.0;
  }
}

nlopt_algorithm algorithm(Minimizer method, Eigen::Index n) {
  if (method == Minimizer::kGradient) return NLOPT_LD_SLSQP;
  if (method == Minimizer::kDirect) return NLOPT_GN_DIRECT_L;
  return n > 1 ? NLOPT_LN_BOBYQA : NLOPT_LN_COBYLA;
}

}  // namespace

bool minimize(Minimizer method, const Objective& objective, VecX<double>& x, const MinimizerOptions& options) {
  const auto n = static_cast<unsigned>(x.size());
  const std::unique_ptr<nlopt_opt_s, void (*)(nlopt_opt)> optimizer(nlopt_create(algorithm(method, x.size()), n), &nlopt_destroy);
  if (!optimizer) throw std::bad_alloc();
  Call call{objective, options, optimizer.get()};
  nlopt_set_lower_bounds1(optimizer.get(), 0.0);
  nlopt_set_upper_bounds1(optimizer.get(), 1.0);
  nlopt_set_min_objective(optimizer.get(), evaluate, &call);
  nlopt_set_maxeval(optimizer.get(), options.evaluations);
  nlopt_set_initial_step1(optimizer.get(), 0.1);
  if (method != Minimizer::kDirect) nlopt_set_xtol_abs1(optimizer.get(), options.tolerance);
  double least = 0.0;
  x = x.cwiseMax(0.0).cwiseMin(1.0);
  const nlopt_result result = nlopt_optimize(optimizer.get(), x.data(), &least);
  if (call.trouble) std::rethrow_exception(call.trouble);
  // Rounding that limits further progress is as good as an end.
  return result == NLOPT_XTOL_REACHED || result == NLOPT_FTOL_REACHED || result == NLOPT_SUCCESS ||
         result == NLOPT_ROUNDOFF_LIMITED || result == NLOPT_STOPVAL_REACHED;
}

}  // namespace linkwork
