#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "linkwork/modules/glues/catalog.h"
#include "linkwork/modules/glues/hierarchical.h"
#include "linkwork/modules/glues/module_tangent.h"
#include "linkwork/modules/module_equations.h"
#include "linkwork/transport/text.h"

namespace linkwork {

namespace {

/// The gluing algorithm of [Tseng2001] with the projection of Gauss' principle, in the form that needs nothing of a module but
/// its response, and its equations where it is stiff. One step of Newmark's method, or of the generalized-alpha method, with c
/// the accelerations the step is made of:
///   (1)  q = q0 + h v0 + h^2 ((1/2 - beta) c0 + beta c),  v = v0 + h ((1 - gamma) c0 + gamma c),  c from a = a0
///   (2)  every module's own acceleration, made to fit by the least change in the mass metric: a' = a_f - M^-1 A' (A M^-1 A')^+
///   (A a_f - b) (3)  stop if |a' - a|, |phi| and |A v - u| are within their tolerances (4)  q += h^2 beta dc,  v += h gamma dc,
///   then onto phi = 0 and A v = u by the least change; back to (2).
/// With M in place of the paper's iteration matrix, its eq. GL-DYN and GL-ACC are (2): this is enough as long as nothing is
/// stiff. Where that iteration is slow, the modules' tangents take the place of their masses at (2), from then on
/// (ModuleTangent). The paper's own projections have the identity in place of M at (4); at (2) that diverges, as it found.
class GluingGlue : public HierarchicalGlue {
 public:
  GluingGlue(Workshop& workshop, const Options& options)
      : HierarchicalGlue(workshop),
        dynamics_(options.at("dynamics")),
        constraints_(options.at("constraints")),
        most_(static_cast<int>(options.at("most"))),
        beta_(options.at("beta")),
        gamma_(options.at("gamma")) {
    const double rho = options.at("rho");
    if (!std::isnan(rho)) {  // [Chung1993]
      alpha_m_ = (2.0 * rho - 1.0) / (rho + 1.0);
      alpha_f_ = rho / (rho + 1.0);
      gamma_ = 0.5 - alpha_m_ + alpha_f_;
      beta_ = 0.25 * std::pow(1.0 - alpha_m_ + alpha_f_, 2);
    }
    drift_.positions = drift_.velocities = true;
    drift_.by_mass = true;
    drift_.times = 0;
    drift_.tolerance = constraints_;
    drift_.good_enough = 0.01 * constraints_;
  }

  Status project(double, States&, bool) override { return {}; }  // done in the step
  int iterations() const override { return iterations_; }
  void modes_changed() override {
    HierarchicalGlue::modes_changed();
    c_.clear();
    begun_at_ = std::numeric_limits<double>::quiet_NaN();
  }

  Status step(double t, double h, const States& from, const States& rates, States& to) override {
    before_.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) before_[i] = rates[i];
    if (c_.empty()) c_ = before_;  // the first step, or other things are in force
    if (t != begun_at_) c0_ = c_;  // else the same step is made again, over another time
    begun_at_ = t;
    bool slow = false;
    Status status = attempt(t, h, from, rates, to, slow);
    if (!slow || by_tangent_ || !has_tangents()) return status;
    by_tangent_ = true;
    return attempt(t, h, from, rates, to, slow);
  }

 private:
  /// `slow`: the iteration with M does not converge, or too slowly to be of use.
  Status attempt(double t, double h, const States& from, const States& rates, States& to, bool& slow) {
    constexpr double kSlow = 0.7;  // of a change is left in the next iteration
    const double end = t + h;
    const std::size_t count = from.size();
    a_.resize(count), c_.resize(count), trial_ = rates;
    for (std::size_t i = 0; i < count; ++i) {
      predict(i);
      const Glide by{(h * h) * ((0.5 - beta_) * c0_[i] + beta_ * c_[i]), h * ((1.0 - gamma_) * c0_[i] + gamma_ * c_[i]),
                     h * rates[i]};
      module(i).glide(from[i], h, by, to[i]);
    }
    // Off the constraints, near a singular position, accelerations are of any size: their errors are divided by what is left of
    // the rows there.
    if (Status status = project_onto_constraints(workshop_, hierarchy_, drift_, end, to); !status.ok()) {
      slow = true;  // the predictor alone may be far off where something is stiff
      return status;
    }
    if (by_tangent_) update_tangents(end, h, to);
    double last = std::numeric_limits<double>::infinity();
    for (iterations_ = 0;; ++iterations_) {
      if (Status status = evaluate(end, to, trial_); !status.ok()) return status;
      const bool holds = errors_.position <= constraints_ && errors_.velocity <= constraints_ * errors_.speed;
      const double change = relative_change();
      if (change <= dynamics_ && holds) break;
      slow = slow || !std::isfinite(change) || (iterations_ > 2 && change > kSlow * last);
      if (slow && !by_tangent_ && has_tangents()) return {"the iteration is slow"};
      last = change;
      if (iterations_ >= most_)
        return {fmt::format("glue 'gluing' has not converged in {} iterations; take shorter steps", most_)};
      if (by_tangent_)
        if (Status status = solve_by_tangent(end); !status.ok()) return status;
      for (std::size_t i = 0; i < count; ++i) {
        a_[i] = by_tangent_ ? next_[i] : trial_[i];
        const VecX<double> before = c_[i];
        c_[i] = step_acceleration(i);
        const VecX<double> own = c_[i] - before;
        module(i).glide(to[i], 0.0, {(h * h * beta_) * own, (h * gamma_) * own, VecX<double>::Zero(own.size())}, to[i]);
      }
      if (Status status = project_onto_constraints(workshop_, hierarchy_, drift_, end, to); !status.ok()) {
        slow = true;
        return status;
      }
    }
    // What is neither position nor velocity goes by the trapezoidal rule.
    for (std::size_t i = 0; i < count; ++i) {
      const VecX<double> none = VecX<double>::Zero(rates[i].size());
      module(i).glide(to[i], 0.0, {none, none, (0.5 * h) * (trial_[i] - rates[i])}, to[i]);
      module(i).normalize(to[i]);
      module(i).keep_sum(c_[i]);
    }
    return {};
  }

  /// a and c of (1) to begin with. What is stiff does not go on accelerating for a whole step: there positions go on with their
  /// velocities.
  void predict(std::size_t i) {
    a_[i] = before_[i];
    if (by_tangent_) {
      c_[i] = -((0.5 - beta_) / beta_) * c0_[i];
      a_[i] = ((1.0 - alpha_m_) * c_[i] + alpha_m_ * c0_[i] - alpha_f_ * before_[i]) / (1.0 - alpha_f_);
    }
    c_[i] = step_acceleration(i);
  }

  void update_tangents(double t, double h, const States& x) {
    tangents_.resize(x.size());
    const double share = (1.0 - alpha_f_) / (1.0 - alpha_m_);  // of a change of a in c
    for (std::size_t i = 0; i < x.size(); ++i)
      tangents_[i].update(workshop_.modules()[i], t, x[i], share * beta_ * h * h, share * gamma_ * h);
  }

  /// Accelerations at the state just evaluated that take the stiffness of the modules into account: next_.
  Status solve_by_tangent(double t) {
    for (std::size_t i = 0; i < a_.size(); ++i) tangents_[i].respond(workshop_.modules()[i], accelerations(i, a_[i]));
    if (Status status = hierarchy_.up_from_answers(t, Level::kAcceleration); !status.ok()) return status;
    hierarchy_.down();
    next_.resize(a_.size());
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const ModuleEquations& split = *module(i).equations();
      next_[i] = VecX<double>::Zero(a_[i].size());
      next_[i].segment(split.first_velocity(), split.velocity_count()) = tangents_[i].advance(workshop_.modules()[i]);
    }
    return {};
  }

  Module& module(std::size_t i) { return *workshop_.modules()[i].module; }

  VecX<double> accelerations(std::size_t i, const VecX<double>& rates) {
    const ModuleEquations& split = *module(i).equations();
    return rates.segment(split.first_velocity(), split.velocity_count());
  }

  /// Whether all modules, on all ranks, show the equations that tangents are made of.
  bool has_tangents() {
    if (has_tangents_) return *has_tangents_;
    bool all = true;
    for (const WorkingModule& own : workshop_.modules()) all = all && own.module->equations() != nullptr;
    all = all_said(workshop_.transport(), all ? "" : "no").empty();
    has_tangents_ = all;
    return all;
  }

  /// c of (1): (1 - alpha_m) c + alpha_m c0 = (1 - alpha_f) a + alpha_f a0.
  VecX<double> step_acceleration(std::size_t i) const {
    return ((1.0 - alpha_f_) * a_[i] + alpha_f_ * before_[i] - alpha_m_ * c0_[i]) / (1.0 - alpha_m_);
  }

  /// How far accelerations are from what they should be, the largest of all modules, relative to the largest.
  double relative_change() {
    std::vector<double> sizes(2 * static_cast<std::size_t>(workshop_.transport().size()), 0.0);
    std::vector<int> ends;
    for (int r = 0; r < workshop_.transport().size(); ++r) ends.push_back(2 * (r + 1));
    double& difference = sizes[2 * static_cast<std::size_t>(workshop_.rank())];
    double& largest = sizes[2 * static_cast<std::size_t>(workshop_.rank()) + 1];
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const auto [own_difference, own_largest] = module(i).largest_accelerations(trial_[i] - a_[i], a_[i]);
      difference = std::max(difference, own_difference);
      largest = std::max(largest, own_largest);
    }
    workshop_.transport().gather(sizes, ends);
    double all = 0.0, scale = 1.0;
    for (std::size_t r = 0; r < sizes.size(); r += 2) all = std::max(all, sizes[r]), scale = std::max(scale, sizes[r + 1]);
    return all / scale;
  }

  double dynamics_, constraints_;
  int most_;
  double beta_, gamma_;
  double alpha_m_ = 0.0, alpha_f_ = 0.0;
  int iterations_ = 0;
  States before_, a_, c_, c0_, trial_, next_;                   // rates: of them accelerations count
  double begun_at_ = std::numeric_limits<double>::quiet_NaN();  // the last step
  bool by_tangent_ = false;
  std::optional<bool> has_tangents_;
  std::vector<ModuleTangent> tangents_;
};

}  // namespace

GlueEntry gluing_glue() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {{"gluing",
           "implicit steps of Newmark or generalized-alpha type, iterated with the joints' projections; fixed steps",
           "Tseng2001",
           {{"dynamics", 1e-6, "tolerance of the accelerations, relative", numbers_above(0.0)},
            {"constraints", 1e-10, "tolerance of the constraints, position and velocity", numbers_above(0.0)},
            {"most", 50.0, "iterations in a step before it gives up", whole_numbers(1.0, 1e6)},
            {"beta", 0.25, "of Newmark's method", {.least = 0.0, .most = 1.0, .with_least = false}},
            {"gamma", 0.5, "of Newmark's method", numbers_between(0.0, 1.0)},
            {"rho", kNaN, "spectral radius at infinity of the generalized-alpha method, in place of beta and gamma",
             numbers_between(0.0, 1.0)}}},
          [](Workshop& workshop, const Options& options) { return std::make_unique<GluingGlue>(workshop, options); },
          {.exact = false,
           .adaptive = false,
           .own_steps = true,
           .needs_gliding = true,
           .takes_couplings = true,
           .exposes = "motion of its ports, their response D and R, and which of its numbers are velocities"}};
}

}  // namespace linkwork
