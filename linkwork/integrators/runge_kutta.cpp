#include "linkwork/integrators/runge_kutta.h"

#include <array>
#include <utility>

#include "linkwork/dynamics/state.h"
#include "linkwork/integrators/catalog.h"

namespace linkwork {

namespace {

/// Any explicit Runge-Kutta method. Stages are combined in the space quaternions are embedded in, where qdot = N(q) v is a smooth
/// equation that keeps their length, so the order is the tableau's; the result is brought back to unit length.
class RungeKutta : public Integrator {
 public:
  explicit RungeKutta(const Tableau& tableau) : tableau_(tableau), k_(tableau.b.size() + 1) {}

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
  /// Several terms at a time: with few coordinates it is the passes that count.
  void combine(const std::vector<double>& weights, std::size_t count, VecX<double>& y) {
    const Eigen::Index size = start_.y.size();
    if (y.size() != size) y.resize(size);
    const double* from = start_.y.data();
    std::array<double, 4> w{};
    std::array<const double*, 4> k{};
    std::size_t terms = 0;
    const auto add = [&]<std::size_t... I>(std::index_sequence<I...>) {
      double* const to = y.data();
#pragma GCC unroll 1
      for (Eigen::Index i = 0; i < size; ++i) {
        double sum = from[i];
        ((sum += w[I] * k[I][i]), ...);
        to[i] = sum;
      }
      from = to;
      terms = 0;
    };
    for (std::size_t j = 0; j < count; ++j) {
      if (weights[j] == 0.0) continue;
      w[terms] = h_ * weights[j];
      k[terms] = k_[j].data();
      if (++terms == w.size()) add(std::make_index_sequence<4>());
    }
    if (terms == 3) add(std::make_index_sequence<3>());
    if (terms == 2) add(std::make_index_sequence<2>());
    if (terms == 1) add(std::make_index_sequence<1>());
    if (from != y.data()) assign_numbers(start_.y, y);
  }

  const Tableau& tableau_;
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
