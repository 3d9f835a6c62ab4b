#include "linkwork/modules/model_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "linkwork/coordinates/fully_augmented.h"
#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/model/joint_state.h"
#include "linkwork/modules/coordinate_change.h"
#include "linkwork/modules/module_equations.h"
#include "linkwork/modules/ported_formulation.h"
#include "linkwork/modules/switched_part.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/coordinate_choice.h"
#include "linkwork/simulation/limit_watch.h"
#include "linkwork/simulation/method_choice.h"
#include "linkwork/simulation/recorder.h"
#include "linkwork/stabilizations/catalog.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

using V3 = Vec3<double>;

/// Drift control that acts on b; what moves states is the glue's business.
std::unique_ptr<Stabilization> adjusting(const Model& model) {
  return make_chosen(stabilizations(), model.settings.stabilization, "stabilization", model);
}

/// The model with every body free, if its settings ask for that.
std::unique_ptr<const Model> freed(const Model& model) {
  if (model.settings.coordinates.name != "FA") return nullptr;
  check_no_armature(model);
  return std::make_unique<const Model>(fully_augmented(model));
}

/// What finds the accelerations, if it is not the recursion that also gives the ports' response: another formulation, embedded
/// loops, or what deals with joints that move no inertia by themselves. Null: that recursion.
std::unique_ptr<Formulation> other_formulation(const Model& model, const State& start, bool is_free) {
  const Settings& settings = model.settings;
  if (settings.coordinates.name == "CE" && model.row_count() > 0) return make_embedding(model, all_loops_embedded(model));
  const bool asked = settings.formulation.name != "auto" && settings.formulation.name != "schur";
  const Choice choice = asked ? settings.formulation : Choice{"schur", {}, {}};
  if (!asked && !is_free && model.tree.nv > 0) {
    System system(model);
    system.update(start);
    const std::array takes{Equations::kAcceleration};
    if (choose_formulation(system, takes).usual) return nullptr;
  } else if (model.tree.nv == 0) {
    return nullptr;
  }
  return make_chosen(formulations(), choice, "formulation", model);
}

class ModelModule : public Module, private ModuleEquations {
 public:
  ModelModule(Model model, const std::vector<FrameSpec>& ports, std::vector<double> start_values)
      : given_(std::move(model)),
        free_(freed(given_)),
        model_(free_ ? *free_ : given_),
        solution_(model_),
        recorder_(model_),
        limits_(model_) {
    AssemblyReport report;
    start_ = in_its_coordinates(start_values.empty() ? assemble(given_, report) : given_state(start_values));
    make_equations(port_frames(ports));
    stabilization_ = adjusting(model_);
    equations_->start(start_);
    state_ = start_;
    switched_ = std::make_unique<SwitchedPart>(model_, *equations_);
    if (free_) switched_->set_jump([this](auto values, bool positions, auto& x) { jump_free(values, positions, x); });
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
  /// q, v, states of the user's own and of the formulation, work.
  int state_size() const override { return nq() + nv() + nz() + 1; }
  int controlled_size() const override { return nq() + nv() + static_cast<int>(model_.states.size()); }

  void start(VecX<double>& x) override {
    x.resize(state_size());
    x << start_.q, start_.v, start_.z, 0.0;
  }

  Status kinematics(double t, const VecX<double>& x, std::span<PortMotion> ports) override {
    state_.t = t;
    assign_numbers(x.data(), nq(), state_.q);
    assign_numbers(x.data() + nq(), nv(), state_.v);
    assign_numbers(x.data() + nq() + nv(), nz(), state_.z);
    state_.work = x[nq() + nv() + nz()];
    System& system = equations_->system();
    if (!ported_)
      system.update(state_);
    else if (Status status = ported_->prepare(system, state_); !status.ok())
      return status;
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
      if (ported_) return respond_by_probing(response);
    }
    by_coordinates_ = level != Level::kAcceleration && !by_mass_;
    if (!by_coordinates_)
      if (Status status = schur_->respond(system, level); !status.ok()) return explained(status);
    // What has no mass cannot be measured by it.
    if (level != Level::kAcceleration && system.work().massless_node != 0) by_coordinates_ = true;
    if (by_coordinates_) {
      if (!change_) change_.emplace(model_, model_.units.length);
      change_->respond(system, *schur_, level, response);
      return {};
    }
    schur_->response(response);
    if (level == Level::kAcceleration) {
      bias_accelerations(system);
      response.R += bias_;
    }
    for (int p = 0; p < port_count(); ++p) {
      const auto [turning, sliding] = schur_->loops().open_scale(p, schur_->ports()[static_cast<std::size_t>(p)].X_NF.p.norm());
      response.scale.segment<3>(6 * p).setConstant(turning);
      response.scale.segment<3>(6 * p + 3).setConstant(sliding);
    }
    return level == Level::kAcceleration ? finite(response.R) : Status{};
  }

  Status advance(Level level, const VecX<double>& Q, VecX<double>& out) override {
    System& system = equations_->system();
    assign_numbers(Q, schur_->Q);
    if (level == Level::kAcceleration && ported_) {
      if (Status status = solve_ported(); !status.ok()) return status;
    } else if (level != Level::kAcceleration && by_coordinates_) {
      change_->finish(Q, vdot_);
    } else {
      schur_->finish(system, vdot_, lambda_);
      if (level == Level::kAcceleration) schur_->settle(system, vdot_, lambda_);
    }
    if (level == Level::kAcceleration) {
      if (switched_->load_count() > 0) switched_->find(lambda_, own_dependent());
      const Status status = rates(vdot_, lambda_, Q, out);
      return status.ok() ? finite(out) : status;
    }
    if (level == Level::kPosition) {
      vdot_ = -vdot_;
      displace(vdot_, out);
    } else {
      out.segment(nq(), nv()) -= vdot_;
    }
    return {};
  }

  std::optional<std::pair<double, double>> masses() const override {
    double least = std::numeric_limits<double>::infinity(), largest = 0.0;
    for (const Node& node : model_.tree.nodes)
      if (const double mass = node.inertia.mass; mass > 0.0) least = std::min(least, mass), largest = std::max(largest, mass);
    return std::pair{least, largest};
  }

  void port_accelerations(VecX<double>& xdd) override {
    System& system = equations_->system();
    schur_->set_columns(system);
    schur_->jacobian(system, port_jacobian_);
    bias_accelerations(system);
    xdd.noalias() = port_jacobian_ * vdot_;
    xdd += bias_;
  }

  void accept_step(Remarks& remarks) override {
    equations_->accept_step();
    if (ported_ && !solution_.remark.empty())
      remarks.add(state_.t, "solution of " + model_.name,
                  fmt::format("at t = {:.6g} s in module '{}' {}", state_.t, model_.name, solution_.remark));
    limits_.look(equations_->system(), remarks);
  }

  ModuleErrors errors() const override {
    const ConstraintTerms& terms = equations_->system().terms();
    const auto largest = [](const VecX<double>& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; };
    return {largest(terms.phi), largest(terms.rate), largest(state_.v)};
  }

  bool measure_changes(bool by_mass, double length) override {
    if (by_mass_ != by_mass) change_.reset();
    by_mass_ = by_mass;
    if (!by_mass && !change_) change_.emplace(model_, length);
    return true;
  }

  void settle(VecX<double>& x) const override {
    if (!ported_) return;
    x.head(nq()) = state_.q;
    x.segment(nq(), nv()) = state_.v;
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
  int rank() const override { return found_rank().rank; }
  double weakest() const override { return found_rank().weakest; }
  std::vector<std::string> redundant() const override {
    const std::vector<char> dependent = own_dependent();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < model_.rows.size(); ++i)
      if (dependent[i] && equations_->system().is_active(static_cast<int>(i))) names.push_back(model_.rows[i].name);
    return names;
  }

  std::vector<double> memory() const override { return equations_->system().memory(); }
  void set_memory(const std::vector<double>& memory) override { equations_->system().set_memory(memory); }

  SwitchedPart* switched() override { return switched_.get(); }
  ModuleEquations* equations() override { return this; }

  bool glides() override { return true; }
  void glide(const VecX<double>& from, double h, const Glide& by, VecX<double>& to) override {
    const VecX<double> change = h * from.segment(nq(), nv()) + by.moves.segment(nq(), nv());
    to = from;
    displace(change, to);
    to.segment(nq(), nv()) += by.speeds.segment(nq(), nv());
    to.tail(nz() + 1) += by.rest.tail(nz() + 1);
  }
  std::pair<double, double> largest_accelerations(const VecX<double>& one, const VecX<double>& other) override {
    const auto largest = [&](const VecX<double>& of) { return nv() == 0 ? 0.0 : of.segment(nq(), nv()).cwiseAbs().maxCoeff(); };
    return {largest(one), largest(other)};
  }

 private:
  void make_equations(std::vector<NodeFrame> ports) {
    auto schur = std::make_unique<PortedSchur>(model_, std::move(ports));
    schur_ = schur.get();
    std::unique_ptr<Formulation> formulation = other_formulation(model_, start_, free_ != nullptr);
    if (formulation) {
      only_ports_ = std::move(schur);
      auto ported = std::make_unique<PortedFormulation>(std::move(formulation), *schur_);
      ported_ = ported.get();
      formulation = std::move(ported);
    } else {
      formulation = std::move(schur);
    }
    equations_ = std::make_unique<EquationsOfMotion>(model_, std::move(formulation), adjusting(model_));
  }

  Status respond_by_probing(PortResponse& response) {
    System& system = equations_->system();
    if (Status status = ported_->respond(system, *stabilization_, solution_, response); !status.ok()) return explained(status);
    bias_accelerations(system);
    response.R += bias_;
    return finite(response.R);
  }

  /// What is not a finite number is often what is behind some other trouble: then that is told.
  Status explained(const Status& trouble) {
    const std::string cause = equations_->system().describe_not_finite();
    return cause.empty() ? trouble : Status{fmt::format("at t = {:.9g} s its motion is not finite: {}", state_.t, cause)};
  }
  /// Where no cause is found, those who asked say what they got.
  Status finite(const VecX<double>& result) { return std::isfinite(result.sum()) ? Status{} : explained({}); }

  /// With the forces on the ports.
  Status solve_ported() {
    System& system = equations_->system();
    if (Status status = ported_->solve(system, solution_); !status.ok()) return status;
    stabilization_->correct(system, solution_);
    if (switched_->load_count() > 0 || !system.terms().u.isZero(0.0)) ported_->complete(system, solution_);
    vdot_ = solution_.vdot;
    lambda_ = solution_.lambda;
    return {};
  }

  const Rank& found_rank() const { return ported_ ? solution_.rank : schur_->loops().rank(); }
  std::vector<char> own_dependent() const {
    if (ported_) return solution_.dependent;
    const std::vector<char>& all = schur_->loops().dependent();
    return {all.begin(), all.begin() + model_.row_count()};
  }
  int nq() const { return model_.tree.nq; }
  int nv() const { return model_.tree.nv; }
  int nz() const { return static_cast<int>(start_.z.size()); }

  std::vector<NodeFrame> port_frames(const std::vector<FrameSpec>& ports) const {
    std::vector<NodeFrame> frames;
    for (const FrameSpec& port : ports) {
      const auto body = std::ranges::find(model_.bodies, port.body, &Body::name);
      frames.push_back({body->node, body->X_NB * Pose<double>{port.rotation.toRotationMatrix(), port.at},
                        static_cast<int>(body - model_.bodies.begin())});
    }
    return frames;
  }

  /// Of the model as it was given, from values of its joints.
  State given_state(std::span<const double> joint_values) const {
    State state;
    state.q = Eigen::Map<const VecX<double>>(given_.start_q.data(), given_.tree.nq);
    state.v = Eigen::Map<const VecX<double>>(given_.start_v.data(), given_.tree.nv);
    write_joints(given_, joint_values, state.q.data(), state.v.data());
    return state;
  }

  State in_its_coordinates(State given) const {
    if (!free_) return given;
    System system(given_);
    system.update(given);
    State state{given.t, VecX<double>(nq()), VecX<double>(nv()), given.work, {}};
    free_body_state(given_, system.work(), state.q.data(), state.v.data());
    return state;
  }

  /// Like SwitchedPart::jump(), where every body is free.
  void jump_free(std::span<const double> joint_values, bool positions, VecX<double>& x) const {
    const State after = in_its_coordinates(given_state(joint_values));
    if (positions) x.head(nq()) = after.q;
    x.segment(nq(), nv()) = after.v;
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

  Status show() override {
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
    schur_->set_columns(system);
    schur_->jacobian(system, J);
    bias_accelerations(system);
    Jdot_v = bias_;
    return finite(force);
  }

  int first_velocity() const override { return nq(); }
  void displace(const VecX<double>& change, VecX<double>& x) const override {
    linkwork::displace(model_.tree, x.data(), change.data());
  }

  Status rates(const VecX<double>& vdot, const VecX<double>& lambda, const VecX<double>& Q, VecX<double>& xdot) override {
    const System& system = equations_->system();
    xdot.resize(state_size());
    position_rates(model_.tree, state_.q.data(), state_.v.data(), xdot.data());
    copy_numbers(vdot.data(), nv(), xdot.data() + nq());
    double power = system.applied_power() + lambda.dot(system.terms().u);
    for (std::size_t p = 0; p < twists_.size(); ++p) {
      const auto at = static_cast<Eigen::Index>(6 * p);
      power += Q.segment<3>(at).dot(twists_[p].w) + Q.segment<3>(at + 3).dot(twists_[p].v);
    }
    system.state_rates({xdot.data() + nq() + nv(), model_.states.size()});
    if (ported_) {
      power += solution_.virtual_power;
      xdot.segment(controlled_size(), solution_.zdot.size()) = solution_.zdot;
    }
    xdot[nq() + nv() + nz()] = power;
    return {};
  }

  Model given_;
  std::unique_ptr<const Model> free_;  // with every body free, if it is solved like that
  const Model& model_;                 // the one that is solved
  State start_;
  std::unique_ptr<PortedSchur> only_ports_;  // if something else finds the accelerations,
  PortedFormulation* ported_ = nullptr;      // which is this
  PortedSchur* schur_ = nullptr;
  bool by_mass_ = true;                     // changes of states are measured,
  bool by_coordinates_ = false;             // or were when it was last asked:
  std::optional<CoordinateChange> change_;  // then this does
  Solution solution_;                       // of ported_
  std::unique_ptr<EquationsOfMotion> equations_;
  std::unique_ptr<Stabilization> stabilization_;
  std::unique_ptr<SwitchedPart> switched_;
  State state_;
  std::vector<Twist<double>> twists_;
  VecX<double> vdot_, lambda_, bias_;
  MatX<double> port_jacobian_;
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
