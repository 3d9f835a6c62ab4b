#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "linkwork/modules/group_elimination.h"
#include "linkwork/modules/workshop.h"

namespace linkwork {

/// How well a state meets the constraints, all ranks together.
struct AssemblyErrors {
  double position = 0.0, velocity = 0.0, speed = 1.0;
  double joint_position = 0.0, joint_velocity = 0.0;  // of the connections alone
  int worst_module = -1;                              // with the largest position error; -1: a connection between modules
};

/// Two numbers that are summed over modules.
using PairOfSums = std::array<double, 2>;

/// Solves for the forces between modules, exactly, by the tree of groups [Kasper]. With D, R of the members of a group stacked,
/// its joints G xdd = b, and E the ports that are joined further up:
///   (1)  W = G D G',  S = -W^+ G D E',  V = W^+ (b - G R)
///   (2)  D' = E D (E' + G' S),  R' = E (R + D G' V)
/// go up; at the top no port is left; then forces Q' come down:
///   (3)  lambda = S Q' + V,  F = E' Q' + G' lambda.
/// The paper's eq. 4-6 leave out the blocks of D between ports. Rows are dropped by the rank of W (rank.h).
///
/// Every rank works on the groups that lie on it entirely. What reaches beyond are D, R and motion of the ports of the highest
/// such groups. With few ranks these are gathered once, and the few groups above are solved by every rank for itself: a single
/// exchange. With many, the ranks of each group above solve it, all of them for themselves: those that have the first of its
/// children swap what it offers with those that have the other one, two by two. Every rank then knows the groups on its way to
/// the top, after log2(p) swaps one after the other. Either way nothing is sent on the way down. Trouble and errors are part of
/// the same messages. Which ranks solve a group does not change a bit of the result.
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
  /// Both again, with answers whose R are the accelerations that those forces caused: what is added to them, so that joints are
  /// met. Results become those of all forces together.
  Status correct(double t);

  /// The sum of what all modules have, given those of this rank: each group adds up its members, so that the bits do not depend
  /// on who has what. All ranks call it and get it.
  PairOfSums add_up(std::span<const PairOfSums> own);

  /// Rows may have come and gone: ranks are found anew.
  void forget_ranks();

  const AssemblyErrors& errors() const { return errors_; }
  /// By connection; filled in by down() on the rank that tells of it (GroupPlan).
  const std::vector<ConnectionResult>& results() const { return results_; }
  /// Of all rows between modules.
  int total_rank() const { return total_rank_; }
  /// Of the modules' own rows.
  int inner_rank() const { return inner_rank_; }
  double weakest() const { return weakest_; }
  /// The largest acceleration that a dependent row asks for in vain, and whose it is.
  struct Contradiction {
    double missed = 0.0;
    const std::string* whose = nullptr;
  };
  /// Of this rank's groups, after down().
  Contradiction contradiction() const;
  /// Energy of springs between modules, by spring; known to the ranks that solve its group.
  const std::vector<double>& spring_potentials() const { return spring_potentials_; }
  /// By coupling; null on ranks that do not evaluate it. `is_owner`: this rank is the first to.
  const std::vector<std::unique_ptr<Coupling>>& couplings() const { return couplings_; }
  bool is_owner(std::size_t coupling) const { return workshop_.groups().coupling_ranks[coupling] == workshop_.rank(); }
  /// Accelerations of a coupling's ports, after down().
  VecX<double> accelerations(std::size_t coupling) const;
  /// Numbers that modules expose in an evaluation, all of them together.
  int numbers_exposed() const { return workshop_.groups().numbers_exposed; }

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
  struct Group : GroupElimination {
    /// own: of a leaf in which something is joined, what its module offers.
    Group(const PlannedGroup& its_plan, std::unique_ptr<ReducedResponse> own, std::vector<const ReducedResponse*> members);
    /// A leaf offers what its module does.
    bool is_module() const { return plan.module >= 0 && !of_module; }

    const PlannedGroup& plan;
    std::unique_ptr<ReducedResponse> of_module;
    std::size_t at_work = 0;  // of a leaf: the place of its module in the workshop
    std::vector<Joint> joints;
    std::vector<Link> links;
    std::vector<Between> betweens;
    int block = -1;  // in the message of one exchange, if it is the highest on its rank

    std::vector<PortMotion> motion;
    VecX<double> F_link, F, Q_up;
    VecX<double> total_lambda;  // with what was corrected
    int usual_rank = 0;         // of accelerations
    std::vector<ConnectionRows> evaluated;
    PairOfSums sums{}, ranks{};  // the latter of the joints and of the modules in it
  };

  /// What a rank does about the groups of a layer that span ranks: it tells what it knows of those below them, hears of the
  /// others, and solves.
  struct Swap {
    struct Told {
      int group;
      std::vector<int> to;  // ranks
    };
    struct Heard {
      int group;
      int from;
    };
    int top;  // number of the highest group of the layer
    std::vector<Told> told;
    std::vector<Heard> heard;
    std::vector<int> solved;
  };

  void make_group(const PlannedGroup& plan);
  void take_children(Group& group);
  void eliminate(Group& group, Level level);
  void apply_links(Group& group, Level level);
  void evaluate_joints(Group& group, Level level);
  void evaluate_couplings(Group& group, Level level);
  void find_forces(Group& group);
  void find_results(Group& group);

  // Messages (hierarchy_messages.cpp).
  bool is_tree() const { return workshop_.groups().scheme == Scheme::kTree; }
  void lay_out_message();
  void list_swaps();
  template <class Size, class Pack, class Unpack, class Solve>
  void swap_through_tree(Size size, Pack pack, Unpack unpack, Solve solve);
  void begin_account();
  double* write_account(double* to) const;
  const double* add_account(const double* from);
  const double* read_account(const double* from);
  Status conclusion();
  static double* pack(const Group& group, double* to);
  static const double* unpack(Group& group, const double* from);
  void exchange_once(Level level);
  void go_through_tree(Level level);
  void tell_idle_ranks(std::span<double> numbers);
  void add_members(Group& group, std::span<const PairOfSums> own) const;
  void add_ranks(Group& group) const;
  PairOfSums add_up_after_one_exchange();
  PairOfSums add_up_through_tree();

  Workshop& workshop_;
  std::vector<Group> groups_;
  std::vector<Swap> swaps_;  // of the scheme of the tree
  std::vector<std::vector<double>> letters_;
  std::vector<Transport::Outgoing> out_;
  std::vector<Transport::Incoming> in_;
  std::vector<double> message_;
  std::vector<int> ends_;  // of the ranks' parts
  bool trouble_ = false;   // anywhere
  double module_error_ = 0.0;
  AssemblyErrors errors_;
  std::vector<ConnectionResult> results_;
  double weakest_ = 1.0;
  int total_rank_ = 0, inner_rank_ = 0;
  std::vector<double> spring_potentials_;
  std::vector<std::unique_ptr<Coupling>> couplings_;
  std::vector<PortMotion> motion_;  // of a coupling's ports
  double t_ = 0.0;
  bool correcting_ = false;
};

}  // namespace linkwork
