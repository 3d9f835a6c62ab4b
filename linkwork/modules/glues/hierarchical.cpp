#include "linkwork/modules/glues/hierarchical.h"

#include <fmt/format.h>

#include <utility>

#include "linkwork/modules/glues/catalog.h"

namespace linkwork {

HierarchicalGlue::HierarchicalGlue(Workshop& workshop)
    : Glue(workshop), hierarchy_(workshop), drift_(drift_control(workshop.plan().settings)), loads_(workshop, hierarchy_) {
  constexpr double kDue = 0.5;
  drift_.due = kDue;
  hierarchy_.on_rate = drift_.on_rate;
  hierarchy_.on_phi = drift_.on_phi;
}

Status HierarchicalGlue::solve(double t, const States& x, States& rates) {
  if (Status status = hierarchy_.up(t, x, Level::kAcceleration); !status.ok()) return status;
  hierarchy_.down();
  workshop_.advance(Level::kAcceleration, rates);
  return {};
}

/// An evaluation shows errors without a message of its own: as a rule they are small enough, and it is all there is to do.
Status HierarchicalGlue::solve_projected(double t, States& x, States& rates) {
  constexpr int kUsually = 2;
  if (times_due_ < kUsually)
    if (const Status status = solve(t, x, rates); status.ok() && !drift_.is_due(hierarchy_.errors())) {
      times_due_ = 0;
      return {};
    }
  bool moved = false;
  if (Status status = project_onto_constraints(workshop_, hierarchy_, drift_, t, x, &moved); !status.ok()) return status;
  times_due_ = moved ? times_due_ + 1 : 0;
  return solve(t, x, rates);
}

Status HierarchicalGlue::evaluate(double t, States& x, States& rates) {
  const bool projects = std::exchange(to_be_projected_, false);
  if (Status status = projects ? solve_projected(t, x, rates) : solve(t, x, rates); !status.ok()) return status;
  if (!loads_.empty())
    if (Status status = loads_.find([&] { return solve(t, x, rates); }); !status.ok()) return status;
  errors_ = hierarchy_.errors();
  results_ = hierarchy_.results();
  spring_potentials_ = hierarchy_.spring_potentials();
  return {};
}

Status HierarchicalGlue::project(double t, States& x) {
  if (!drift_.positions && !drift_.velocities) return {};
  // Where an evaluation has effects of its own, it must not be made twice.
  const AssemblyPlan& plan = workshop_.plan();
  to_be_projected_ = loads_.empty() && plan.couplings.empty() && !plan.watched;
  if (to_be_projected_) return {};
  return project_onto_constraints(workshop_, hierarchy_, drift_, t, x);
}

std::string HierarchicalGlue::contradiction() const {
  constexpr double kNoticeable = 1e-6;
  if (hierarchy_.inconsistency() <= kNoticeable) return {};
  return fmt::format("connection '{}' contradicts the joints it follows from: it asks for an acceleration that differs by {:.3g}",
                     hierarchy_.inconsistent(), hierarchy_.inconsistency());
}

GlueEntry hierarchical_glue() {
  return {
      {"hierarchical",
       "joints eliminated group by group, exactly; one exchange an evaluation",
       "Kasper",
       {{"nesting", 1.0, "1: groups as the model nests its modules, 0: by balanced partitioning alone"},
        {"tree", -1.0,
         "1: groups that span ranks are solved by one rank each, messages go up and down their tree, 0: by all ranks, after one "
         "exchange, -1: whichever is measured to cost less; the motion is the same"}}},
      [](Workshop& workshop, const Options&) { return std::make_unique<HierarchicalGlue>(workshop); },
      {.takes_couplings = true, .needs_own_part_only = true, .exposes = "motion of its ports, their response D and R"}};
}

}  // namespace linkwork
