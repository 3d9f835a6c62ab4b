#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/modules/connection.h"
#include "linkwork/modules/switched_part.h"
#include "linkwork/simulation/recorder.h"

namespace linkwork {

/// Something between modules that is more than a constraint of two frames or a spring: a relation of joint coordinates, rolling,
/// a joint, a force by an expression, a sensor of several modules. `spec` is a model of it alone, in which a free body stands
/// for each body of a module that it concerns.
struct CouplingPlan {
  std::string name;
  std::shared_ptr<const Spec> spec;
  std::vector<std::string> bodies;     // of the spec, in the order of
  std::vector<PortRef> ports;          // the ports at their origins, then those of states (make_states_module)
  std::vector<std::string> read_only;  // joints of modules: their coordinates are read, their rows are the modules' business
  std::vector<std::string> own;        // whose columns it has
  Place place;
};

/// A coupling at work. It knows its bodies by their motion alone, and says what it asks of them: rows on the motion of the ports,
/// and forces on them.
class Coupling {
 public:
  explicit Coupling(const CouplingPlan& plan);

  const CouplingPlan& plan() const { return plan_; }
  int row_count() const { return static_cast<int>(rows_.size()); }
  std::string row_name(int row) const { return model_.rows[static_cast<std::size_t>(model_row(row))].name; }

  /// How the bodies move. Everything below is about this instant.
  void update(double t, std::span<const PortMotion> ports);
  /// Applied forces on the ports, six numbers each, torque first, world axes.
  const VecX<double>& forces();
  /// Rows on accelerations of the ports, G xdd = b; also on velocities, G xd = u. Rows that are not in force are zero.
  void evaluate_rows(Level level);
  const MatX<double>& G() const { return G_; }
  double phi(int row) const { return terms().phi[model_row(row)]; }
  double rate(int row) const { return terms().rate[model_row(row)]; }
  double b(int row) const { return terms().b[model_row(row)]; }
  bool is_active(int row) const { return system().is_active(model_row(row)); }

  /// What the rows transmit, and which of them follow from others.
  void set_result(const Eigen::Ref<const VecX<double>>& lambda, std::span<const char> dependent);
  std::span<const char> dependent() const { return dependent_; }

  /// Columns, and their values with the accelerations xdd of the ports.
  const std::vector<std::string>& columns() const { return columns_; }
  Status record(const VecX<double>& xdd, std::span<double> row);
  double potential() const { return system().potential_energy(); }

  SwitchedPart& switched() { return *switched_; }
  void accept_step() { system().accept_turns(); }
  void set_input(const std::string& name, std::optional<double> value);
  std::vector<double> memory() const { return system().memory(); }
  void set_memory(const std::vector<double>& memory) { system().set_memory(memory); }

 private:
  class Imposed;

  int model_row(int row) const { return rows_[static_cast<std::size_t>(row)]; }
  System& system() { return equations_->system(); }
  const System& system() const { return equations_->system(); }
  const ConstraintTerms& terms() const { return system().terms(); }

  const CouplingPlan& plan_;
  Model model_;
  std::vector<int> nodes_;  // by port
  std::vector<int> rows_;   // of the model that are its own
  Imposed* imposed_ = nullptr;
  std::unique_ptr<EquationsOfMotion> equations_;
  std::unique_ptr<Stabilization> stabilization_;
  std::unique_ptr<SwitchedPart> switched_;
  State state_;
  Derivative rates_;
  VecX<double> forces_;
  MatX<double> G_;
  std::vector<char> dependent_;
  Recorder recorder_;
  std::vector<double> all_;
  std::vector<std::size_t> recorded_;  // of the recorder's columns
  std::vector<std::string> columns_;
};

}  // namespace linkwork
