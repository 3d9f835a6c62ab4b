#include "linkwork/simulation/design_fit.h"

#include <fmt/format.h>

#include <Eigen/SVD>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <random>

#include "linkwork/dynamics/redundancy.h"
#include "linkwork/model/model.h"
#include "linkwork/spatial/so3.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

using V3 = Vec3<double>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

/// Singular values of the rows, with coordinates and rows in their units: what is below the first is a redundant row in rounded
/// data, below the second in exact ones.
constexpr double kRounded = 1e-3, kExact = 1e-11;

/// A model at a position: its errors and their derivatives, in units.
class Rows {
 public:
  explicit Rows(const Model& model) : model_(model), system_(model) {
    for (int r = 0; r < model.row_count(); ++r) counts_.push_back(model.rows[static_cast<std::size_t>(r)].is_permanent());
  }

  const Model& model() const { return model_; }
  double length() const { return model_.units.length; }

  void look_at(const State& state) {
    system_.update(state);
    phi_ = system_.terms().phi;
    J_ = model_.units.row.cwiseInverse().asDiagonal() * system_.jacobian() * model_.units.velocity.asDiagonal();
    for (const FrameClosure& closure : model_.frame_closures) {
      std::array<Row, kMaxRows> rows;
      closure.evaluate(system_.relative_motion(closure.a, closure.b), rows);  // of rows too that the system leaves out
      for (int r = 0; r < closure.row_count; ++r) phi_[closure.first_row + r] = rows[static_cast<std::size_t>(r)].value;
    }
    phi_ = phi_.cwiseQuotient(model_.units.row).eval();
    for (int r = 0; r < model_.row_count(); ++r)
      if (!counts_[static_cast<std::size_t>(r)]) phi_[r] = 0.0, J_.row(r).setZero();
    svd_.compute(J_, Eigen::ComputeFullU | Eigen::ComputeFullV);
  }

  const VecX<double>& phi() const { return phi_; }
  double largest() const { return phi_.size() == 0 ? 0.0 : phi_.cwiseAbs().maxCoeff(); }
  const Eigen::BDCSVD<MatX<double>>& svd() const { return svd_; }
  int rank(double least) const { return static_cast<int>((svd_.singularValues().array() > least).count()); }
  /// What no coordinate can mend: components of errors along these are contradictions.
  auto contradictions(int rank) const { return svd_.matrixU().rightCols(phi_.size() - rank); }

  /// A step of Newton's method that mends what can be mended, of limited length.
  void mend(int rank, State& state) const {
    VecX<double> change = -svd_.matrixV().leftCols(rank) *
                          (svd_.matrixU().leftCols(rank).transpose() * phi_).cwiseQuotient(svd_.singularValues().head(rank));
    constexpr double kMost = 0.5;
    if (const double size = change.cwiseAbs().maxCoeff(); size > kMost) change *= kMost / size;
    move(change, state);
  }

  void move(const VecX<double>& change, State& state) const {
    const VecX<double> dv = change.cwiseProduct(model_.units.velocity);
    displace(model_.tree, state.q.data(), dv.data());
  }

  /// How the rows change when a frame is displaced by a small twist in its own axes, turns first: the parent's or child's of a
  /// joint of the tree; a or b of a closure.
  MatX<double> by_joint(const Joint& joint, bool child) const {
    const bool forward = is_above(joint.parent.node, joint.child.node);
    const int outer = forward ? joint.child.node : joint.parent.node;
    const Pose<double> X = system_.pose(child ? joint.child : joint.parent);
    return by_twist(X, forward == child ? -1.0 : 1.0, [&](const FrameClosure& closure) {
      return static_cast<int>(is_above(outer, closure.b.node)) - static_cast<int>(is_above(outer, closure.a.node));
    });
  }
  MatX<double> by_closure(const FrameClosure& displaced, bool b) const {
    return by_twist(system_.pose(b ? displaced.b : displaced.a), b ? 1.0 : -1.0,
                    [&](const FrameClosure& closure) { return &closure == &displaced ? 1 : 0; });
  }

 private:
  bool is_above(int node, int below) const {
    for (; below > node; below = model_.tree.nodes[static_cast<std::size_t>(below)].parent) {
    }
    return below == node;
  }

  /// `share`: whether the closure's b moves along (1), its a (-1), or both or none (0).
  template <class Share>
  MatX<double> by_twist(const Pose<double>& X, double sign, const Share& share) const {
    MatX<double> D = MatX<double>::Zero(phi_.size(), 6);
    for (const FrameClosure& closure : model_.frame_closures) {
      const double moves = sign * share(closure);
      if (moves == 0.0) continue;
      std::array<Row, kMaxRows> rows;
      closure.evaluate(system_.relative_motion(closure.a, closure.b), rows);
      const Mat3<double> R = system_.pose(closure.a).R.transpose() * X.R;  // from the displaced frame's axes to a's
      const V3 arm = X.R.transpose() * (system_.pose(closure.b).p - X.p);
      for (int r = 0; r < closure.row_count; ++r) {
        const int at = closure.first_row + r;
        if (!counts_[static_cast<std::size_t>(at)]) continue;
        const Row& row = rows[static_cast<std::size_t>(r)];
        const V3 n = R.transpose() * row.on_w, f = R.transpose() * row.on_p;
        D.row(at) << (moves * (n + arm.cross(f))).transpose(), (moves * f).transpose();
        D.row(at) /= model_.units.row[at];
        D.row(at).tail<3>() *= length();
      }
    }
    return D;
  }

  const Model& model_;
  System system_;
  std::vector<char> counts_;  // by row: whether it always holds, at position level
  VecX<double> phi_;
  MatX<double> J_;
  Eigen::BDCSVD<MatX<double>> svd_;
};

/// The frames that may be moved, as the Spec has them: two of each joint, then two of each closure.
std::vector<FrameSpec*> movable_frames(Spec& spec) {
  std::vector<FrameSpec*> frames;
  for (JointSpec& joint : spec.joints) frames.push_back(&joint.parent), frames.push_back(&joint.child);
  for (ClosureSpec& closure : spec.closures) frames.push_back(&closure.a), frames.push_back(&closure.b);
  return frames;
}

class DesignFit {
 public:
  explicit DesignFit(const Spec& spec) : spec_(spec), fitted_(spec), model_(std::make_unique<Model>(build_model(spec))) {}

  /// Whether there is a design to be taken.
  bool find() {
    if (model_->frame_closures.empty() || model_->row_count() > kMostRowsToRank || model_->tree.nv > 2 * kMostRowsToRank)
      return false;
    rows_ = std::make_unique<Rows>(*model_);
    State start;
    start.q = Eigen::Map<const VecX<double>>(model_->start_q.data(), model_->tree.nq);
    start.v = VecX<double>::Zero(model_->tree.nv);
    if (!close(start)) return false;
    rank_ = rows_->rank(kRounded);
    const bool agrees = rows_->largest() < kClosed && rows_->rank(kExact) == rank_;
    if (agrees || rank_ == model_->row_count()) return false;
    samples_ = {start};
    walk(start);
    for (const State& sample : samples_) {
      rows_->look_at(sample);
      contradiction_ = std::max(contradiction_, rows_->largest() * rows_->length());
    }
    return fit() && moves_as_expected() && is_near();
  }

  Spec take() {
    std::vector<std::string> names;
    for (const auto& [name, rank] : redundant()) names.push_back("'" + name + "'");
    fitted_.warnings.push_back(
        fmt::format("the redundant constraints of {} contradict each other by up to {:.2g} m, as rounded data do: frames were "
                    "moved by up to {:.2g} m (at '{}') to the nearest design in which they agree",
                    listed(names), contradiction_, moved_, most_moved_));
    return std::move(fitted_);
  }

 private:
  static constexpr double kClosed = 1e-12;  // in units

  double tolerance() const { return spec_.settings.design_tolerance / rows_->length(); }

  /// A position where all that remains is contradictions, from the given one or from one nearby.
  bool close(State& state) {
    const State given = state;
    std::mt19937 random(4711);
    for (int attempt = 0; attempt < 24; ++attempt) {
      state = given;
      VecX<double> change(model_->tree.nv);
      for (double& x : change) x = 2.0 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 1.0;
      if (attempt > 0) rows_->move(0.1 * attempt * change, state);
      settle(state, 60);
      if (rows_->largest() <= tolerance()) return true;
    }
    return false;
  }

  void settle(State& state, int iterations) {
    rows_->look_at(state);
    for (int i = 0; i < iterations; ++i) {
      const VecX<double> q = state.q;
      rows_->mend(rows_->rank(kRounded), state);
      rows_->look_at(state);
      if ((state.q - q).cwiseAbs().maxCoeff() < 1e-13) break;
    }
  }

  /// Further positions along the motions that are left: there and back, in as many directions as it takes.
  void walk(const State& start) {
    constexpr int kSteps = 24, kEvery = 4;  // about half a turn: what a design lacks may show far from the start only
    constexpr double kStep = 0.12;
    rows_->look_at(start);
    const Eigen::Index freedom = model_->tree.nv - rank_;
    std::mt19937 random(1234);
    const auto directions = static_cast<int>(std::min<Eigen::Index>(freedom, 6));
    for (int d = 0; d < directions; ++d) {
      VecX<double> along(freedom);
      for (double& x : along) x = 2.0 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 1.0;
      for (const double sign : {1.0, -1.0}) {
        State state = start;
        rows_->look_at(state);
        VecX<double> before = rows_->svd().matrixV().rightCols(freedom) * along;
        before *= sign / before.cwiseAbs().maxCoeff();
        for (int k = 0; k < kSteps; ++k) {
          const auto N = rows_->svd().matrixV().rightCols(freedom);
          VecX<double> step = N * (N.transpose() * before);  // the same direction as before, as far as it goes on
          if (!(step.norm() > 0.1 * before.norm())) break;
          step *= kStep / step.cwiseAbs().maxCoeff();
          rows_->move(step, state);
          settle(state, 20);
          if (rows_->rank(kRounded) != rank_ || rows_->largest() > 10.0 * tolerance()) break;
          if (k % kEvery == kEvery - 1) samples_.push_back(state);
          before = step;
        }
      }
    }
  }

  /// Newton's method: the contradictions at all samples vanish with the smallest displacements of frames that do it.
  bool fit() {
    constexpr int kIterations = 20, kSlow = 6;
    // What conditions have at least. What is below comes of the contradictions themselves, as long as there are any, or of
    // rounding: designs such as Bricard's have conditions of second order, which show when the others are met.
    constexpr double kNoise = 3.0, kLeast = 1e-8;
    double before = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kIterations; ++i) {
      const Eigen::Index slots = 2 * (std::ssize(spec_.joints) + std::ssize(spec_.closures));
      const Eigen::Index spare = model_->row_count() - rank_, count = std::ssize(samples_);
      MatX<double> B = MatX<double>::Zero(spare * count, 6 * slots);
      VecX<double> error(spare * count);
      double largest = 0.0;
      for (Eigen::Index k = 0; k < count; ++k) {
        State& sample = samples_[static_cast<std::size_t>(k)];
        rows_->look_at(sample);
        for (int again = 0; again < 3; ++again) rows_->mend(rank_, sample), rows_->look_at(sample);
        const MatX<double> U = rows_->contradictions(rank_);
        error.segment(spare * k, spare) = U.transpose() * rows_->phi();
        largest = std::max(largest, rows_->largest());
        const auto place = [&](Eigen::Index slot, const MatX<double>& D) {
          B.block(spare * k, 6 * slot, spare, 6) = U.transpose() * D;
        };
        for (std::size_t j = 0; j < spec_.joints.size(); ++j) {
          const Joint& joint = model_->joints[j];
          if (joint.cut || joint.parent.node == joint.child.node) continue;
          for (const bool child : {false, true}) place(2 * static_cast<Eigen::Index>(j) + child, rows_->by_joint(joint, child));
        }
        for (const FrameClosure& closure : model_->frame_closures)
          for (const bool b : {false, true}) place(slot_of(closure) + b, rows_->by_closure(closure, b));
      }
      if (largest < kClosed) return true;
      if (!(largest < 0.5 * before) && i > kSlow) return false;
      before = largest;
      Eigen::BDCSVD<MatX<double>> svd(B, Eigen::ComputeThinU | Eigen::ComputeThinV);
      svd.setThreshold(std::max(kLeast, kNoise * largest));
      displace_frames(-svd.solve(error));
    }
    return false;
  }

  /// The first of its two.
  Eigen::Index slot_of(const FrameClosure& closure) const {
    if (closure.joint) return 2 * static_cast<Eigen::Index>(closure.joint());
    const auto found = std::ranges::find(spec_.closures, closure.name, &ClosureSpec::name);
    return 2 * (std::ssize(spec_.joints) + (found - spec_.closures.begin()));
  }

  /// In the frames' own axes as the model has them: its z is the axis.
  void displace_frames(const VecX<double>& by) {
    const std::vector<FrameSpec*> frames = movable_frames(fitted_);
    for (std::size_t s = 0; s < frames.size(); ++s) {
      const Vector6 twist = by.segment<6>(6 * static_cast<Eigen::Index>(s));
      if (twist.isZero(0.0)) continue;
      FrameSpec& frame = *frames[s];
      const Mat3<double> axes = axes_of(s, frame);
      frame.at += frame.rotation * (axes * twist.tail<3>()) * rows_->length();
      frame.rotation = (frame.rotation * Eigen::Quaterniond(so3_exp(V3(axes * twist.head<3>())))).normalized();
    }
    auto model = std::make_unique<Model>(build_model(fitted_));
    rows_ = std::make_unique<Rows>(*model);
    model_ = std::move(model);
  }

  /// From the axes of a model's frame to those of the Spec's.
  Mat3<double> axes_of(std::size_t slot, const FrameSpec& frame) const {
    const Mat3<double> back = model_frame(frame).R.transpose();
    const std::size_t joints = spec_.joints.size(), at = slot / 2;
    const bool second = slot % 2 == 1;
    if (at < joints) return back * (second ? model_->joints[at].child : model_->joints[at].parent).X_NF.R;
    for (const FrameClosure& closure : model_->frame_closures)
      if (!closure.joint && closure.name == fitted_.closures[at - joints].name)
        return back * (second ? closure.b : closure.a).X_NF.R;
    return Mat3<double>::Identity();
  }

  Pose<double> model_frame(const FrameSpec& frame) const {
    const auto body = std::ranges::find(model_->bodies, frame.body, &Body::name);
    return body->X_NB * Pose<double>{frame.rotation.toRotationMatrix(), frame.at};
  }

  /// Whether what was taken for redundant is so now: a short lever or a singular position is none.
  bool moves_as_expected() {
    constexpr double kFitted = 1e-7;
    for (const State& sample : samples_) {
      rows_->look_at(sample);
      if (rows_->rank(kFitted) != rank_) return false;
    }
    return samples_.size() > 1 || model_->tree.nv == rank_;
  }

  /// Whether no frame was moved by more than the tolerance.
  bool is_near() {
    const std::vector<FrameSpec*> now = movable_frames(fitted_);
    Spec original = spec_;
    const std::vector<FrameSpec*> before = movable_frames(original);
    for (std::size_t s = 0; s < now.size(); ++s) {
      const double turn = now[s]->rotation.angularDistance(before[s]->rotation) * rows_->length();
      const double moved = std::max((now[s]->at - before[s]->at).norm(), turn);
      if (moved <= moved_) continue;
      moved_ = moved;
      const std::size_t joints = spec_.joints.size();
      most_moved_ = s / 2 < joints ? spec_.joints[s / 2].name : spec_.closures[s / 2 - joints].name;
    }
    return moved_ <= spec_.settings.design_tolerance;
  }

  /// Closures with rows that others make redundant.
  std::map<std::string, int> redundant() {
    rows_->look_at(samples_.front());
    const MatX<double> U = rows_->contradictions(rank_);
    std::map<std::string, int> names;
    for (int r = 0; r < model_->row_count(); ++r)
      if (U.row(r).norm() > 0.1) ++names[model_->rows[static_cast<std::size_t>(r)].closure];
    return names;
  }

  const Spec& spec_;
  Spec fitted_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Rows> rows_;
  std::vector<State> samples_;
  int rank_ = 0;
  double contradiction_ = 0.0, moved_ = 0.0;
  std::string most_moved_;
};

}  // namespace

Spec fitted_design(Spec spec) {
  if (!(spec.settings.design_tolerance > 0.0) || spec.bodies.empty()) return spec;
  DesignFit fit(spec);
  return fit.find() ? fit.take() : spec;
}

Model fitted_model(const Spec& spec) {
  return spec.settings.design_tolerance > 0.0 ? build_model(fitted_design(spec)) : build_model(spec);
}

}  // namespace linkwork
