#pragma once

#include <memory>
#include <vector>

#include "linkwork/linalg/rank.h"
#include "linkwork/modules/workshop.h"

namespace linkwork {

/// How well a state meets the constraints, all ranks together.
struct AssemblyErrors {
  double position = 0.0, velocity = 0.0, speed = 1.0;
  double joint_position = 0.0, joint_velocity = 0.0;  // of the connections alone
  int worst_module = -1;                              // with the largest position error; -1: a connection between modules
};

/// Solves for the forces between modules, exactly, by the tree of groups [Kasper]. With D, R of the members of a group stacked,
/// its joints G xdd = b, and E the ports that are joined further up:
///   (1)  W = G D G',  S = -W^+ G D E',  V = W^+ (b - G R)
///   (2)  D' = E D (E' + G' S),  R' = E (R + D G' V)
/// go up; at the top no port is left; then forces Q' come down:
///   (3)  lambda = S Q' + V,  F = E' Q' + G' lambda.
/// The paper's eq. 4-6 leave out the blocks of D between ports. Rows are dropped by the rank of W (rank.h).
///
/// Every rank works on the groups that lie on it entirely. What reaches beyond is gathered once, D, R and motion of the ports of
/// the highest such groups, and the few groups above are solved by every rank for itself: a single exchange, and none on the way
/// down. Which rank solves a group does not change a bit of the result.
class Hierarchy {
 public:
  explicit Hierarchy(Workshop& workshop);

  /// Asks the modules for their kinematics and responses, and goes up to the top. Trouble anywhere is known to all ranks after
  /// it.
  Status up(double t, const States& x, Level level);
  /// The same with answers that the modules of this rank have given already, of whatever kind.
  Status up_from_answers(double t, Level level);
  /// Comes down to the forces on the ports of this rank's modules.
  void down();

  const AssemblyErrors& errors() const { return errors_; }
  /// By connection; filled in by down() on ranks that have one of its modules.
  const std::vector<ConnectionResult>& results() const { return results_; }
  /// Of all rows between modules.
  int total_rank() const { return total_rank_; }
  /// Of the modules' own rows.
  int inner_rank() const { return inner_rank_; }
  /// Of the groups that this rank solves.
  int own_rank() const;
  double weakest() const { return weakest_; }
  /// The largest acceleration that a dependent row asks for in vain, and whose it is; after down().
  double inconsistency() const { return inconsistency_; }
  const std::string& inconsistent() const { return *inconsistent_; }
  /// Energy of springs between modules, by spring; known to ranks that have one of its modules.
  const std::vector<double>& spring_potentials() const { return spring_potentials_; }
  /// By coupling; null on ranks that do not evaluate it. `is_owner`: this rank is the first to.
  const std::vector<std::unique_ptr<Coupling>>& couplings() const { return couplings_; }
  bool is_owner(std::size_t coupling) const { return owners_[coupling] == workshop_.rank(); }
  /// Which rank that is, of each.
  const std::vector<int>& owners() const { return owners_; }
  /// Accelerations of a coupling's ports, after down().
  VecX<double> accelerations(std::size_t coupling) const;
  /// Numbers that the modules of this rank expose in an evaluation.
  int numbers_exposed() const;

  /// Feedback of errors into accelerations, b <- b - on_rate (G xd) - on_phi phi.
  double on_rate = 0.0, on_phi = 0.0;

 private:
  struct Joint {  // a connection in a group
    int connection;
    int a, b;  // ports of the group, -1: the ground
    int first_row;
  };
  struct Link {  // a spring in a group
    int spring;
    int a, b;
  };
  struct Between {  // a coupling in a group
    int coupling;
    std::vector<int> ports;
    int first_row;
  };
  struct Group {
    int module = -1;
    std::vector<int> children;
    int first_rank = 0, last_rank = 0;
    std::vector<PortRef> ports;  // of the children that are joined here or further up
    std::vector<int> kept;       // places of those that are joined further up
    std::vector<int> taken;      // of a leaf: the module's port at each place
    std::vector<Joint> joints;
    std::vector<Link> links;
    std::vector<Between> betweens;
    int rows = 0;
    int block = -1;  // in the message, if it is the highest on its rank

    std::vector<PortMotion> motion;
    MatX<double> D;
    VecX<double> R, scale, F_link;
    MatX<double> G, GD, W, W_inverse, GDE, S;
    VecX<double> rhs, V, lambda, row_scale;
    std::vector<char> dependent;
    Rank rank;
    std::vector<ConnectionRows> evaluated;
    MatX<double> D_up;
    VecX<double> R_up, scale_up, Q_up, F;
  };

  void plan_groups();
  void take_children(Group& group);
  void eliminate(Group& group, Level level);
  void apply_links(Group& group, Level level);
  void evaluate_joints(Group& group, Level level);
  void evaluate_couplings(Group& group, Level level);
  void send_down(Group& group);
  void look_for_contradiction(const Group& group, int row, const std::string& whose);
  void pack(const Group& group);
  void unpack(Group& group);
  bool is_here(const Group& group) const { return group.first_rank == workshop_.rank() && group.last_rank == workshop_.rank(); }
  bool is_shared(const Group& group) const { return group.first_rank != group.last_rank; }
  Status exchange();

  Workshop& workshop_;
  std::vector<Group> groups_;
  std::vector<double> message_;
  std::vector<int> ends_;  // of the ranks' parts
  AssemblyErrors errors_;
  std::vector<ConnectionResult> results_;
  double weakest_ = 1.0;
  int total_rank_ = 0, inner_rank_ = 0;
  double inconsistency_ = 0.0;
  const std::string* inconsistent_ = nullptr;
  std::vector<double> spring_potentials_;
  std::vector<std::unique_ptr<Coupling>> couplings_;
  std::vector<int> owners_;         // by coupling
  std::vector<PortMotion> motion_;  // of a coupling's ports
  double t_ = 0.0;
};

}  // namespace linkwork
