#pragma once

#include "bench/peers/mechanism.h"
#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/model/model.h"
#include "linkwork/model/spec.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork::bench {

/// Linkwork as one of the engines, through its public interface.
class LinkworkEngine : public Engine {
 public:
  /// Throws InputError if the model cannot be solved in these coordinates.
  LinkworkEngine(const Spec& spec, const std::string& coordinates);

  /// Those at work: what "auto" chose.
  const std::string& coordinates() const { return simulation_->coordinates(); }
  const PeerState& start() const { return start_; }
  const Model& model() const { return model_; }

  void keep(const std::vector<PeerState>& states) override;
  void evaluate(std::size_t state) override;
  std::vector<double> accelerations(std::size_t state) override;
  std::string run(const PeerState& start, const Stepping& stepping, double end, double every, const Seen& seen) override;
  /// The same with an integrator of the catalog.
  Summary run_with(const std::string& integrator, const Stepping& stepping, double end, double every, const Seen& seen);
  const Summary& last_run() const { return last_run_; }

 private:
  Spec spec_;
  Model model_;
  std::unique_ptr<Simulation> simulation_;
  PeerState start_;
  std::vector<State> states_;
  Derivative rates_;
  Summary last_run_;
};

/// Looks at states of any engine with the eyes of one model.
class Judge {
 public:
  explicit Judge(const Spec& spec);

  struct Finding {
    double gap = 0.0;          // largest error of a closure
    double speed = 0.0;        // largest velocity coordinate
    double energy = 0.0;       // kinetic and potential
    std::vector<Triple> coms;  // of the bodies, in the world
    bool finite = true;
  };
  Finding look(const PeerState& state);

 private:
  Model model_;
  std::vector<Vec3<double>> coms_;  // by body of the model, in its frame
  System system_;
  State state_;
};

}  // namespace linkwork::bench
