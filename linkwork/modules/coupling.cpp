#include "linkwork/modules/coupling.h"

#include <Eigen/Geometry>
#include <algorithm>

#include "linkwork/linalg/index.h"
#include "linkwork/modules/states_module.h"
#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

namespace {

using V3 = Vec3<double>;

/// Whether a column "group.name" or "group.name.component" is about one of the names.
bool is_about(const std::string& column, const std::vector<std::string>& names) {
  const std::size_t dot = column.find('.');
  if (dot == std::string::npos) return false;
  const std::string_view rest = std::string_view(column).substr(dot + 1);
  return std::ranges::any_of(names, [&](const std::string& name) {
    return rest.starts_with(name) && (rest.size() == name.size() || rest[name.size()] == '.');
  });
}

}  // namespace

/// Accelerations and multipliers that were found elsewhere: for the output.
class Coupling::Imposed : public Formulation {
 public:
  explicit Imposed(const Model& model) : vdot(VecX<double>::Zero(model.tree.nv)), lambda(VecX<double>::Zero(model.row_count())) {}

  Status solve(System&, Solution& solution) override {
    solution.vdot = vdot;
    solution.lambda = lambda;
    return {};
  }

  VecX<double> vdot, lambda;
};

Coupling::Coupling(const CouplingPlan& plan) : plan_(plan), model_(build_model(*plan.spec)), recorder_(model_) {
  for (const std::string& name : plan.bodies) nodes_.push_back(std::ranges::find(model_.bodies, name, &Body::name)->node);
  auto formulation = std::make_unique<Imposed>(model_);
  imposed_ = formulation.get();
  const auto make_stabilization = [&] {
    return make_chosen(stabilizations(), model_.settings.stabilization, "stabilization", model_);
  };
  equations_ = std::make_unique<EquationsOfMotion>(model_, std::move(formulation), make_stabilization());
  stabilization_ = make_stabilization();
  std::vector<int> others;
  for (int r = 0; r < model_.row_count(); ++r) {
    const bool own = std::ranges::find(plan.read_only, model_.rows[at(r)].closure) == plan.read_only.end();
    (own ? rows_ : others).push_back(r);
  }
  switched_ = std::make_unique<SwitchedPart>(model_, *equations_, std::move(others));
  state_.q = VecX<double>::Zero(model_.tree.nq);
  state_.v = VecX<double>::Zero(model_.tree.nv);
  equations_->start(state_);
  forces_ = VecX<double>::Zero(6 * std::ssize(plan.ports));
  G_ = MatX<double>::Zero(row_count(), forces_.size());
  dependent_.assign(rows_.size(), 0);
  for (std::size_t c = 0; c < recorder_.columns().size(); ++c) {
    if (!is_about(recorder_.columns()[c], plan.own)) continue;
    recorded_.push_back(c);
    columns_.push_back(recorder_.columns()[c]);
  }
}

void Coupling::update(double t, std::span<const PortMotion> ports) {
  state_.t = t;
  for (std::size_t p = 0; p < nodes_.size(); ++p) {
    const Node& node = model_.tree.nodes[at(nodes_[p])];
    const Eigen::Quaterniond turn(ports[p].R);
    state_.q.segment<7>(node.q) << ports[p].p, turn.w(), turn.x(), turn.y(), turn.z();
    state_.v.segment<6>(node.v) << ports[p].v, ports[p].R.transpose() * ports[p].w;
  }
  const auto first = static_cast<Eigen::Index>(nodes_.size());
  for (Eigen::Index k = 0; k < state_.z.size(); ++k) {
    const PortMotion& port = ports[static_cast<std::size_t>(first + k / kStatesPerPort)];
    const Eigen::Index at = k % kStatesPerPort;
    state_.z[k] = at < 3 ? port.w[at] : port.v[at - 3];
  }
  system().update(state_);
}

const VecX<double>& Coupling::forces() {
  System& its = system();
  its.update_forces();
  for (std::size_t p = 0; p < nodes_.size(); ++p) {
    const Mat3<double>& R = its.X_WN(nodes_[p]).R;
    const int v = model_.tree.nodes[at(nodes_[p])].v;
    const Wrench<double>& applied = its.work().applied[at(nodes_[p])];
    const auto first = static_cast<Eigen::Index>(6 * p);
    forces_.segment<3>(first) = R * (applied.n + its.work().tau.segment<3>(v + 3));
    forces_.segment<3>(first + 3) = R * applied.f + its.work().tau.segment<3>(v);
  }
  its.state_rates({forces_.data() + 6 * nodes_.size(), model_.states.size()});
  return forces_;
}

void Coupling::evaluate_rows(Level level) {
  if (rows_.empty()) return;
  if (level == Level::kAcceleration) stabilization_->adjust(system().terms());
  const MatX<double>& A = system().jacobian();
  for (int r = 0; r < row_count(); ++r) {
    const bool counts = is_active(r) && (level != Level::kPosition || model_.rows[at(model_row(r))].holonomic);
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      const int v = model_.tree.nodes[at(nodes_[p])].v;
      const auto first = static_cast<Eigen::Index>(6 * p);
      if (counts) {
        G_.row(r).segment<3>(first) = system().X_WN(nodes_[p]).R * A.row(model_row(r)).segment<3>(v + 3).transpose();
        G_.row(r).segment<3>(first + 3) = A.row(model_row(r)).segment<3>(v);
      } else {
        G_.row(r).segment<6>(first).setZero();
      }
    }
  }
}

void Coupling::set_result(const Eigen::Ref<const VecX<double>>& lambda, std::span<const char> dependent) {
  for (int r = 0; r < row_count(); ++r) {
    imposed_->lambda[model_row(r)] = lambda[r];
    dependent_[at(r)] = is_active(r) ? dependent[at(r)] : 0;
  }
  if (switched_->load_count() == 0) return;
  std::vector<char> all(model_.rows.size(), 0);
  for (int r = 0; r < row_count(); ++r) all[at(model_row(r))] = dependent_[at(r)];
  switched_->find(imposed_->lambda, all);
}

Status Coupling::record(const VecX<double>& xdd, std::span<double> row) {
  for (std::size_t p = 0; p < nodes_.size(); ++p) {
    const int v = model_.tree.nodes[at(nodes_[p])].v;
    const auto first = static_cast<Eigen::Index>(6 * p);
    imposed_->vdot.segment<3>(v) = xdd.segment<3>(first + 3);
    imposed_->vdot.segment<3>(v + 3) = system().X_WN(nodes_[p]).R.transpose() * xdd.segment<3>(first);
  }
  if (Status status = equations_->evaluate(state_, rates_); !status.ok()) return status;
  recorder_.record(*equations_, state_.t, all_);
  for (std::size_t c = 0; c < recorded_.size(); ++c) row[c] = all_[recorded_[c]];
  return {};
}

void Coupling::set_input(const std::string& name, std::optional<double> value) {
  const auto found = std::ranges::find(model_.inputs, name, &Input::name);
  if (found == model_.inputs.end()) return;
  const auto k = static_cast<int>(found - model_.inputs.begin());
  if (value)
    system().set_input(k, *value);
  else
    system().release_input(k);
}

}  // namespace linkwork
