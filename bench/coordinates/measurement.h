#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/model/model.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork::bench {

/// A model of models/ at several sizes, in several coordinates.
struct Family {
  std::string model;
  std::vector<long> sizes;  // values of the model's parameter n; one 0 if it has none
  long fit_from = 0;        // the growth is fitted from this size on
};

/// Processor time per constrained forward-dynamics evaluation (EquationsOfMotion::evaluate), s.
struct Timing {
  double median = 0.0, low = 0.0, high = 0.0;  // and the quartiles
  long evaluations = 0;
};

/// One model, size and choice of coordinates, ready to be timed.
class Subject {
 public:
  /// Throws InputError if the model cannot be solved in these coordinates.
  Subject(const std::string& model, long n, const std::string& coordinates);

  /// Several consistent states along a motion, so that no evaluation repeats the one before. Returns what went wrong, or nothing.
  std::optional<std::string> prepare(const std::string& asked);
  /// Evaluates one state after the other, as often as takes a useful time, and keeps the time per evaluation.
  std::optional<std::string> sample();

  Timing timing() const;
  /// Sizes of the system that is solved: FA's tree is one of free bodies.
  int bodies() const { return static_cast<int>(model_.bodies.size()); }
  int rows() { return solved().row_count(); }
  int coordinates() { return solved().tree.nv; }

 private:
  const Model& solved() { return simulation_.equations().model(); }
  std::optional<std::string> evaluate_all();

  Model model_;
  Simulation simulation_;
  std::vector<State> states_;
  Derivative rates_;
  int passes_ = 1;  // over all states, in a sample
  long evaluations_ = 0;
  std::vector<double> samples_;
};

struct Result {
  std::string model;
  long n = 0;
  std::string coordinates;
  std::unique_ptr<Subject> subject;  // none if skipped
  std::string skipped;               // why
  double setup_seconds = 0.0;
};

struct Growth {
  std::string model;
  std::string coordinates;
  long from = 0, to = 0;
  double slope = 0.0;  // of log time over log n, by least squares
};

struct Plan {
  std::vector<std::string> coordinates;
  int rounds = 15;
  double setup_limit = 60.0;  // s; sizes whose preparation promises to take longer are skipped
};

/// All sizes and coordinates of a family, sampled in turn, so that a busy machine disturbs all of them alike.
std::vector<Result> measure(const Family& family, const Plan& plan);
std::vector<Growth> growth(const Family& family, const std::vector<Result>& results);

}  // namespace linkwork::bench
