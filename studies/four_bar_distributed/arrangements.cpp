#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/four_bar_distributed/parts.h"

namespace linkwork::studies::four_bar_distributed {

void arrangements(StudyContext& context, StudyResult& result) {
  Part& part = result.add_part("Section 5.3: who solves the reduced equations",
                               "In Fig. 3 every processor solves them; or a master does, and tells the slaves, where the "
                               "integration goes on. Both on two threads, steps of 1 ms of ode5, sigma = 30.");
  Table table{
      "An evaluation of method B on two processors",
      {"arrangement", "solutions of the reduced equations", "messages per step", "bytes per step", "waiting per step (us)"}};
  std::vector<ModuleRun> runs;
  for (const bool master : {false, true}) {
    context.progress(master ? "a master and a slave" : "two equal processors");
    Spec spec = four_bar(context, projection(30.0) + (master ? ",master=1" : ""));
    spec.settings.integrator = {"ode5", {}, {}};
    spec.settings.step = 1e-3;
    spec.settings.end = std::min(spec.settings.end, 2.0);
    runs.push_back(run_modules(spec, 2));
    const GlueSummary& glue = *runs.back().summary.modules;
    table.rows.push_back({master ? "master and slave" : "every processor (Fig. 3)", master ? 1.0 : 2.0, glue.messages_per_step,
                          glue.bytes_per_step, 1e6 * glue.waiting_seconds_per_step});
  }
  part.tables.push_back(std::move(table));
  const bool same = runs[0].rows == runs[1].rows;
  part.claims.push_back(
      {"master-slave", "A master may solve the reduced equations once, and hand the result to the slaves",
       "an alternative to Fig. 3",
       same ? "the motion is the same to the last bit, with one more message per evaluation" : "the motion differs",
       same ? Holds::kYes : Holds::kNo, "sums in another order round differently"});
}

}  // namespace linkwork::studies::four_bar_distributed
