#include <fmt/format.h>
#include <ida/ida.h>
#include <ida/ida_ls.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/motion_residual.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/integrators/sundials.h"
#include "linkwork/linalg/pattern_lu.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// Backward differentiation of variable order on y = (q, v, work, lambda [, mu]),
///   (1)  qdot = N(q) (v + W A' mu)
///   (2)  M vdot + c = tau + A' lambda
///   (3)  index 1: A vdot = b;  index 2: phi = 0 and A v = u;  index 3: phi = 0
/// [Gear1985], W = diag(M)^-1, and mu only in index 2, where it vanishes but for errors. Algebraic variables do not take part in
/// the error test, and their share of the iteration's is scaled by the powers of the step that BDF's errors carry there
/// [Petzold1986].
class Ida : public SundialsIntegrator {
 public:
  explicit Ida(const Model& model) : SundialsIntegrator(model, "ida"), m_(model.row_count()), lambda_(VecX<double>::Zero(m_)) {
    state_.q.resize(nq());
    state_.v.resize(nv());
  }
  ~Ida() override { IDAFree(&solver_); }

  int order() const override { return 5; }
  Status step(DifferentialEquation& stepped, const Moment& from, const VecX<double>& rates, double h, Moment& to) override {
    form_ = stepped.equations_of_motion()->gives();
    const std::vector<char>& dependent = stepped.equations_of_motion()->solution().dependent;
    if (dropped_.size() != dependent.size() || std::ranges::count(dropped_, 1) != std::ranges::count(dependent, 1)) {
      dropped_ = dependent;  // another set of equations
      begin_anew();
    }
    return SundialsIntegrator::step(stepped, from, rates, h, to);
  }

 private:
  bool stabilized() const { return form_ == Equations::kIndex2; }
  int extra() const override { return stabilized() ? 2 * m_ : m_; }
  int first_lambda() const { return state_size(); }
  int first_mu() const { return state_size() + m_; }
  bool dropped(int row) const { return dropped_[static_cast<std::size_t>(row)] != 0; }

  void begin(double t, const VecX<double>& rates) override {
    dropped_ = equations().solution().dependent;
    lambda_ = equations().solution().lambda;
    Eigen::Map<VecX<double>>(N_VGetArrayPointer(y()) + first_lambda(), m_) = lambda_;
    if (!ydot_ || N_VGetLength(ydot_.get()) != size()) ydot_.reset(N_VClone(y()));
    N_VConst(0.0, ydot_.get());
    Eigen::Map<VecX<double>>(N_VGetArrayPointer(ydot_.get()), state_size()) = rates;
    first_step_ = first_step(rates);
    beginning_ = true;
    if (stabilized()) take_correction_space(t, rates.segment(nq(), nv()));
    if (made() && solver_ != nullptr)
      IDAReInit(solver_, t, y(), ydot_.get());
    else
      make_solver(t);
    IDASetInitStep(solver_, first_step_);
  }

  /// What the error test allows a first step of order one, by the curvature of q. The solver's own choice can be so short that
  /// differences drown in rounding.
  double first_step(const VecX<double>& rates) const {
    constexpr double kCautious = 0.1;
    const double* const at = N_VGetArrayPointer(y());
    double sum = 0.0;
    for (const Node& node : model().tree.nodes)
      for (int k = 0; k < velocity_count(node.kind); ++k) {
        const double q = velocity_count(node.kind) == 1 ? at[node.q] : 1.0;
        sum += std::pow(rates[nq() + node.v + k] / (rtol() * std::abs(q) + atol()), 2);
      }
    const double curvature = std::sqrt(sum / std::max(1, nv()));
    return kCautious / std::sqrt(std::max(curvature, 1.0));
  }

  void make_solver(double t) {
    IDAFree(&solver_);
    solver_ = IDACreate(context());
    IDASetErrHandlerFn(solver_, ignore_sundials_error, nullptr);
    IDAInit(solver_, residual, t, y(), ydot_.get());
    IDASetUserData(solver_, static_cast<SundialsIntegrator*>(this));
    IDAWFtolerances(solver_, weights);
    if (max_step() > 0.0) IDASetMaxStep(solver_, max_step());
    id_.reset(N_VClone(y()));
    N_VConst(1.0, id_.get());
    double* const id = N_VGetArrayPointer(id_.get());
    std::fill(id + first_lambda(), id + size(), 0.0);
    IDASetId(solver_, id_.get());
    IDASetSuppressAlg(solver_, SUNTRUE);
    make_linear_solver();
  }

  /// The Jacobian is ours, dense or sparse, but in index 1, where differences take its place.
  void make_linear_solver() {
    const bool ours = form_ != Equations::kIndex1;
    if (ours) make_pattern();
    if (ours && size() >= kSparseFrom) {
      matrix_.reset(SUNSparseMatrix(size(), size(), jacobian_.nonZeros(), CSC_MAT, context()));
      linear_.reset(SUNLinSol_KLU(y(), matrix_.get(), context()));
    } else {
      matrix_.reset(SUNDenseMatrix(size(), size(), context()));
      linear_.reset(SUNLinSol_Dense(y(), matrix_.get(), context()));
    }
    IDASetLinearSolver(solver_, linear_.get(), matrix_.get());
    if (ours) IDASetJacFn(solver_, jacobian);
  }

  void take(double t, const double* y, const double* ydot) {
    state_.t = t;
    state_.q = Eigen::Map<const VecX<double>>(y, nq());
    state_.v = Eigen::Map<const VecX<double>>(y + nq(), nv());
    vdot_ = Eigen::Map<const VecX<double>>(ydot + nq(), nv());
    lambda_ = Eigen::Map<const VecX<double>>(y + first_lambda(), m_);
  }

  static Ida& self_of(void* user_data) { return *static_cast<Ida*>(static_cast<SundialsIntegrator*>(user_data)); }

  static int residual(realtype t, N_Vector y, N_Vector ydot, N_Vector out, void* user_data) {
    Ida& self = self_of(user_data);
    self.evaluate(t, N_VGetArrayPointer(y), N_VGetArrayPointer(ydot), N_VGetArrayPointer(out));
    return self.r_.allFinite() ? 0 : 1;
  }

  void evaluate(double t, const double* y, const double* ydot, double* out) {
    take(t, y, ydot);
    equations().residual(state_, vdot_, lambda_, r_);
    const System& system = equations().system();
    const ConstraintTerms& terms = system.terms();
    moved_ = state_.v;
    if (stabilized())
      for (int c = 0; c < nv(); ++c)
        for (SparseMatrix::InnerIterator along(A0_, c); along; ++along)
          moved_[c] += weights_[c] * along.value() * y[first_mu() + along.row()];
    qdot_.resize(nq());
    position_rates(system.tree(), state_.q.data(), moved_.data(), qdot_.data());
    for (int i = 0; i < nq(); ++i) out[i] = ydot[i] - qdot_[i];  // (1)
    for (int i = 0; i < nv(); ++i) out[nq() + i] = r_[i];        // (2)
    const int work = nq() + nv();
    out[work] = ydot[work] - system.applied_power() - lambda_.dot(terms.u);
    if (form_ == Equations::kIndex1) constraint_accelerations();
    for (int i = 0; i < m_; ++i) {  // (3)
      const double level = form_ == Equations::kIndex1 ? second_rates_[i] - terms.b[i] : terms.phi[i];
      out[first_lambda() + i] = dropped(i) ? lambda_[i] : level;
      if (stabilized()) out[first_mu() + i] = dropped(i) ? y[first_mu() + i] : terms.rate[i];
    }
  }

  /// second_rates_ = A vdot.
  void constraint_accelerations() {
    System& system = equations().system();
    const ConstraintTerms& terms = system.terms();
    if (A_.rows() != m_ || A_.nonZeros() == 0) A_ = constraint_pattern();
    set_zero(A_);
    for (std::size_t g = 0; g < terms.groups.size(); ++g)
      terms.groups[g].add_rows_to(system.tree(), system.work(), terms.first_rows[g], A_);
    second_rates_ = VecX<double>::Zero(m_);
    for (int c = 0; c < nv(); ++c)
      for (SparseMatrix::InnerIterator entry(A_, c); entry; ++entry) second_rates_[entry.row()] += entry.value() * vdot_[c];
  }

  SparseMatrix constraint_pattern() {
    const ConstraintTerms& terms = equations().system().terms();
    std::vector<std::pair<int, int>> places;
    for (std::size_t g = 0; g < terms.groups.size(); ++g)
      for (int c = 0; c < terms.groups[g].columns(); ++c)
        for (int dof : terms.groups[g].support()) places.emplace_back(terms.first_rows[g] + c, dof);
    return matrix_of_pattern(m_, nv(), places);
  }

  /// 1 / tolerance of each entry.
  static int weights(N_Vector y, N_Vector out, void* user_data) {
    Ida& self = self_of(user_data);
    const double* const from = N_VGetArrayPointer(y);
    double* const to = N_VGetArrayPointer(out);
    double h = self.first_step_;
    if (!self.beginning_) IDAGetCurrentStep(self.solver_, &h);
    const double scale = std::min(1.0, h);
    for (int i = 0; i < self.size(); ++i) to[i] = 1.0 / (self.rtol() * std::abs(from[i]) + self.atol());
    to[self.nq() + self.nv()] = 1e-30;
    const auto multipliers = Eigen::Map<const VecX<double>>(from + self.first_lambda(), self.m_);
    const double largest = self.m_ > 0 ? multipliers.cwiseAbs().maxCoeff() : 0.0;
    for (int i = 0; i < self.m_; ++i) {
      to[self.first_lambda() + i] = scale / (self.rtol() * largest + self.atol());
      if (self.stabilized()) to[self.first_mu() + i] = scale / self.atol();
    }
    return 0;
  }

  void take_correction_space(double t, const VecX<double>& vdot) {
    state_.t = t;
    state_.q = Eigen::Map<const VecX<double>>(N_VGetArrayPointer(y()), nq());
    state_.v = Eigen::Map<const VecX<double>>(N_VGetArrayPointer(y()) + nq(), nv());
    equations().linearize(state_, vdot, lambda_, at_);
    keep_correction_space();
  }
  void keep_correction_space() {
    A0_ = at_.A;
    weights_ = at_.M.diagonal();
    for (double& weight : weights_) weight = weight > 0.0 ? 1.0 / weight : 1.0;
  }

  /// How position coordinates and displacements are tied: simple coordinates one to one, quaternions by N and its inverse on
  /// displacements, 4 N'.
  struct Link {
    int q, dof;
    double rate, inverse;  // dq/dt by v, displacement by q
  };
  void make_links() {
    links_.clear();
    for (const Node& node : model().tree.nodes) {
      const bool turns = velocity_count(node.kind) >= 3;
      const int simple = node.kind == NodeKind::kFree ? 3 : turns ? 0 : velocity_count(node.kind);
      for (int k = 0; k < simple; ++k) links_.push_back({node.q + k, node.v + k, 1.0, 1.0});
      if (!turns) continue;
      const double* const e = state_.q.data() + node.q + simple;
      const double N[4][3] = {{-e[1], -e[2], -e[3]}, {e[0], -e[3], e[2]}, {e[3], e[0], -e[1]}, {-e[2], e[1], e[0]}};
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 3; ++k) links_.push_back({node.q + simple + i, node.v + simple + k, 0.5 * N[i][k], 2.0 * N[i][k]});
    }
  }

  /// Calls put(row, column, value) for every entry of d residual/dy + cj d residual/dydot.
  template <class Put>
  void each_entry(double cj, Put&& put) {
    const int nq = this->nq(), nv = this->nv();
    make_links();
    for (int i = 0; i < nq; ++i) put(i, i, cj);
    for (const Node& node : model().tree.nodes) {
      if (velocity_count(node.kind) < 3) continue;
      const int first = node.kind == NodeKind::kFree ? 3 : 0;
      const double* const v = moved_.data() + node.v + first;
      const double W[4][4] = {{0, -v[0], -v[1], -v[2]}, {v[0], 0, v[2], -v[1]}, {v[1], -v[2], 0, v[0]}, {v[2], v[1], -v[0], 0}};
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 4; ++k)
          if (i != k) put(node.q + first + i, node.q + first + k, -0.5 * W[i][k]);
    }
    for (const Link& link : links_) {
      put(link.q, nq + link.dof, -link.rate);
      for (SparseMatrix::InnerIterator K(at_.K, link.dof); K; ++K)
        put(nq + static_cast<int>(K.row()), link.q, K.value() * link.inverse);
      SparseMatrix::InnerIterator A(at_.A, link.dof), G(at_.G, link.dof);
      for (; A; ++A, ++G) {
        const int row = static_cast<int>(A.row());
        const double by_q = dropped(row) ? 0.0 : link.inverse;
        put(first_lambda() + row, link.q, by_q * A.value());
        if (stabilized()) put(first_mu() + row, link.q, by_q * G.value());
      }
      if (!stabilized()) continue;
      for (SparseMatrix::InnerIterator along(A0_, link.dof); along; ++along) {
        const int row = static_cast<int>(along.row());
        put(link.q, first_mu() + row, dropped(row) ? 0.0 : -link.rate * weights_[link.dof] * along.value());
      }
    }
    for (int c = 0; c < nv; ++c) {
      SparseMatrix::InnerIterator D(at_.D, c), M(at_.M, c);
      for (; D; ++D, ++M) put(nq + static_cast<int>(D.row()), nq + c, D.value() + cj * M.value());
      for (SparseMatrix::InnerIterator A(at_.A, c); A; ++A) {
        const int row = static_cast<int>(A.row());
        const double value = dropped(row) ? 0.0 : A.value();
        put(nq + c, first_lambda() + row, -value);
        if (stabilized()) put(first_mu() + row, nq + c, value);
      }
    }
    put(nq + nv, nq + nv, cj);  // what the power depends on does not matter to the motion
    for (int i = 0; i < m_; ++i) {
      put(first_lambda() + i, first_lambda() + i, dropped(i) ? 1.0 : 0.0);
      if (stabilized()) put(first_mu() + i, first_mu() + i, dropped(i) ? 1.0 : 0.0);
    }
  }

  void make_pattern() {
    take(0.0, N_VGetArrayPointer(y()), N_VGetArrayPointer(ydot_.get()));
    moved_ = state_.v;
    equations().linearize(state_, vdot_, lambda_, at_);
    std::vector<std::pair<int, int>> places;
    each_entry(1.0, [&](int row, int column, double) { places.emplace_back(row, column); });
    jacobian_ = matrix_of_pattern(size(), size(), places);
  }

  static int jacobian(realtype t, realtype cj, N_Vector y, N_Vector ydot, N_Vector, SUNMatrix out, void* user_data, N_Vector,
                      N_Vector, N_Vector) {
    Ida& self = self_of(user_data);
    self.take(t, N_VGetArrayPointer(y), N_VGetArrayPointer(ydot));
    self.equations().linearize(self.state_, self.vdot_, self.lambda_, self.at_);
    if (self.stabilized()) self.keep_correction_space();
    set_zero(self.jacobian_);
    self.each_entry(cj, [&](int row, int column, double value) { self.jacobian_.coeffRef(row, column) += value; });
    self.copy_jacobian(out);
    return 0;
  }

  void copy_jacobian(SUNMatrix out) const {
    SUNMatZero(out);
    if (SUNMatGetID(out) == SUNMATRIX_DENSE) {
      for (int c = 0; c < size(); ++c)
        for (SparseMatrix::InnerIterator entry(jacobian_, c); entry; ++entry) SM_ELEMENT_D(out, entry.row(), c) = entry.value();
      return;
    }
    std::copy_n(jacobian_.outerIndexPtr(), size() + 1, SM_INDEXPTRS_S(out));
    std::copy_n(jacobian_.innerIndexPtr(), jacobian_.nonZeros(), SM_INDEXVALS_S(out));
    std::copy_n(jacobian_.valuePtr(), jacobian_.nonZeros(), SM_DATA_S(out));
  }

  int advance(double stop, double& t) override {
    IDASetStopTime(solver_, stop);
    const int flag = IDASolve(solver_, stop, &t, y(), ydot_.get(), IDA_ONE_STEP);
    beginning_ = false;
    return flag;
  }
  int interpolate_to(double t, N_Vector at) const override { return IDAGetDky(solver_, t, 0, at); }
  std::string describe_failure(int flag) const override {
    if (flag == IDA_ERR_FAIL) return "no step is short enough to meet rtol and atol";
    if (flag == IDA_CONV_FAIL) return "the iteration does not converge however short the step";
    const std::unique_ptr<char, decltype(&std::free)> name(IDAGetReturnFlagName(flag), std::free);
    return fmt::format("IDA reports {}", name.get());
  }
  long rejected_now() const override {
    long of_error = 0, of_iteration = 0;
    if (solver_ == nullptr) return 0;
    IDAGetNumErrTestFails(solver_, &of_error);
    IDAGetNumNonlinSolvConvFails(solver_, &of_iteration);
    return of_error + of_iteration;
  }

  int m_;
  Equations form_ = Equations::kIndex2;
  double first_step_ = 0.0;
  bool beginning_ = true;
  std::vector<char> dropped_;
  State state_;
  VecX<double> vdot_, lambda_, moved_, qdot_, r_, second_rates_, weights_;
  Linearization at_;
  SparseMatrix A_, A0_, jacobian_;
  std::vector<Link> links_;
  OwnedVector ydot_, id_;
  OwnedMatrix matrix_;
  OwnedLinearSolver linear_;
  void* solver_ = nullptr;
};

}  // namespace

CatalogEntry<Integrator> ida_method() {
  using enum Equations;
  return {{"ida", "IDA: backward differentiation of order 1 to 5 on the residual, own step control", "Hindmarsh2005", {}},
          [](const Model& model, const Options&) { return std::make_unique<Ida>(model); },
          {.takes = {kIndex2, kIndex1}}};
}

}  // namespace linkwork
