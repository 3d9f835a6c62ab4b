#include "linkwork/integrators/catalog.h"
#include "linkwork/integrators/tableau.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// Any explicit Runge-Kutta method on y = (q, v, work, z). Stages are combined in the space quaternions are embedded in, where
/// qdot = N(q) v is a smooth equation that keeps their length, so the order is the tableau's; the result is brought back to unit
/// length.
class RungeKutta : public Integrator {
 public:
  RungeKutta(const Model& model, const Tableau& tableau)
      : tableau_(tableau),
        nq_(model.tree.nq),
        nv_(model.tree.nv),
        stages_(static_cast<int>(tableau.b.size())),
        k_(MatX<double>::Zero(nq_ + nv_ + 1, stages_ + 1)) {
    error_ = VecX<double>::Zero(nq_ + nv_);
    stage_.q.resize(nq_);
    stage_.v.resize(nv_);
  }

  int order() const override { return tableau_.order; }
  bool estimates_error() const override { return !tableau_.error.empty(); }

  Status step(EquationsOfMotion& equations, const State& from, const Derivative& rates, double h, State& to) override {
    tree_ = &equations.model().tree;
    start_time_ = from.t;
    h_ = h;
    const Eigen::Index size = nq_ + nv_ + 1 + from.z.size();
    if (start_.size() != size) start_.resize(size), k_.resize(size, stages_ + 1);
    start_ << from.q, from.v, from.work, from.z;
    store(rates, 0);
    for (int i = 1; i < stages_; ++i) {
      const auto& weights = tableau_.a[static_cast<std::size_t>(i)];
      y_ = start_;
      for (int j = 0; j < i; ++j) add(h * weights[static_cast<std::size_t>(j)], j);
      unpack(y_, stage_);
      stage_.t = from.t + tableau_.c[static_cast<std::size_t>(i)] * h;
      if (Status status = equations.evaluate_stage(stage_, rates_); !status.ok()) return status;
      store(rates_, i);
    }
    y_ = start_;
    for (int j = 0; j < stages_; ++j) add(h * tableau_.b[static_cast<std::size_t>(j)], j);
    unpack(y_, to);
    to.t = from.t + h;
    if (estimates_error()) {
      if (Status status = equations.evaluate_stage(to, rates_); !status.ok()) return status;
      store(rates_, stages_);
      error_.setZero();
      for (int j = 0; j <= stages_; ++j) error_ += (h * tableau_.error[static_cast<std::size_t>(j)]) * k_.col(j).head(nq_ + nv_);
    }
    normalize_quaternions(*tree_, to.q.data());
    return {};
  }

  bool interpolates() const override { return !tableau_.dense.empty(); }
  void interpolate(double t, State& at) const override {
    const double theta = (t - start_time_) / h_;
    y_ = start_;
    for (int j = 0; j <= stages_; ++j) {
      const auto& p = tableau_.dense[static_cast<std::size_t>(j)];
      double weight = 0.0;
      for (auto coefficient = p.rbegin(); coefficient != p.rend(); ++coefficient) weight = (weight + *coefficient) * theta;
      add(h_ * weight, j);
    }
    unpack(y_, at);
    at.t = t;
    normalize_quaternions(*tree_, at.q.data());
  }

 private:
  void store(const Derivative& rates, int stage) { k_.col(stage) << rates.qdot, rates.vdot, rates.power, rates.zdot; }
  void add(double factor, int stage) const {
    if (factor != 0.0) y_ += factor * k_.col(stage);
  }
  void unpack(const VecX<double>& y, State& state) const {
    state.q = y.head(nq_);
    state.v = y.segment(nq_, nv_);
    state.work = y[nq_ + nv_];
    state.z = y.tail(y.size() - (nq_ + nv_ + 1));
  }
  const Tableau& tableau_;
  const Tree* tree_ = nullptr;
  int nq_, nv_, stages_;
  MatX<double> k_;  // rates by stage; the last column: at the new state
  VecX<double> start_;
  mutable VecX<double> y_;
  State stage_;
  Derivative rates_;
  double start_time_ = 0.0;
  double h_ = 0.0;
};

}  // namespace

std::vector<CatalogEntry<Integrator>> runge_kutta_methods() {
  std::vector<CatalogEntry<Integrator>> entries;
  for (const Tableau& tableau : tableaus())
    entries.push_back({{tableau.name, tableau.summary, tableau.reference, {}},
                       [&tableau](const Model& model, const Options&) { return std::make_unique<RungeKutta>(model, tableau); }});
  return entries;
}

}  // namespace linkwork
