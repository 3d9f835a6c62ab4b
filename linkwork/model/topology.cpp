#include "linkwork/model/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <set>
#include <unordered_map>

#include "linkwork/model/joints/joint_kind.h"

namespace linkwork {

namespace {

struct Edge {
  int a;            // body of the parent frame
  int b;            // body of the child frame
  double cut_cost;  // what it costs to cut this joint rather than another of the same loop
};

class Graph {
 public:
  explicit Graph(const Spec& spec) : body_count_(static_cast<int>(spec.bodies.size()) + 1), incident_(spec.bodies.size() + 1) {
    std::unordered_map<std::string, int> body_of{{"ground", 0}};
    for (std::size_t i = 0; i < spec.bodies.size(); ++i) body_of[spec.bodies[i].name] = static_cast<int>(i) + 1;
    const std::set<std::string> busy = joints_in_use(spec);
    for (std::size_t j = 0; j < spec.joints.size(); ++j) {
      const JointSpec& joint = spec.joints[j];
      const bool carries_start = !joint.position.empty() || !joint.velocity.empty();
      const double rows = 6.0 - find_joint_kind(joint.type)->nv();
      const double cut_cost = rows + (joint.fixed || joint.armature != 0.0 ? 100.0 : 0.0) +
                              (busy.contains(joint.name) ? 8.0 : 0.0) + (carries_start ? 4.0 : 0.0) -
                              1e-3 * static_cast<double>(j) / static_cast<double>(spec.joints.size());
      edges_.push_back({body_of.at(joint.parent.body), body_of.at(joint.child.body), cut_cost});
      if (joint.cut) continue;
      incident_[static_cast<std::size_t>(edges_.back().a)].push_back(static_cast<int>(j));
      incident_[static_cast<std::size_t>(edges_.back().b)].push_back(static_cast<int>(j));
    }
  }

  const Edge& edge(int j) const { return edges_[static_cast<std::size_t>(j)]; }
  int body_count() const { return body_count_; }
  int edge_count() const { return static_cast<int>(edges_.size()); }
  const std::vector<int>& incident(int body) const { return incident_[static_cast<std::size_t>(body)]; }
  int other_end(int j, int body) const { return edge(j).a == body ? edge(j).b : edge(j).a; }

 private:
  static std::set<std::string> joints_in_use(const Spec& spec) {
    std::set<std::string> names;
    const auto use_coordinate = [&](const std::string& coordinate) {
      names.insert(coordinate);  // "joint", or "joint.component" and "module.joint": each prefix may be the joint
      for (std::size_t dot = coordinate.find('.'); dot != std::string::npos; dot = coordinate.find('.', dot + 1))
        names.insert(coordinate.substr(0, dot));
    };
    for (const ForceSpec& force : spec.forces) use_coordinate(force.joint);
    for (const ClosureSpec& closure : spec.closures) {
      for (const std::string& joint : closure.joints) use_coordinate(joint);
      for (const std::string& variable : closure.value.variables())
        if (variable.size() > 2) use_coordinate(variable.substr(2));
    }
    for (const JointSpec& joint : spec.joints)
      if (joint.stiffness != 0.0 || joint.damping != 0.0 || joint.friction != 0.0) names.insert(joint.name);
    return names;
  }

  int body_count_;
  std::vector<Edge> edges_;
  std::vector<std::vector<int>> incident_;
};

struct SpanningTree {
  std::vector<bool> in_tree;  // by joint
  std::vector<int> parent, via, depth;
};

/// The tree made of the chosen joints, parents found by breadth-first search from the ground.
SpanningTree rooted(const Graph& graph, std::vector<bool> in_tree) {
  const auto n = static_cast<std::size_t>(graph.body_count());
  SpanningTree tree{std::move(in_tree), std::vector<int>(n, -1), std::vector<int>(n, -1), std::vector<int>(n, -1)};
  std::queue<int> queue({0});
  tree.depth[0] = 0;
  while (!queue.empty()) {
    const int body = queue.front();
    queue.pop();
    for (int j : graph.incident(body)) {
      const int next = graph.other_end(j, body);
      if (!tree.in_tree[static_cast<std::size_t>(j)] || tree.depth[static_cast<std::size_t>(next)] >= 0) continue;
      tree.parent[static_cast<std::size_t>(next)] = body;
      tree.via[static_cast<std::size_t>(next)] = j;
      tree.depth[static_cast<std::size_t>(next)] = tree.depth[static_cast<std::size_t>(body)] + 1;
      queue.push(next);
    }
  }
  return tree;
}

/// Shortest paths from the ground, where a joint that is good to cut counts a little longer.
SpanningTree shortest_path_tree(const Graph& graph) {
  const auto n = static_cast<std::size_t>(graph.body_count());
  std::vector<double> distance(n, std::numeric_limits<double>::infinity());
  std::vector<int> via(n, -1);
  using Entry = std::pair<double, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distance[0] = 0.0;
  queue.push({0.0, 0});
  while (!queue.empty()) {
    const auto [d, body] = queue.top();
    queue.pop();
    if (d > distance[static_cast<std::size_t>(body)]) continue;
    for (int j : graph.incident(body)) {
      const int next = graph.other_end(j, body);
      const double through = d + 1.0 + 1e-3 / (1.0 + graph.edge(j).cut_cost);
      if (through >= distance[static_cast<std::size_t>(next)]) continue;
      distance[static_cast<std::size_t>(next)] = through;
      via[static_cast<std::size_t>(next)] = j;
      queue.push({through, next});
    }
  }
  std::vector<bool> in_tree(static_cast<std::size_t>(graph.edge_count()), false);
  for (int j : via)
    if (j >= 0) in_tree[static_cast<std::size_t>(j)] = true;
  return rooted(graph, std::move(in_tree));
}

std::vector<int> loop_joints(const Graph& graph, const SpanningTree& tree, int cut) {
  std::vector<int> joints;
  int a = graph.edge(cut).a, b = graph.edge(cut).b;
  while (a != b) {
    int& deeper = tree.depth[static_cast<std::size_t>(a)] >= tree.depth[static_cast<std::size_t>(b)] ? a : b;
    joints.push_back(tree.via[static_cast<std::size_t>(deeper)]);
    deeper = tree.parent[static_cast<std::size_t>(deeper)];
  }
  return joints;
}

double cost(const Graph& graph, const SpanningTree& tree) {
  double total = 0.0;
  for (int j = 0; j < graph.edge_count(); ++j)
    if (!tree.in_tree[static_cast<std::size_t>(j)])
      total += 100.0 * static_cast<double>(loop_joints(graph, tree, j).size()) + graph.edge(j).cut_cost;
  for (int depth : tree.depth) total += 0.5 * depth;
  return total;
}

/// Swaps a cut joint with a tree joint of its loop as long as that lowers the cost.
void improve(const Graph& graph, const std::vector<bool>& forced_cut, SpanningTree& tree) {
  constexpr int kLargestGraph = 150;  // the search is cubic; large mechanisms keep the shortest-path tree
  if (graph.edge_count() > kLargestGraph) return;
  double best = cost(graph, tree);
  for (bool improved = true; improved;) {
    improved = false;
    for (int j = 0; j < graph.edge_count(); ++j) {
      if (tree.in_tree[static_cast<std::size_t>(j)] || forced_cut[static_cast<std::size_t>(j)]) continue;
      for (int swap : loop_joints(graph, tree, j)) {
        std::vector<bool> candidate = tree.in_tree;
        candidate[static_cast<std::size_t>(j)] = true;
        candidate[static_cast<std::size_t>(swap)] = false;
        SpanningTree other = rooted(graph, std::move(candidate));
        const double other_cost = cost(graph, other);
        if (other_cost >= best - 1e-9) continue;
        best = other_cost;
        tree = std::move(other);
        improved = true;
        break;
      }
    }
  }
}

/// A body that the tree does not reach hangs on nothing, or only by joints that the user has cut.
void check_connected(const Spec& spec, const Graph& graph, const SpanningTree& tree) {
  for (std::size_t i = 0; i < spec.bodies.size(); ++i) {
    if (tree.depth[i + 1] >= 0) continue;
    const auto is_reached = [&](int body) { return tree.depth[static_cast<std::size_t>(body)] >= 0; };
    std::vector<std::string> cut;
    for (int j = 0; j < graph.edge_count(); ++j)
      if (const JointSpec& joint = spec.joints[static_cast<std::size_t>(j)];
          joint.cut && is_reached(graph.edge(j).a) != is_reached(graph.edge(j).b))
        cut.push_back("'" + joint.name + "'");
    const std::string body = fmt::format("body '{}' is not connected to the ground by joints", spec.bodies[i].name);
    if (cut.empty())
      throw InputError(spec.bodies[i].place, body,
                       "a joint to a connected body or to \"ground\"; type = \"free\" lets a body float");
    throw InputError(spec.bodies[i].place, fmt::format("{}: 'cut = true' takes {} out of the tree", body, listed(cut)),
                     "cut = true on a joint that closes a loop only: without it the bodies must still hang on the ground");
  }
}

}  // namespace

Topology choose_topology(const Spec& spec) {
  const Graph graph(spec);
  SpanningTree tree = shortest_path_tree(graph);
  check_connected(spec, graph, tree);
  std::vector<bool> forced(spec.joints.size());
  for (std::size_t j = 0; j < spec.joints.size(); ++j) forced[j] = spec.joints[j].cut;
  improve(graph, forced, tree);

  Topology topology;
  topology.parent_body = tree.parent;
  topology.via_joint = tree.via;
  topology.cut.resize(spec.joints.size());
  for (int j = 0; j < graph.edge_count(); ++j) {
    const bool cut = !tree.in_tree[static_cast<std::size_t>(j)];
    topology.cut[static_cast<std::size_t>(j)] = cut;
    if (cut) topology.loops.push_back({j, static_cast<int>(loop_joints(graph, tree, j).size()) + 1});
  }
  std::vector<int> stack{0};
  while (!stack.empty()) {
    const int body = stack.back();
    stack.pop_back();
    if (body != 0) topology.order.push_back(body);
    const std::vector<int> last_first(graph.incident(body).rbegin(), graph.incident(body).rend());
    for (const int j : last_first) {
      const int next = graph.other_end(j, body);
      if (next != 0 && tree.via[static_cast<std::size_t>(next)] == j && tree.parent[static_cast<std::size_t>(next)] == body)
        stack.push_back(next);
    }
  }
  return topology;
}

}  // namespace linkwork
