#include "linkwork/integrators/runge_kutta.h"

#include <vector>

#include "linkwork/dynamics/state.h"
#include "linkwork/integrators/catalog.h"

namespace linkwork {

namespace {

/// Any explicit Runge-Kutta method. Stages are combined in the space quaternions are embedded in, where qdot = N(q) v is a smooth
/// equation that keeps their length, so the order is the tableau's; the result is brought back to unit length.
class RungeKutta : public Integrator {
 public:
  explicit RungeKutta(const Tableau& tableau) : tableau_(tableau), terms_(tableau.b.size()), k_(tableau.b.size() + 1) {}

  int order() const override { return tableau_.order; }
  bool estimates_error() const override { return !tableau_.error.empty(); }

  Status step(DifferentialEquation& equations, const Moment& from, const VecX<double>& rates, double h, Moment& to) override {
    const std::size_t stages = tableau_.b.size();
    equations_ = &equations;
    h_ = h;
    start_.t = from.t;
    assign_numbers(from.y, start_.y);
    assign_numbers(rates, k_[0]);
    for (std::size_t i = 1; i < stages; ++i) {
      combine(tableau_.a[i], i, stage_.y);
      stage_.t = from.t + tableau_.c[i] * h;
      if (Status status = equations.evaluate_stage(stage_, k_[i]); !status.ok()) return status;
    }
    combine(tableau_.b, stages, to.y);
    to.t = from.t + h;
    if (estimates_error()) {
      if (Status status = equations.evaluate_stage(to, k_[stages]); !status.ok()) return status;
      error_.setZero(to.y.size());
      for (std::size_t j = 0; j <= stages; ++j) error_ += (h * tableau_.error[j]) * k_[j];
    }
    equations.normalize(to.y);
    return {};
  }

  bool interpolates() const override { return !tableau_.dense.empty(); }
  void interpolate(double t, Moment& at) const override {
    const double theta = (t - start_.t) / h_;
    at.t = t;
    at.y = start_.y;
    for (std::size_t j = 0; j < k_.size(); ++j) {
      const auto& p = tableau_.dense[j];
      double weight = 0.0;
      for (auto coefficient = p.rbegin(); coefficient != p.rend(); ++coefficient) weight = (weight + *coefficient) * theta;
      if (weight != 0.0) at.y += (h_ * weight) * k_[j];
    }
    equations_->normalize(at.y);
  }

 private:
  /// Several numbers at a time, the last of which may be computed twice.
  void combine(const std::vector<double>& weights, std::size_t count, VecX<double>& y) {
    using Block [[gnu::vector_size(32), gnu::aligned(8)]] = double;
    constexpr Eigen::Index kBlock = 4;
    const Eigen::Index size = start_.y.size();
    if (y.size() != size) y.resize(size);
    std::size_t terms = 0;
    for (std::size_t j = 0; j < count; ++j)
      if (weights[j] != 0.0) terms_[terms++] = {h_ * weights[j], k_[j].data()};
    const Term* const last = terms_.data() + terms;
    const double* const from = start_.y.data();
    double* const to = y.data();
    const auto add_block = [&](Eigen::Index i) {
      Block sum = *reinterpret_cast<const Block*>(from + i);
      for (const Term* term = terms_.data(); term != last; ++term)
        sum += term->weight * *reinterpret_cast<const Block*>(term->rates + i);
      *reinterpret_cast<Block*>(to + i) = sum;
    };
    Eigen::Index i = 0;
    for (; i + kBlock <= size; i += kBlock) add_block(i);
    if (i < size && size >= kBlock) return add_block(size - kBlock);
    for (; i < size; ++i) {
      double sum = from[i];
      for (const Term* term = terms_.data(); term != last; ++term) sum += term->weight * term->rates[i];
      to[i] = sum;
    }
  }

  struct Term {
    double weight = 0.0;
    const double* rates = nullptr;
  };

  const Tableau& tableau_;
  std::vector<Term> terms_;  // of a combination
  DifferentialEquation* equations_ = nullptr;
  std::vector<VecX<double>> k_;  // rates by stage; the last: at the new state
  Moment start_, stage_;
  double h_ = 0.0;
};

}  // namespace

std::unique_ptr<Integrator> make_runge_kutta(const Tableau& tableau) { return std::make_unique<RungeKutta>(tableau); }

std::vector<CatalogEntry<Integrator>> runge_kutta_methods() {
  std::vector<CatalogEntry<Integrator>> entries;
  for (const Tableau& tableau : tableaus())
    entries.push_back({{tableau.name, tableau.summary, tableau.reference, {}},
                       [&tableau](const Model&, const Options&) { return make_runge_kutta(tableau); }});
  return entries;
}

}  // namespace linkwork
