#include "linkwork/modules/model_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/dynamics/position_rows.h"
#include "linkwork/dynamics/redundancy.h"
#include "linkwork/modules/module_equations.h"
#include "linkwork/modules/switched_part.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/limit_watch.h"
#include "linkwork/simulation/recorder.h"
#include "linkwork/stabilizations/catalog.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

namespace {

using V3 = Vec3<double>;

/// Drift control that acts on b; what moves states is the glue's business.
std::unique_ptr<Stabilization> adjusting(const Model& model) {
  return make_chosen(stabilizations(), model.settings.stabilization, "stabilization", model);
}

/// The formulation `schur` with forces on ports: in two halves, between which they are found.
class PortedSchur : public Formulation {
 public:
  PortedSchur(const Model& model, std::vector<NodeFrame> ports)
      : ports_(std::move(ports)),
        position_rows_(model),
        columns_(port_columns(model.tree, ports_)),
        loops_(model.tree, layout_of(model)->groups, nullptr, columns_),
        Q(VecX<double>::Zero(6 * static_cast<int>(ports_.size()))),
        lambda_(VecX<double>::Zero(model.row_count() + Q.size())) {}

  /// The system is up to date, forces included.
  Status respond(System& system, Level level) {
    set_columns(system);
    const ConstraintTerms& terms = system.terms();
    TreeWork<double>& work = system.work();
    if (level == Level::kAcceleration) {
      update_bias_wrenches(system.tree(), work);
      loops_.inward(system.tree(), work, terms.groups, terms.b, columns_);
    } else if (level == Level::kPosition) {
      loops_.inward_unforced(system.tree(), work, position_rows_.groups(terms), terms.phi, columns_);
    } else {
      loops_.inward_unforced(system.tree(), work, terms.groups, terms.rate, columns_);
    }
    if (work.massless_node == 0 || level != Level::kAcceleration) return {};
    return {fmt::format("every joint must move some inertia, and '{}' moves none", system.model().node_name(work.massless_node))};
  }

  /// vdot, or the change of positions or velocities, with the forces Q on the ports.
  void finish(System& system, VecX<double>& vdot, VecX<double>& lambda) {
    lambda_.tail(Q.size()) = Q;
    loops_.outward(system.tree(), system.work(), vdot, lambda_);
    lambda = lambda_.head(lambda_.size() - Q.size());
  }

  Status solve(System& system, Solution& solution) override {
    if (Status status = respond(system, Level::kAcceleration); !status.ok()) return status;
    finish(system, solution.vdot, solution.lambda);
    solution.rank = loops_.rank();
    std::copy_n(loops_.dependent().begin(), solution.dependent.size(), solution.dependent.begin());
    return {};
  }

  const LoopElimination& loops() const { return loops_; }
  const std::vector<NodeFrame>& ports() const { return ports_; }
  std::span<const ForceColumns> columns() const { return columns_; }

  /// Unit wrenches at the ports, world axes.
  void set_columns(const System& system) {
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      const Mat3<double>& R_WN = system.X_WN(ports_[p].node).R;
      columns_[p].set_point(ports_[p].node, ports_[p].X_NF.p);
      for (int k = 0; k < 3; ++k) {
        const V3 axis = R_WN.row(k).transpose();
        columns_[p].wrench(0, k) = {axis, V3::Zero()};
        columns_[p].wrench(0, 3 + k) = {ports_[p].X_NF.p.cross(axis), axis};
      }
    }
  }

 private:
  static std::vector<ForceColumns> port_columns(const Tree& tree, const std::vector<NodeFrame>& ports) {
    std::vector<ForceColumns> columns;
    for (const NodeFrame& port : ports) columns.emplace_back(tree, std::vector<int>{port.node}, std::vector<int>{}, 6);
    return columns;
  }

  std::vector<NodeFrame> ports_;
  PositionRows position_rows_;
  std::vector<ForceColumns> columns_;
  LoopElimination loops_;

 public:
  VecX<double> Q;  // on the ports

 private:
  VecX<double> lambda_;  // of the closures, then Q
};

class ModelModule : public Module, private ModuleEquations {
 public:
  ModelModule(Model model, const std::vector<FrameSpec>& ports, std::vector<double> start_values)
      : model_(std::move(model)), start_values_(std::move(start_values)), recorder_(model_), limits_(model_) {
    auto formulation = std::make_unique<PortedSchur>(model_, port_frames(ports));
    schur_ = formulation.get();
    equations_ = std::make_unique<EquationsOfMotion>(model_, std::move(formulation), adjusting(model_));
    stabilization_ = adjusting(model_);
    switched_ = std::make_unique<SwitchedPart>(model_, *equations_);
    state_.q.resize(nq());
    state_.v.resize(nv());
    vdot_ = VecX<double>::Zero(nv());
    lambda_ = VecX<double>::Zero(model_.row_count());
    bias_ = VecX<double>::Zero(6 * port_count());
    for (const std::string& column : recorder_.columns()) {
      const bool own = column != "t" && !column.starts_with("energy.") && !column.starts_with("error.");
      recorded_.push_back(own);
      if (own) columns_.push_back(column);
    }
  }

  bool set_input(const std::string& name, std::optional<double> value) override {
    const auto found = std::ranges::find(model_.inputs, name, &Input::name);
    if (found == model_.inputs.end()) return false;
    const auto k = static_cast<int>(found - model_.inputs.begin());
    if (value)
      equations_->system().set_input(k, *value);
    else
      equations_->system().release_input(k);
    return true;
  }

  int port_count() const override { return static_cast<int>(schur_->ports().size()); }
  /// q, v, states of the user's own, work.
  int state_size() const override { return nq() + nv() + nz() + 1; }
  int controlled_size() const override { return nq() + nv() + nz(); }

  void start(VecX<double>& x) override {
    x = VecX<double>::Zero(state_size());
    AssemblyReport report;
    const State own = start_values_.empty() ? assemble(model_, report) : given_start();
    x << own.q, own.v, VecX<double>::Zero(nz()), 0.0;
    for (int k = 0; k < nz(); ++k) x[nq() + nv() + k] = model_.states[static_cast<std::size_t>(k)].start;
  }

  Status kinematics(double t, const VecX<double>& x, std::span<PortMotion> ports) override {
    state_.t = t;
    state_.q = x.head(nq());
    state_.v = x.segment(nq(), nv());
    state_.z = x.segment(nq() + nv(), nz());
    state_.work = x[nq() + nv() + nz()];
    System& system = equations_->system();
    system.update(state_);
    twists_.resize(ports.size());
    for (std::size_t p = 0; p < ports.size(); ++p) {
      const NodeFrame& port = schur_->ports()[p];
      const Pose<double>& X_WN = system.X_WN(port.node);
      const NodeWork<double>& node = system.work()[port.node];
      const V3& r = port.X_NF.p;
      ports[p] = {X_WN.R * port.X_NF.R, X_WN * r, X_WN.R * node.w, X_WN.R * (node.v + node.w.cross(r))};
      twists_[p] = {ports[p].w, ports[p].v};
    }
    return {};
  }

  Status response(Level level, PortResponse& response) override {
    System& system = equations_->system();
    if (level == Level::kAcceleration) {
      system.update_forces();
      stabilization_->adjust(system.terms());
    }
    if (Status status = schur_->respond(system, level); !status.ok()) return status;
    schur_->loops().open_response(response.D, response.R);
    if (level == Level::kAcceleration) {
      bias_accelerations(system);
      response.R += bias_;
    }
    for (int p = 0; p < port_count(); ++p) {
      const auto [turning, sliding] = schur_->loops().open_scale(p, schur_->ports()[static_cast<std::size_t>(p)].X_NF.p.norm());
      response.scale.segment<3>(6 * p).setConstant(turning);
      response.scale.segment<3>(6 * p + 3).setConstant(sliding);
    }
    return {};
  }

  Status advance(Level level, const VecX<double>& Q, VecX<double>& out) override {
    System& system = equations_->system();
    schur_->Q = Q;
    schur_->finish(system, vdot_, lambda_);
    if (level == Level::kAcceleration) {
      if (switched_->load_count() > 0) switched_->find(lambda_, own_dependent());
      return rates(vdot_, lambda_, Q, out);
    }
    if (level == Level::kPosition) {
      vdot_ = -vdot_;
      displace(vdot_, out);
    } else {
      out.segment(nq(), nv()) -= vdot_;
    }
    return {};
  }

  void accept_step(Remarks& remarks) override {
    equations_->system().accept_turns();
    limits_.look(equations_->system(), remarks);
  }

  ModuleErrors errors() const override {
    const ConstraintTerms& terms = equations_->system().terms();
    const auto largest = [](const VecX<double>& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; };
    return {largest(terms.phi), largest(terms.rate), largest(state_.v)};
  }

  void normalize(VecX<double>& x) const override { normalize_quaternions(model_.tree, x.data()); }

  const std::vector<std::string>& columns() const override { return columns_; }

  Status record(const VecX<double>& Q, std::span<double> row) override {
    schur_->Q = Q;
    if (Status status = equations_->evaluate(state_, recorded_rates_); !status.ok()) return status;
    outside_.clear();
    for (std::size_t p = 0; p < schur_->ports().size(); ++p) {
      const auto first = static_cast<Eigen::Index>(6 * p);
      outside_.push_back({schur_->ports()[p], Q.segment<3>(first), Q.segment<3>(first + 3)});
    }
    recorder_.record(*equations_, state_.t, all_, outside_);
    std::size_t at = 0;
    for (std::size_t c = 0; c < all_.size(); ++c)
      if (recorded_[c]) row[at++] = all_[c];
    return {};
  }

  ModuleEnergy energy() const override {
    const System& system = equations_->system();
    return {system.kinetic_energy(), system.potential_energy(), state_.work};
  }

  int dof() const override { return nv() - rank(); }
  int rank() const override { return schur_->loops().rank().rank; }
  std::vector<std::string> redundant() const override {
    const std::vector<char>& dependent = schur_->loops().dependent();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < model_.rows.size(); ++i)
      if (dependent[i] && equations_->system().is_active(static_cast<int>(i))) names.push_back(model_.rows[i].name);
    return names;
  }

  std::vector<double> memory() const override { return equations_->system().memory(); }
  void set_memory(const std::vector<double>& memory) override { equations_->system().set_memory(memory); }

  SwitchedPart* switched() override { return switched_.get(); }
  ModuleEquations* equations() override { return this; }

 private:
  std::vector<char> own_dependent() const {
    const std::vector<char>& all = schur_->loops().dependent();
    return {all.begin(), all.begin() + model_.row_count()};
  }
  int nq() const { return model_.tree.nq; }
  int nv() const { return model_.tree.nv; }
  int nz() const { return static_cast<int>(model_.states.size()); }

  std::vector<NodeFrame> port_frames(const std::vector<FrameSpec>& ports) const {
    std::vector<NodeFrame> frames;
    for (const FrameSpec& port : ports) {
      const auto body = std::ranges::find(model_.bodies, port.body, &Body::name);
      frames.push_back({body->node, body->X_NB * Pose<double>{port.rotation.toRotationMatrix(), port.at},
                        static_cast<int>(body - model_.bodies.begin())});
    }
    return frames;
  }

  State given_start() const {
    State state;
    state.q = Eigen::Map<const VecX<double>>(model_.start_q.data(), nq());
    state.v = Eigen::Map<const VecX<double>>(model_.start_v.data(), nv());
    std::size_t at = 0;
    for (const Joint& joint : model_.joints) {
      for (std::size_t k = 0; k < joint.q.size(); ++k) state.q[joint.q[k]] = start_values_[at + k];
      at += joint.kind->positions.size();
      for (std::size_t k = 0; k < joint.v.size(); ++k) state.v[joint.v[k]] = start_values_[at + k];
      at += joint.kind->velocities.size();
    }
    return state;
  }

  /// Of the ports at vdot = 0. The recursions let the ground fall upwards instead of everything else downwards.
  void bias_accelerations(const System& system) {
    for (int p = 0; p < port_count(); ++p) {
      const NodeFrame& port = schur_->ports()[static_cast<std::size_t>(p)];
      const Mat3<double>& R = system.X_WN(port.node).R;
      const NodeWork<double>& node = system.work()[port.node];
      const V3& r = port.X_NF.p;
      bias_.segment<3>(6 * p) = R * node.aw;
      bias_.segment<3>(6 * p + 3) = R * (node.ap + node.aw.cross(r) + node.w.cross(node.w.cross(r))) + model_.tree.gravity;
    }
  }

  // ModuleEquations
  int velocity_count() const override { return nv(); }
  int row_count() const override { return model_.row_count(); }

  void show() override {
    System& system = equations_->system();
    system.update_forces();
    stabilization_->adjust(system.terms());
    M = system.mass_matrix();
    force = system.work().tau - system.bias();
    A = system.jacobian();
    A_bounds = system.jacobian_bounds();
    const ConstraintTerms& terms = system.terms();
    phi = terms.phi, rate = terms.rate, u = terms.u, b = terms.b;
    v = state_.v;
    J.setZero(6 * port_count(), nv());
    schur_->set_columns(system);
    for (int p = 0; p < port_count(); ++p)
      schur_->columns()[static_cast<std::size_t>(p)].add_rows_to(model_.tree, system.work(), 6 * p, J);
    bias_accelerations(system);
    Jdot_v = bias_;
  }

  int first_velocity() const override { return nq(); }
  void displace(const VecX<double>& change, VecX<double>& x) const override {
    linkwork::displace(model_.tree, x.data(), change.data());
  }

  Status rates(const VecX<double>& vdot, const VecX<double>& lambda, const VecX<double>& Q, VecX<double>& xdot) override {
    const System& system = equations_->system();
    xdot.resize(state_size());
    position_rates(model_.tree, state_.q.data(), state_.v.data(), xdot.data());
    xdot.segment(nq(), nv()) = vdot;
    double power = system.applied_power() + lambda.dot(system.terms().u);
    for (std::size_t p = 0; p < twists_.size(); ++p) {
      const auto at = static_cast<Eigen::Index>(6 * p);
      power += Q.segment<3>(at).dot(twists_[p].w) + Q.segment<3>(at + 3).dot(twists_[p].v);
    }
    system.state_rates({xdot.data() + nq() + nv(), model_.states.size()});
    xdot[nq() + nv() + nz()] = power;
    return {};
  }

  Model model_;
  std::vector<double> start_values_;
  PortedSchur* schur_ = nullptr;
  std::unique_ptr<EquationsOfMotion> equations_;
  std::unique_ptr<Stabilization> stabilization_;
  std::unique_ptr<SwitchedPart> switched_;
  State state_;
  std::vector<Twist<double>> twists_;
  VecX<double> vdot_, lambda_, bias_;
  Derivative recorded_rates_;
  Recorder recorder_;
  LimitWatch limits_;
  std::vector<double> all_;  // a row with all columns
  std::vector<OutsideWrench> outside_;
  std::vector<char> recorded_;  // by column of the recorder
  std::vector<std::string> columns_;
};

}  // namespace

std::unique_ptr<Module> make_model_module(Model model, const std::vector<FrameSpec>& ports, std::vector<double> start_values) {
  return std::make_unique<ModelModule>(std::move(model), ports, std::move(start_values));
}

std::vector<double> joint_values(const Model& model, const VecX<double>& q, const VecX<double>& v) {
  System system(model);
  const State state{0.0, q, v, 0.0, {}};
  system.update(state);
  std::vector<double> values;
  for (const Joint& joint : model.joints) {
    std::array<double, 7> positions{};
    std::array<double, 6> velocities{}, accelerations{};
    system.joint_motion(joint, {}, positions, velocities, accelerations);
    values.insert(values.end(), positions.begin(), positions.begin() + joint.kind->nq());
    values.insert(values.end(), velocities.begin(), velocities.begin() + joint.kind->nv());
  }
  return values;
}

}  // namespace linkwork
