#pragma once

#include "linkwork/integrators/tableau.h"
#include "linkwork/lanes/lane_equations_definitions.h"
#include "linkwork/lanes/lane_steps.h"
#include "linkwork/model/model.h"

/// To be compiled in few places.
namespace linkwork {

template <int N>
class StepsInLanes : public LaneSteps {
 public:
  using Lanes = LanesOf<N>;

  explicit StepsInLanes(const LaneStepsOf& of)
      : equations_(systems_of(of)),
        tableau_(*of.tableau),
        projects_(of.projects),
        start_(equations_.size()),
        stage_(equations_.size()),
        next_(equations_.size()),
        k_(tableau_.b.size(), VecX<Lanes>(equations_.size())),
        rates_(equations_.size()) {}

  std::size_t count() const override { return N; }

  void load(int lane, const Start& start) override {
    t_.set(lane, start.t), h_.set(lane, start.h);
    anew_.set(lane, start.begins_anew);
    for (Eigen::Index i = 0; i < start_.size(); ++i) start_[i].set(lane, start.y[i]), k_[0][i].set(lane, start.rates[i]);
  }

  void step(std::span<const bool> part) override {
    LaneMask<N> some;
    for (int lane = 0; lane < N; ++lane) some.set(lane, part[at(lane)]);
    equations_.begin(some);
    integrate();
    stock_ = equations_.stock(next_);
  }

  bool is_usual(int lane) const override { return equations_.usual()[lane]; }

  void take(int lane, Done& done) const override {
    done.y.resize(next_.size());
    done.rates.resize(next_.size());
    for (Eigen::Index i = 0; i < next_.size(); ++i) done.y[i] = next_[i][lane], done.rates[i] = rates_[i][lane];
    done.position_error = stock_.position_error[lane], done.velocity_error = stock_.velocity_error[lane];
    done.kinetic = stock_.kinetic[lane], done.potential = stock_.potential[lane];
    done.turned = stock_.fastest[lane] * h_[lane];
    done.evaluations = evaluations_;
  }

  double strongest(int lane) const override { return equations_.strongest(lane); }
  void set_strongest(int lane, double strongest) override { equations_.set_strongest(lane, strongest); }

 private:
  static typename LaneEquations<N>::Systems systems_of(const LaneStepsOf& of) {
    typename LaneEquations<N>::Systems systems;
    std::ranges::copy(of.systems, systems.begin());
    return systems;
  }

  /// From start_ over h_ to next_, whose rates are then in rates_.
  void integrate() {
    evaluations_ = 1;
    if (any(anew_)) {
      equations_.evaluate(t_, start_, rates_);
      for (Eigen::Index i = 0; i < rates_.size(); ++i) k_[0][i] = select(anew_, rates_[i], k_[0][i]);
      ++evaluations_;
    }
    const std::size_t stages = tableau_.b.size();
    for (std::size_t i = 1; i < stages; ++i, ++evaluations_) {
      combine(tableau_.a[i], i, stage_);
      equations_.evaluate(t_ + Lanes(tableau_.c[i]) * h_, stage_, k_[i]);
    }
    combine(tableau_.b, stages, next_);
    equations_.normalize(next_);
    if (projects_) equations_.project(next_);
    equations_.evaluate(t_ + h_, next_, rates_, projects_);
  }

  void combine(const std::vector<double>& weights, std::size_t count, VecX<Lanes>& y) const {
    y = start_;
    for (std::size_t j = 0; j < count; ++j) {
      if (weights[j] == 0.0) continue;
      const Lanes weight = h_ * Lanes(weights[j]);
      for (Eigen::Index i = 0; i < y.size(); ++i) y[i] += weight * k_[j][i];
    }
  }

  LaneEquations<N> equations_;
  const Tableau& tableau_;
  bool projects_;
  Lanes t_{0.0}, h_{0.0};
  LaneMask<N> anew_ = LaneMask<N>::of(false);  // those whose first rates are not known
  VecX<Lanes> start_, stage_, next_;
  std::vector<VecX<Lanes>> k_;                   // rates by stage
  VecX<Lanes> rates_;                            // at the end
  typename LaneEquations<N>::Stock stock_ = {};  // likewise
  long evaluations_ = 0;                         // of a step
};

}  // namespace linkwork
