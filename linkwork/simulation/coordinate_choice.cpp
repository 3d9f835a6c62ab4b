#include "linkwork/simulation/coordinate_choice.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "linkwork/coordinates/fully_augmented.h"
#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/tree/aba.h"

namespace linkwork {

namespace {

constexpr double kNode = 620, kPlanarNode = 300, kBlockNode = 2100, kSpring = 400, kEvaluation = 500;
/// To embed must be worth something: what iterations for positions cost that no formula closes is not predicted.
constexpr double kWorthwhile = 0.8;
/// Solutions that it takes until what was lent to joints without inertia is taken back.
constexpr double kRoundsOfLending = 4;

double tree_cost(const Model& model) {
  double cost = kEvaluation + kSpring * static_cast<double>(model.springs.size());
  for (const Node& node : model.tree.nodes)
    cost += velocity_count(node.kind) > 1 ? kBlockNode : node.planar ? kPlanarNode : kNode;
  return cost;
}

const Joint* joint_with_armature(const Model& model) {
  const auto found = std::ranges::find_if(model.joints, [](const Joint& joint) { return joint.armature != 0.0; });
  return found == model.joints.end() ? nullptr : &*found;
}

/// By group: not those of clusters so large that choosing their independent coordinates would take longer than it could save, and
/// none where constraints come and go, or stand at velocity level.
std::vector<char> embeddable(const Model& model, std::span<const ForceColumns> groups) {
  constexpr int kMostRows = 250;
  const bool is_permanent = !model.has_events() && std::ranges::all_of(model.rows, &ConstraintRow::is_permanent);
  if (!is_permanent) return std::vector<char>(groups.size(), 0);
  const std::vector<int> cluster = loop_clusters(model.tree, groups);
  std::vector<int> rows(groups.size(), 0);
  for (std::size_t g = 0; g < groups.size(); ++g) rows[static_cast<std::size_t>(cluster[g])] += groups[g].columns();
  std::vector<char> fit;
  for (int c : cluster) fit.push_back(rows[static_cast<std::size_t>(c)] <= kMostRows);
  return fit;
}

/// The node of a joint that moves no inertia with some groups embedded; 0: there is none. Nothing: no choice of their coordinates
/// is good.
std::optional<int> joint_without_inertia(System& system, std::span<const char> embed) {
  constexpr double kHopeless = 1e4;
  const std::vector<ForceColumns>& groups = system.terms().groups;
  Compounds compounds(system.tree(), groups, embed);
  compounds.update_rows(system.tree(), system.work(), groups);
  compounds.choose(system.tree(), system.work(), groups);
  if (!(compounds.factor() < kHopeless)) return {};
  LoopElimination loops(system.tree(), groups, &compounds);
  loops.inward_unforced(system.tree(), system.work(), groups, VecX<double>::Zero(system.terms().rows()));
  return system.work().massless_node;
}

/// Groups that must be embedded where joints move nothing by themselves: clusters of loops, one after the other, until each joint
/// moves inertia; or all of them, if these are many. Nothing: that does not help.
std::optional<std::vector<char>> embedded_for_inertia(System& system, std::span<const char> considered) {
  constexpr int kMostTries = 16;
  const std::vector<ForceColumns>& groups = system.terms().groups;
  const std::vector<int> cluster = loop_clusters(system.tree(), groups);
  std::vector<char> embed(groups.size(), 0);
  const auto add_cluster_of = [&](int node) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (!considered[g] || embed[g] || std::ranges::count(groups[g].way(), node) == 0) continue;
      for (std::size_t k = 0; k < groups.size(); ++k) embed[k] = embed[k] || cluster[k] == cluster[g];
      return true;
    }
    return false;
  };
  int node = system.work().massless_node;
  for (int k = 0; k < kMostTries; ++k) {
    if (!add_cluster_of(node)) return {};
    const std::optional<int> next = joint_without_inertia(system, embed);
    if (!next) return {};
    if (*next == 0) return embed;
    node = *next;
  }
  embed.assign(considered.begin(), considered.end());
  return joint_without_inertia(system, embed) == 0 ? std::optional(embed) : std::nullopt;
}

std::string closure_name(const Model& model, std::size_t group) {
  const std::size_t frames = model.frame_closures.size();
  return group < frames ? model.frame_closures[group].name : model.coordinate_closures[group - frames].name;
}

}  // namespace

void check_no_armature(const Model& model) {
  if (const Joint* const joint = joint_with_armature(model))
    throw InputError(
        model.settings.coordinates.place,
        "coordinates '" + model.settings.coordinates.name + "' cannot be used with the armature of joint '" + joint->name + "'",
        "the coordinates 'TA' or 'CE'");
}

std::vector<CatalogInfo> coordinate_choices() {
  return {{"auto", "loop by loop, embedded (CE) or cut (TA), by predicted cost", "", {}},
          {"FA", "every body free, every joint a constraint", "Jain2012", {}},
          {"CE",
           "loops as compound bodies that move by their independent coordinates",
           "Jain2012",
           {{"analytic", 1.0, "1: planar loops are closed by formula; 0: all by iteration", kYesOrNo}}},
          {"TA", "joint coordinates of a spanning tree, with constraints where loops are cut", "Jain2012", {}}};
}

CoordinateCosts predict_costs(const Model& model, const State& state) {
  CoordinateCosts costs;
  costs.ta = costs.ce = costs.automatic = tree_cost(model);
  if (model.row_count() == 0) return costs;
  System system(model);
  system.update(state);
  aba_inertias(model.tree, system.work());
  const bool lends = system.work().massless_node != 0;
  const std::vector<ForceColumns>& groups = system.terms().groups;
  const LoopElimination& loops = layout_of(model)->elimination(model.tree);
  const std::vector<char> considered = embeddable(model, groups);
  Compounds compounds(model.tree, groups, considered);
  compounds.update_rows(model.tree, system.work(), groups);
  update_poses(model.tree, system.work());
  compounds.choose(model.tree, system.work(), groups);
  costs.embed.assign(groups.size(), 0);
  // Where joints move nothing by themselves, cut loops are solved in several rounds, with inertia that is lent; a compound may
  // have enough of its own.
  std::optional<std::vector<char>> needed = std::vector<char>(groups.size(), 0);
  if (lends) needed = embedded_for_inertia(system, considered);
  const double rounds_cut = lends ? kRoundsOfLending : 1.0, rounds = needed ? 1.0 : rounds_cut;
  costs.ta *= rounds_cut;
  costs.automatic *= rounds;
  for (const Compounds::Cost& compound : compounds.costs()) {
    CoordinateCosts::Cluster& cluster = costs.clusters.emplace_back();
    cluster.joints = compound.joints;
    cluster.rows = compound.rows;
    cluster.independent = compound.independent;
    cluster.embedded = compound.instructions;
    double cut = 0.0;
    for (int g : compound.groups) {
      cut += loops.costs()[static_cast<std::size_t>(g)];
      cluster.closures.push_back(closure_name(model, static_cast<std::size_t>(g)));
    }
    const bool is_needed = needed && (*needed)[static_cast<std::size_t>(compound.groups.front())] != 0;
    cluster.cut = (is_needed ? rounds_cut : rounds) * cut;
    cluster.embed = is_needed || (needed && cluster.embedded < kWorthwhile * cut);
    for (int g : compound.groups) costs.embed[static_cast<std::size_t>(g)] = cluster.embed;
    costs.ta += rounds_cut * cut;
    costs.ce += cluster.embedded;
    costs.automatic += cluster.embed ? cluster.embedded : cluster.cut;
  }
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (!considered[g]) {
      costs.ta += rounds_cut * loops.costs()[g];
      costs.automatic += rounds * loops.costs()[g];
      costs.ce = std::numeric_limits<double>::quiet_NaN();
    }
  return costs;
}

double predict_free_body_cost(const Model& model) {
  const Model free = fully_augmented(model);
  const LoopElimination& joints = layout_of(free)->elimination(free.tree);
  double cost = tree_cost(free);
  for (double of_group : joints.costs()) cost += of_group;
  return cost;
}

}  // namespace linkwork
