#pragma once

#include <array>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "linkwork/model/spec.h"
#include "studies/study.h"

namespace linkwork::studies::closed_chain {

/// One way to solve a model.
struct Method {
  std::string name;
  std::string coordinates;
  std::string stabilization;
  std::string formulation = "auto";
};

/// The eight of the paper's Table 1, in its order, TA and FA by one dense Schur complement as there.
const std::array<Method, 8>& methods();
/// The same as this program does them: every loop eliminated where it ends.
Method with_early_elimination(Method method);

/// A run kept in memory.
struct Run {
  bool completed = false;
  std::string trouble = {};  // why it was refused or did not reach its end
  std::vector<std::string> columns = {};
  std::vector<std::vector<double>> rows = {};
  double mean_error = std::numeric_limits<double>::quiet_NaN();  // of the positions of constraints, over all rows of output
  double largest_error = std::numeric_limits<double>::quiet_NaN();
  double seconds = std::numeric_limits<double>::quiet_NaN();  // of processor time
  int coordinates = 0;                                        // velocities of the tree that is solved
  int constraints = 0;                                        // rows beside it
};

/// How long and how finely.
struct Span {
  double end;
  double step;
  double every;
};

/// A ready model and the values of its parameters that are not its own.
struct Mechanism {
  std::string model;
  std::vector<std::pair<std::string, std::string>> set = {};
};

Run run(const StudyContext& context, const Mechanism& mechanism, const Method& method, const Span& span);
/// The motion with far smaller errors than those to be judged.
Run reference_run(const StudyContext& context, const Mechanism& mechanism, double end, double every);

std::vector<double> column(const Run& run, const std::string& name);
/// Columns of positions: coordinates of joints.
std::vector<std::string> position_columns(const Run& run);
/// Who met which trouble, in one sentence.
std::string listed(const std::map<std::string, std::vector<std::string>>& troubles);
/// Root of the mean square of the distances of the points (sensors) between two runs, over the rows that both have.
double point_distance(const Run& run, const Run& reference, const std::vector<std::string>& points);
/// Largest difference of a column between two runs.
double largest_difference(const Run& run, const Run& reference, const std::string& name);

}  // namespace linkwork::studies::closed_chain
