#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>

#include "linkwork/linalg/coordinate_partition.h"
#include "linkwork/linalg/index.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/modules/module_equations.h"

namespace linkwork {

namespace {

/// Method B of [Khan2006], section 5.3, for any number of modules with loops of their own. Independent velocities are chosen for
/// the whole (formulations/projection.cpp has the equations); every module brings
///   S_i' M_i S_i  and  S_i' (force_i - M_i gamma_i),
/// which are added up in the order of the modules, and all get the independent accelerations. With sigma > 0 dependent velocities
/// are taken from the constraints as well, as in the paper; else drift is left to the drift control. For S every module must know
/// the Jacobian of the whole: this is what makes the method expensive, and what a module has to show. The reduced equations are
/// solved by every rank for itself, or once by a master that tells the others.
class ProjectionGlue : public Glue {
 public:
  ProjectionGlue(Workshop& workshop, double sigma, bool by_master)
      : Glue(workshop),
        hierarchy_(workshop),
        drift_(drift_control(workshop.plan().settings)),
        sigma_(sigma),
        by_master_(by_master) {
    lay_out();
    partition_.emplace(n_, m_);
    A_ = bounds_ = MatX<double>::Zero(m_, n_);
    phi_ = rate_ = b_ = x_d_ = lambda_ = VecX<double>::Zero(m_);
    v_ = vdot_ = weights_ = residual_ = VecX<double>::Zero(n_);
  }

  Status evaluate(double t, States& x, States& rates) override {
    if (Status status = look(t, x); !status.ok()) return status;
    partition_->update(A_, bounds_, weights_);
    const int r = partition_->rank().rank;
    if (r > 0 && sigma_ > 0.0) {
      for (int k = 0; k < r; ++k) x_d_[k] = rate_[row(k)] + sigma_ * phi_[row(k)];
      partition_->solve(x_d_);
      for (int k = 0; k < r; ++k) v_[column(k)] -= x_d_[k];
      for (std::size_t i = 0; i < workshop_.modules().size(); ++i) {
        const Part& part = parts_[at(workshop_.modules()[i].index)];
        const int first = workshop_.modules()[i].module->equations()->first_velocity();
        x[i].segment(first, part.nv) = v_.segment(part.v, part.nv);
      }
      if (Status status = look(t, x); !status.ok()) return status;
    }
    if (!accelerate()) return {"glue 'projection' needs inertia for every motion that the constraints leave"};
    find_forces();
    for (std::size_t i = 0; i < workshop_.modules().size(); ++i) {
      WorkingModule& module = workshop_.modules()[i];
      const Part& part = parts_[at(module.index)];
      own_lambda_ = lambda_.segment(part.row, part.rows);
      own_vdot_ = vdot_.segment(part.v, part.nv);
      if (Status status = module.module->equations()->rates(own_vdot_, own_lambda_, module.Q, rates[i]); !status.ok())
        workshop_.report(module, status.trouble);
    }
    return {};
  }

  Status project(double t, States& x, bool closely) override {
    if (!drift_.positions && !drift_.velocities) return {};
    return project_onto_constraints(workshop_, hierarchy_, drift_, t, x, closely);
  }

  double weakest() const override { return partition_->rank().weakest; }
  int total_rank() const override { return partition_->rank().rank; }

  /// Dependent rows are dropped wherever they are: what modules count as their own rank is part of it.
  int connection_rank() override {
    double inner = 0.0;
    std::vector<double> ranks(workshop_.plan().modules.size(), 0.0);
    const int first = workshop_.placement().begin(workshop_.rank());
    workshop_.ask_response(Level::kAcceleration);
    for (std::size_t i = 0; i < workshop_.modules().size(); ++i)
      ranks[static_cast<std::size_t>(first) + i] = workshop_.modules()[i].module->rank();
    workshop_.transport().gather(ranks, workshop_.placement().ends);
    for (const double rank : ranks) inner += rank;
    return partition_->rank().rank - static_cast<int>(inner);
  }

  int numbers_exposed() const override { return size_ - workshop_.transport().size(); }  // one a rank tells of trouble

 private:
  /// Where a module's numbers are in those of the whole, and in the message.
  struct Part {
    int v = 0, nv = 0;
    int row = 0, rows = 0;
    int ports = 0;
    int block = 0;
  };

  /// Sizes are known to the rank that has the module only; all get them.
  void lay_out() {
    const AssemblyPlan& plan = workshop_.plan();
    const std::vector<int> leaves = workshop_.leaves();
    std::vector<double> sizes(2 * leaves.size(), 0.0);
    std::vector<int> ends;
    for (const int end : workshop_.placement().ends) ends.push_back(2 * end);
    for (WorkingModule& module : workshop_.modules()) {
      const ModuleEquations& equations = *module.module->equations();
      const auto leaf = static_cast<std::size_t>(workshop_.leaf_of(module.index));
      sizes[2 * leaf] = equations.velocity_count();
      sizes[2 * leaf + 1] = equations.row_count();
    }
    workshop_.transport().gather(sizes, ends);
    parts_.resize(plan.modules.size());
    int block = 0, leaf = 0;
    for (int rank = 0; rank < workshop_.transport().size(); ++rank) {
      block += 1;  // trouble
      for (; leaf < workshop_.placement().end(rank); ++leaf) {
        const int module = leaves[at(leaf)];
        Part& part = parts_[at(module)];
        part = {n_,
                static_cast<int>(sizes[2 * at(leaf)]),
                m_,
                static_cast<int>(sizes[2 * at(leaf) + 1]),
                plan.modules[at(module)].port_count,
                block};
        n_ += part.nv;
        m_ += part.rows;
        block += 2 * part.rows * part.nv + 3 * part.rows + 2 * part.nv + part.ports * (6 * part.nv + 6 + 18);
      }
      ends_.push_back(block);
      v_ends_.push_back(n_);
    }
    size_ = block;
    message_.assign(at(block), 0.0);
    for (const Connection& connection : plan.connections) {
      connection_row_.push_back(m_);
      m_ += connection.row_count();
    }
  }

  int row(int k) const { return partition_->rows()[at(k)]; }
  int column(int k) const { return partition_->columns()[at(k)]; }

  /// Asks the modules for their equations, and puts the constraints of the whole together.
  Status look(double t, const States& x) {
    workshop_.ask_kinematics(t, x);
    for (WorkingModule& module : workshop_.modules()) {
      if (Status status = module.module->equations()->show(); !status.ok()) workshop_.report(module, status.trouble);
      pack(module);
    }
    const int rank = workshop_.rank();
    message_[rank == 0 ? 0 : at(ends_[at(rank - 1)])] = workshop_.trouble().empty() ? 0.0 : 1.0;
    workshop_.transport().gather(message_, ends_);
    bool trouble = false;
    for (std::size_t r = 0; r < ends_.size(); ++r) trouble = trouble || message_[r == 0 ? 0 : at(ends_[r - 1])] != 0.0;
    if (trouble) {
      Status status{workshop_.everyones_trouble()};
      workshop_.clear_trouble();
      return status;
    }
    errors_ = {};
    A_.setZero();
    bounds_.setZero();
    for (const Part& part : parts_) unpack(part);
    const AssemblyPlan& plan = workshop_.plan();
    for (std::size_t c = 0; c < plan.connections.size(); ++c) add_connection(plan.connections[c], connection_row_[c]);
    errors_.joint_position = joint_error(phi_);
    errors_.joint_velocity = joint_error(rate_);
    errors_.position = m_ > 0 ? phi_.cwiseAbs().maxCoeff() : 0.0;
    errors_.velocity = m_ > 0 ? rate_.cwiseAbs().maxCoeff() : 0.0;
    errors_.speed = std::max(1.0, n_ > 0 ? v_.cwiseAbs().maxCoeff() : 0.0);
    return {};
  }

  double joint_error(const VecX<double>& error) const {
    const int first = connection_row_.empty() ? m_ : connection_row_.front();
    return m_ > first ? error.tail(m_ - first).cwiseAbs().maxCoeff() : 0.0;
  }

  void pack(const WorkingModule& module) {
    const ModuleEquations& e = *module.module->equations();
    double* to = &message_[at(parts_[at(module.index)].block)];
    const auto put = [&](const auto& block) {
      for (Eigen::Index j = 0; j < block.cols(); ++j)
        for (Eigen::Index i = 0; i < block.rows(); ++i) *to++ = block(i, j);
    };
    put(e.A), put(e.A_bounds), put(e.phi), put(e.rate), put(e.b), put(e.v);
    put(VecX<double>(e.M.diagonal()));
    put(e.J), put(e.Jdot_v);
    for (const PortMotion& motion : module.motion) put(motion.R), put(motion.p), put(motion.w), put(motion.v);
  }

  void unpack(const Part& part) {
    const double* from = &message_[at(part.block)];
    const auto get = [&](auto&& block) {
      for (Eigen::Index j = 0; j < block.cols(); ++j)
        for (Eigen::Index i = 0; i < block.rows(); ++i) block(i, j) = *from++;
    };
    get(A_.block(part.row, part.v, part.rows, part.nv));
    get(bounds_.block(part.row, part.v, part.rows, part.nv));
    get(phi_.segment(part.row, part.rows)), get(rate_.segment(part.row, part.rows)), get(b_.segment(part.row, part.rows));
    get(v_.segment(part.v, part.nv));
    for (int j = 0; j < part.nv; ++j, ++from) weights_[part.v + j] = *from > 0.0 ? 1.0 / *from : 1.0;
    PortTerms& ports = ports_of(part);
    get(ports.J), get(ports.Jdot_v);
    for (PortMotion& motion : ports.motion) get(motion.R), get(motion.p), get(motion.w), get(motion.v);
  }

  struct PortTerms {
    MatX<double> J;
    VecX<double> Jdot_v;
    std::vector<PortMotion> motion;
  };
  PortTerms& ports_of(const Part& part) {
    port_terms_.resize(parts_.size());
    PortTerms& terms = port_terms_[static_cast<std::size_t>(&part - parts_.data())];
    terms.J.resize(6 * part.ports, part.nv);
    terms.Jdot_v.resize(6 * part.ports);
    terms.motion.resize(at(part.ports));
    return terms;
  }

  void evaluate_rows(const Connection& connection) {
    const auto motion = [&](const PortRef& port, const Pose<double>& ground) {
      return port.is_ground() ? resting(ground) : port_terms_[at(port.module)].motion[at(port.port)];
    };
    const auto bias = [&](const PortRef& port) {
      return port.is_ground() ? nullptr : &port_terms_[at(port.module)].Jdot_v[6 * port.port];
    };
    linkwork::evaluate(connection, motion(connection.a, connection.ground_a), motion(connection.b, connection.ground_b),
                       bias(connection.a), bias(connection.b), rows_);
  }

  void add_connection(const Connection& connection, int first) {
    evaluate_rows(connection);
    for (int r = 0; r < connection.row_count(); ++r) {
      phi_[first + r] = rows_.phi[at(r)];
      rate_[first + r] = rows_.rate[at(r)];
      b_[first + r] = -rows_.second_rate[at(r)] - drift_.on_rate * rows_.rate[at(r)] - drift_.on_phi * rows_.phi[at(r)];
      add_row(first + r, connection.a, rows_.on_a[at(r)]);
      add_row(first + r, connection.b, rows_.on_b[at(r)]);
    }
  }

  void add_row(int row, const PortRef& port, const Eigen::Matrix<double, 6, 1>& wrench) {
    if (port.is_ground()) return;
    const Part& part = parts_[at(port.module)];
    const MatX<double>& J = port_terms_[at(port.module)].J;
    A_.row(row).segment(part.v, part.nv) += wrench.transpose() * J.middleRows<6>(6 * port.port);
    const double moment = wrench.head<3>().norm(), force = wrench.tail<3>().norm();
    for (int j = 0; j < part.nv; ++j)
      bounds_(row, part.v + j) +=
          moment * J.col(j).segment<3>(6 * port.port).norm() + force * J.col(j).segment<3>(6 * port.port + 3).norm();
  }

  /// Independent accelerations from the modules' shares. False if a motion has no inertia.
  bool accelerate() {
    const MatX<double>& S = partition_->S();
    const int r = partition_->rank().rank, free = partition_->free();
    for (int k = 0; k < r; ++k) x_d_[k] = b_[row(k)] - sigma_ * rate_[row(k)];
    partition_->solve(x_d_);
    vdot_.setZero();
    for (int k = 0; k < r; ++k) vdot_[column(k)] = x_d_[k];  // gamma
    add_spring_forces();
    const int share = free * free + free;
    const auto modules = static_cast<int>(parts_.size());
    shares_.assign(at(share * modules), 0.0);
    std::vector<int> ends;
    for (const int end : workshop_.placement().ends) ends.push_back(share * end);
    for (WorkingModule& module : workshop_.modules()) {
      const Part& part = parts_[at(module.index)];
      const ModuleEquations& e = *module.module->equations();
      Eigen::Map<MatX<double>> SMS(shares_.data() + share * workshop_.leaf_of(module.index), free, free);
      Eigen::Map<VecX<double>> Sf(SMS.data() + free * free, free);
      const auto S_i = S.middleRows(part.v, part.nv);
      SMS = S_i.transpose() * e.M * S_i;
      own_vdot_ = e.force + e.J.transpose() * module.Q - e.M * vdot_.segment(part.v, part.nv);
      Sf = S_i.transpose() * own_vdot_;
    }
    workshop_.transport().gather(shares_, ends);
    if (!solve_reduced(modules, free)) return false;
    if (free > 0) vdot_ += S * rhs_;
    return true;
  }

  /// rhs_ = (sum of S_i' M_i S_i)^-1 (sum of S_i' (force_i - M_i gamma_i)).
  bool solve_reduced(int modules, int free) {
    bool solved = true;
    if (!by_master_ || workshop_.rank() == 0) {
      sum_.setZero(free, free);
      rhs_.setZero(free);
      for (int leaf = 0; leaf < modules; ++leaf) {
        const double* const from = shares_.data() + (free * free + free) * leaf;
        sum_ += Eigen::Map<const MatX<double>>(from, free, free);
        rhs_ += Eigen::Map<const VecX<double>>(from + free * free, free);
      }
      reduced_.compute(sum_);
      solved = reduced_.info() == Eigen::Success;
      if (free > 0 && solved) reduced_.solveInPlace(rhs_);
    }
    if (!by_master_) return solved;
    told_.assign(at(free + 1), solved ? 1.0 : 0.0);
    if (workshop_.rank() == 0) Eigen::Map<VecX<double>>(told_.data(), free) = rhs_;
    workshop_.transport().broadcast(told_, 0);
    rhs_ = Eigen::Map<const VecX<double>>(told_.data(), free);
    return told_.back() > 0.0;
  }

  /// Known forces on the ports; those of the joints are added when they are found.
  void add_spring_forces() {
    for (WorkingModule& module : workshop_.modules()) module.Q.setZero();
    const auto motion = [&](const PortRef& port, const Pose<double>& ground) {
      return port.is_ground() ? resting(ground) : port_terms_[at(port.module)].motion[at(port.port)];
    };
    for (std::size_t s = 0; s < spring_potentials_.size(); ++s) {
      const SpringLink& spring = workshop_.plan().springs[s];
      const SpringForces forces = spring_forces(spring, motion(spring.a, spring.ground_a), motion(spring.b, spring.ground_b));
      push(spring.a, forces.on_a);
      push(spring.b, forces.on_b);
      spring_potentials_[s] = forces.potential;
    }
  }

  void push(const PortRef& port, const Eigen::Matrix<double, 6, 1>& wrench) {
    if (!port.is_ground() && workshop_.has(port.module)) workshop_.module(port.module).Q.segment<6>(6 * port.port) += wrench;
  }

  /// A_d' lambda = (M vdot - force)_d, and the joints' forces on the ports.
  void find_forces() {
    for (WorkingModule& module : workshop_.modules()) {
      const Part& part = parts_[at(module.index)];
      const ModuleEquations& e = *module.module->equations();
      residual_.segment(part.v, part.nv) = e.M * vdot_.segment(part.v, part.nv) - e.force - e.J.transpose() * module.Q;
    }
    workshop_.transport().gather({residual_.data(), static_cast<std::size_t>(n_)}, v_ends_);
    const int r = partition_->rank().rank;
    for (int k = 0; k < r; ++k) x_d_[k] = residual_[column(k)];
    partition_->solve_transposed(x_d_);
    lambda_.setZero();
    for (int k = 0; k < r; ++k) lambda_[row(k)] = x_d_[k];
    const AssemblyPlan& plan = workshop_.plan();
    for (std::size_t c = 0; c < plan.connections.size(); ++c) {
      const Connection& connection = plan.connections[c];
      const int first = connection_row_[c];
      evaluate_rows(connection);
      for (int k = 0; k < connection.row_count(); ++k) {
        results_[c].lambda[at(k)] = lambda_[first + k];
        results_[c].dependent[at(k)] = partition_->dependent_rows()[at(first + k)];
        push(connection.a, lambda_[first + k] * rows_.on_a[at(k)]);
        push(connection.b, lambda_[first + k] * rows_.on_b[at(k)]);
      }
      set_reaction(rows_, connection.row_count(), results_[c]);
    }
  }

  Hierarchy hierarchy_;  // for drift control
  DriftControl drift_;
  double sigma_;
  bool by_master_;
  int n_ = 0, m_ = 0, size_ = 0;
  std::vector<Part> parts_;  // by module
  std::vector<PortTerms> port_terms_;
  std::vector<int> connection_row_;
  std::vector<double> message_, shares_, told_;
  std::vector<int> ends_, v_ends_;
  std::optional<CoordinatePartition> partition_;
  MatX<double> A_, bounds_, sum_;
  VecX<double> phi_, rate_, b_, v_, vdot_, weights_, x_d_, lambda_, residual_, rhs_, own_lambda_, own_vdot_;
  ConnectionRows rows_;
  Eigen::LLT<MatX<double>> reduced_;
};

}  // namespace

GlueEntry projection_glue() {
  return {{"projection",
           "independent velocities chosen for the whole; modules bring their shares of the reduced equations",
           "Khan2006",
           {{"sigma", 0.0,
             "more than 0: dependent velocities follow from the others, and errors decay at this rate, 1/s; must stay below "
             "about 2.5 divided by the step",
             numbers_from(0.0)},
            {"master", 0.0, "1: the first rank solves the reduced equations for all, 0: every rank does; the motion is the same",
             kYesOrNo}}},
          [](Workshop& workshop, const Options& options) {
            return std::make_unique<ProjectionGlue>(workshop, options.at("sigma"), options.at("master") != 0.0);
          },
          {.needs_equations = true,
           .solves_modules = true,
           .exposes = "its equations of motion: mass matrix, forces, Jacobians, velocities"}};
}

}  // namespace linkwork
