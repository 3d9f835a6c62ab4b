#include "linkwork/modules/glues/hierarchical.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "linkwork/modules/glues/catalog.h"
#include "linkwork/transport/rank_tree.h"

namespace linkwork {

/// Where bodies are far from the origin no more can be asked: this share of the whole's size is rounding.
constexpr double kRoundingOfPositions = 4e-15;

namespace {

/// All ranks come to the same conclusion.
HierarchicalGlue::Refinement refinement_of(Workshop& workshop) {
  constexpr double kByDecades = 1e4;  // as in one piece (ForceBalance)
  double least = std::numeric_limits<double>::infinity(), largest = 0.0, unknown = 0.0;
  for (const WorkingModule& module : workshop.modules()) {
    const auto own = module.module->masses();
    if (!own)
      unknown = 1.0;
    else
      least = std::min(least, own->first), largest = std::max(largest, own->second);
  }
  std::array<double, 3> most{-least, largest, unknown};
  combine(workshop.transport(), most, [](std::span<double> into, std::span<const double> from) {
    for (std::size_t k = 0; k < into.size(); ++k) into[k] = std::max(into[k], from[k]);
  });
  least = -most[0], largest = most[1], unknown = most[2];
  const bool is_possible = unknown == 0.0;
  return {is_possible, is_possible && largest > kByDecades * least};
}

}  // namespace

HierarchicalGlue::HierarchicalGlue(Workshop& workshop)
    : Glue(workshop),
      hierarchy_(workshop),
      drift_(drift_control(workshop.plan().settings)),
      loads_(workshop, hierarchy_),
      refinement_(refinement_of(workshop)),
      Q_(workshop.modules().size()) {
  drift_.good_enough = std::max(drift_.good_enough, kRoundingOfPositions * workshop.plan().length);
  hierarchy_.on_rate = drift_.on_rate;
  hierarchy_.on_phi = drift_.on_phi;
}

Status HierarchicalGlue::solve(double t, const States& x, States& rates) {
  if (Status status = hierarchy_.up(t, x, Level::kAcceleration); !status.ok()) return status;
  hierarchy_.down();
  workshop_.advance(Level::kAcceleration, rates);
  constexpr double kWeak = 1e-12;  // pivots below it lose digits that matter; those of long chains are small, and lose none
  constexpr int kRounds = 2;       // each leaves as much of what is missed as was lost
  const bool refines = refinement_.is_needed || (refinement_.is_possible && hierarchy_.weakest() < kWeak);
  for (int round = 0; refines && round < kRounds; ++round)
    if (Status status = refine(t, rates); !status.ok()) return status;
  return {};
}

/// Joints miss what W has lost of them; it is solved for once more, by how ports really accelerate.
Status HierarchicalGlue::refine(double t, States& rates) {
  for (std::size_t i = 0; i < Q_.size(); ++i) {
    WorkingModule& module = workshop_.modules()[i];
    Q_[i] = module.Q;
    module.module->port_accelerations(module.response.R);
  }
  if (Status status = hierarchy_.correct(t); !status.ok()) return status;
  for (std::size_t i = 0; i < Q_.size(); ++i) workshop_.modules()[i].Q += Q_[i];
  workshop_.advance(Level::kAcceleration, rates);
  return {};
}

/// As a rule errors are small enough, and the evaluation that shows them is all there is to do. Where the ends of steps had to be
/// moved, they are expected to again, and errors are looked at first. The motion is the same either way.
Status HierarchicalGlue::project_and_evaluate(double t, States& x, States& rates) {
  constexpr int kExpected = 2, kNowAndThen = 16;
  if (times_due_ < kExpected || times_due_ % kNowAndThen == 0)
    if (const Status status = evaluate(t, x, rates); status.ok() && !drift_.is_due(errors_)) {
      times_due_ = 0;
      return {};
    }
  ++times_due_;
  if (Status status = project(t, x, false); !status.ok()) return status;
  return evaluate(t, x, rates);
}

Status HierarchicalGlue::evaluate(double t, States& x, States& rates) {
  if (Status status = solve(t, x, rates); !status.ok()) return status;
  if (!loads_.empty())
    if (Status status = loads_.find([&] { return solve(t, x, rates); }); !status.ok()) return status;
  for (std::size_t i = 0; i < x.size(); ++i) workshop_.modules()[i].module->settle(x[i]);
  errors_ = hierarchy_.errors();
  results_ = hierarchy_.results();
  spring_potentials_ = hierarchy_.spring_potentials();
  return {};
}

Status HierarchicalGlue::project(double t, States& x, bool closely) {
  if (!drift_.positions && !drift_.velocities) return {};
  return project_onto_constraints(workshop_, hierarchy_, drift_, t, x, closely);
}

std::string HierarchicalGlue::contradiction() const {
  constexpr double kNoticeable = 1e-6;
  const auto [missed, whose] = hierarchy_.contradiction();
  if (missed <= kNoticeable) return {};
  return fmt::format("connection '{}' contradicts the joints it follows from: it asks for an acceleration that differs by {:.3g}",
                     *whose, missed);
}

GlueEntry hierarchical_glue() {
  return {{"hierarchical",
           "joints eliminated group by group, exactly; one exchange per evaluation",
           "Kasper",
           {{"nesting", 1.0, "1: groups as the model nests its modules, 0: by balanced partitioning alone", kYesOrNo},
            {"tree", -1.0,
             "how groups that span ranks are solved. 0: each by all ranks, after one exchange; 1: each by the ranks that have a "
             "part in it, with messages from level to level; 2, 3, ...: messages every 2, 3, ... levels; -1: in the way that is "
             "measured to be fastest. The motion is the same",
             whole_numbers(-1.0)}}},
          [](Workshop& workshop, const Options&) { return std::make_unique<HierarchicalGlue>(workshop); },
          {.takes_couplings = true, .needs_own_part_only = true, .exposes = "motion of its ports, their response D and R"}};
}

}  // namespace linkwork
