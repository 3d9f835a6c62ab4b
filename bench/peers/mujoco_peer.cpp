// MuJoCo: loops as soft equality constraints on a tree. Twice: with the softness it comes with, and as stiff as it lets one make
// it.

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "bench/peers/mechanism.h"

namespace linkwork::bench {
namespace {

/// How soft an equality is: MuJoCo's solref (time constant, damping ratio) and solimp (how much of the acceleration it enforces).
struct Softness {
  const char* solref;
  const char* solimp;
};
constexpr Softness kDefault{"0.02 1", "0.9 0.95 0.001"};
constexpr Softness kStiffest{"0.002 1", "0.9999 0.9999 0.001"};

std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g ", value);
  return buffer;
}

template <class Numbers>
std::string numbers(const Numbers& values) {
  std::string out;
  for (double value : values) out += text(value);
  return out;
}

std::array<double, 4> quaternion(const std::array<double, 9>& R) {
  std::array<double, 4> out;
  mju_mat2Quat(out.data(), R.data());
  return out;
}

std::array<double, 3> rotated(const std::array<double, 9>& R, const double* x) {
  std::array<double, 3> out;
  mju_rotVecMat(out.data(), x, R.data());
  return out;
}

std::array<double, 3> rotated_back(const std::array<double, 9>& R, const double* x) {
  std::array<double, 3> out;
  mju_rotVecMatT(out.data(), x, R.data());
  return out;
}

/// The mechanism as an MJCF document.
class Document {
 public:
  Document(const Mechanism& mechanism, const Softness& softness) : mechanism_(mechanism), softness_(softness) {}

  std::string write() const {
    std::string out = "<mujoco><compiler angle=\"radian\" autolimits=\"false\" boundmass=\"0\"/><size nconmax=\"0\" njmax=\"" +
                      std::to_string(6 * mechanism_.loops.size() + 10) + "\"/><option gravity=\"" + numbers(mechanism_.gravity) +
                      "\"><flag contact=\"disable\" limit=\"disable\" frictionloss=\"disable\"/></option><worldbody>";
    out += sites(0);
    for (std::size_t k = 1; k < mechanism_.bodies.size(); ++k)
      if (mechanism_.bodies[k].parent == 0) out += body(static_cast<int>(k));
    out += "</worldbody><tendon>";
    for (std::size_t k = 0; k < mechanism_.springs.size(); ++k) out += tendon(k);
    out += "</tendon><equality>";
    for (const PeerLoop& loop : mechanism_.loops) out += connects(loop);
    return out + "</equality></mujoco>";
  }

 private:
  static std::string name(int body) { return body == 0 ? "world" : "b" + std::to_string(body); }

  /// MuJoCo refuses bodies that have no inertia about some axis, as slender rods: they get a little.
  static std::string inertial(const PeerBody& body) {
    auto I = body.inertia;
    const double least = 1e-9 * std::max({I[0], I[4], I[8]});
    for (std::size_t k : {0u, 4u, 8u}) I[k] += least;
    const std::array full{I[0], I[4], I[8], I[1], I[2], I[5]};
    return "<inertial pos=\"" + numbers(body.com) + "\" mass=\"" + text(body.mass) + "\" fullinertia=\"" + numbers(full) + "\"/>";
  }

  static std::string joint(const PeerBody& body) {
    if (body.joint == JointType::kFree) return "<freejoint/>";
    return std::string("<joint type=\"") + (body.joint == JointType::kRevolute ? "hinge" : "slide") +
           "\" axis=\"0 0 1\" stiffness=\"" + text(body.stiffness) + "\" springref=\"" + text(body.rest) + "\" damping=\"" +
           text(body.damping) + "\"/>";
  }

  std::string body(int k) const {
    const PeerBody& body = mechanism_.bodies[static_cast<std::size_t>(k)];
    std::string out = "<body name=\"" + name(k) + "\" pos=\"" + numbers(body.in_parent.p) + "\" quat=\"" +
                      numbers(quaternion(body.in_parent.R)) + "\">" + inertial(body) + joint(body) + sites(k);
    for (std::size_t child = static_cast<std::size_t>(k) + 1; child < mechanism_.bodies.size(); ++child)
      if (mechanism_.bodies[child].parent == k) out += this->body(static_cast<int>(child));
    return out + "</body>";
  }

  std::string sites(int body) const {
    std::string out;
    for (std::size_t k = 0; k < mechanism_.springs.size(); ++k) {
      const PeerSpring& spring = mechanism_.springs[k];
      if (spring.a == body) out += "<site name=\"a" + std::to_string(k) + "\" pos=\"" + numbers(spring.in_a) + "\"/>";
      if (spring.b == body) out += "<site name=\"b" + std::to_string(k) + "\" pos=\"" + numbers(spring.in_b) + "\"/>";
    }
    return out;
  }

  std::string tendon(std::size_t k) const {
    const PeerSpring& spring = mechanism_.springs[k];
    return "<spatial stiffness=\"" + text(spring.stiffness) + "\" damping=\"" + text(spring.damping) + "\" springlength=\"" +
           text(spring.length) + "\"><site site=\"a" + std::to_string(k) + "\"/><site site=\"b" + std::to_string(k) +
           "\"/></spatial>";
  }

  /// There is no pin of two rows; a revolute is two points of the axis.
  std::string connects(const PeerLoop& loop) const {
    const std::string one = "<connect body1=\"" + name(loop.a == 0 ? loop.b : loop.a) + "\" body2=\"" +
                            name(loop.a == 0 ? loop.a : loop.b) + "\" anchor=\"0 0 0\" solref=\"" + softness_.solref +
                            "\" solimp=\"" + softness_.solimp + "\"/>";
    return loop.type == LoopType::kRevolute ? one + one : one;
  }

  const Mechanism& mechanism_;
  Softness softness_;
};

mjModel* compile(const std::string& document) {
  char error[1000] = "";
  mjVFS* files = static_cast<mjVFS*>(mju_malloc(sizeof(mjVFS)));
  mj_defaultVFS(files);
  if (mj_makeEmptyFileVFS(files, "model.xml", static_cast<int>(document.size())) != 0)
    throw std::runtime_error("no room for the model's document");
  char* target = static_cast<char*>(files->filedata[files->nfile - 1]);
  std::copy(document.begin(), document.end(), target);
  mjModel* model = mj_loadXML("model.xml", files, error, sizeof error);
  mj_deleteVFS(files);
  mju_free(files);
  if (!model) throw std::runtime_error(error);
  return model;
}

class MujocoEngine : public Engine {
 public:
  MujocoEngine(const Mechanism& mechanism, const Softness& softness)
      : mechanism_(mechanism), model_(compile(Document(mechanism, softness).write()), mj_deleteModel) {
    set_anchors();
    mjcb_control = apply;
    data_.reset(mj_makeData(model_.get()));
    // MuJoCo numbers bodies depth first, which may differ from the order here.
    for (std::size_t k = 1; k < mechanism.bodies.size(); ++k) {
      const int body = mj_name2id(model_.get(), mjOBJ_BODY, ("b" + std::to_string(k)).c_str());
      const int joint = model_->body_jntadr[body];
      body_.push_back(body);
      qpos_.push_back(model_->jnt_qposadr[joint]);
      qvel_.push_back(model_->jnt_dofadr[joint]);
    }
  }
  ~MujocoEngine() override {
    if (driven_ == this) driven_ = nullptr;
  }

  void keep(const std::vector<PeerState>& states) override {
    kept_.clear();
    for (const PeerState& state : states) kept_.push_back(native(state));
  }

  void evaluate(std::size_t k) override {
    load(kept_[k]);
    mj_forward(model_.get(), data_.get());
  }

  std::vector<double> accelerations(std::size_t k) override {
    mj_resetData(model_.get(), data_.get());
    evaluate(k);
    return canonical(data_->qacc);
  }

  std::string run(const PeerState& start, const Stepping& stepping, double end, double every, const Seen& seen) override {
    model_->opt.timestep = stepping.step;
    model_->opt.integrator = mjINT_RK4;
    mj_resetData(model_.get(), data_.get());
    load(native(start));
    if (!seen(current())) return "";
    const long steps = std::lround(every / stepping.step);
    for (long k = 1; static_cast<double>(k - 1) * every < end - 0.5 * every; ++k) {
      for (long i = 0; i < steps; ++i) mj_step(model_.get(), data_.get());
      // MuJoCo starts anew by itself when its numbers go bad.
      for (int warning : {mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC})
        if (data_->warning[warning].number > 0)
          return mju_warningText(warning, static_cast<size_t>(data_->warning[warning].lastinfo));
      if (!seen(current())) return "";
    }
    return "";
  }

 private:
  struct Native {
    double t;
    std::vector<double> qpos, qvel;
  };
  struct Delete {
    void operator()(mjData* data) const { mj_deleteData(data); }
  };

  const PeerBody& body(std::size_t k) const { return mechanism_.bodies[k + 1]; }

  /// The compiler takes the loops for closed in the zero position and computes the second anchor from it.
  void set_anchors() {
    int k = 0;
    for (const PeerLoop& loop : mechanism_.loops) {
      const int count = loop.type == LoopType::kRevolute ? 2 : 1;
      for (int i = 0; i < count; ++i, ++k)
        for (int axis = 0; axis < 3; ++axis) {
          const auto z = static_cast<std::size_t>(3 * axis + 2), at = static_cast<std::size_t>(axis);
          const double a = loop.in_a.p[at] + i * loop.in_a.R[z], b = loop.in_b.p[at] + i * loop.in_b.R[z];
          double* data = model_->eq_data + static_cast<std::ptrdiff_t>(k) * mjNEQDATA;
          data[axis] = loop.a == 0 ? b : a;
          data[3 + axis] = loop.a == 0 ? a : b;
        }
    }
  }

  /// Called by MuJoCo where forces are wanted, at each stage of a step.
  static void apply(const mjModel*, mjData* data) {
    if (driven_ && data == driven_->data_.get()) driven_->apply_forces();
  }
  void apply_forces() {
    if (mechanism_.motors.empty() && mechanism_.wrenches.empty()) return;
    mju_zero(data_->qfrc_applied, model_->nv);
    for (const PeerMotor& motor : mechanism_.motors)
      data_->qfrc_applied[qvel_[static_cast<std::size_t>(motor.body - 1)]] += motor.value(data_->time);
    for (const PeerWrench& wrench : mechanism_.wrenches) {
      const int body = body_[static_cast<std::size_t>(wrench.body - 1)];
      double force[3], torque[3], point[3];
      for (std::size_t i = 0; i < 3; ++i) force[i] = wrench.force[i](data_->time), torque[i] = wrench.torque[i](data_->time);
      mju_rotVecMat(point, wrench.at.data(), data_->xmat + 9 * body);
      mju_addTo3(point, data_->xpos + 3 * body);
      mj_applyFT(model_.get(), data_.get(), force, torque, point, body, data_->qfrc_applied);
    }
  }

  void load(const Native& state) {
    driven_ = this;
    data_->time = state.t;
    mju_copy(data_->qpos, state.qpos.data(), model_->nq);
    mju_copy(data_->qvel, state.qvel.data(), model_->nv);
  }

  /// Of a free joint: pose in the world, velocity in the world's axes, angular velocity in the body's.
  Native native(const PeerState& state) const {
    Native out{state.t, std::vector<double>(static_cast<std::size_t>(model_->nq)),
               std::vector<double>(static_cast<std::size_t>(model_->nv))};
    for (std::size_t k = 0; k < body_.size(); ++k) {
      const double* q = &state.q[static_cast<std::size_t>(body(k).q)];
      const double* v = &state.v[static_cast<std::size_t>(body(k).v)];
      double *to_q = &out.qpos[static_cast<std::size_t>(qpos_[k])], *to_v = &out.qvel[static_cast<std::size_t>(qvel_[k])];
      if (body(k).joint != JointType::kFree) {
        to_q[0] = q[0], to_v[0] = v[0];
        continue;
      }
      const Placement& X_PF = body(k).in_parent;
      const auto p = rotated(X_PF.R, q), pdot = rotated(X_PF.R, v);
      for (std::size_t i = 0; i < 3; ++i) to_q[i] = X_PF.p[i] + p[i], to_v[i] = pdot[i], to_v[3 + i] = v[3 + i];
      mju_mulQuat(to_q + 3, quaternion(X_PF.R).data(), q + 3);
    }
    return out;
  }

  std::vector<double> canonical(const double* qvel) const {
    std::vector<double> out(static_cast<std::size_t>(mechanism_.nv));
    for (std::size_t k = 0; k < body_.size(); ++k) {
      const double* from = qvel + qvel_[k];
      double* to = &out[static_cast<std::size_t>(body(k).v)];
      if (body(k).joint != JointType::kFree) {
        to[0] = from[0];
        continue;
      }
      const auto rate = rotated_back(body(k).in_parent.R, from);
      for (std::size_t i = 0; i < 3; ++i) to[i] = rate[i], to[3 + i] = from[3 + i];
    }
    return out;
  }

  PeerState current() const {
    PeerState out{data_->time, std::vector<double>(static_cast<std::size_t>(mechanism_.nq)), canonical(data_->qvel)};
    for (std::size_t k = 0; k < body_.size(); ++k) {
      const double* from = data_->qpos + qpos_[k];
      double* to = &out.q[static_cast<std::size_t>(body(k).q)];
      if (body(k).joint != JointType::kFree) {
        to[0] = from[0];
        continue;
      }
      const Placement& X_PF = body(k).in_parent;
      const double moved[3] = {from[0] - X_PF.p[0], from[1] - X_PF.p[1], from[2] - X_PF.p[2]};
      const auto p = rotated_back(X_PF.R, moved);
      double back[4];
      mju_negQuat(back, quaternion(X_PF.R).data());
      std::copy(p.begin(), p.end(), to);
      mju_mulQuat(to + 3, back, from + 3);
    }
    return out;
  }

  static MujocoEngine* driven_;  // the one at work: MuJoCo's callback is global

  Mechanism mechanism_;
  std::unique_ptr<mjModel, void (*)(mjModel*)> model_;
  std::unique_ptr<mjData, Delete> data_;
  std::vector<int> body_, qpos_, qvel_;  // by body, without the ground
  std::vector<Native> kept_;
};

MujocoEngine* MujocoEngine::driven_ = nullptr;

std::unique_ptr<Engine> make_default(const Mechanism& mechanism, const PeerState&) {
  return std::make_unique<MujocoEngine>(mechanism, kDefault);
}
std::unique_ptr<Engine> make_stiffest(const Mechanism& mechanism, const PeerState&) {
  return std::make_unique<MujocoEngine>(mechanism, kStiffest);
}

}  // namespace
}  // namespace linkwork::bench

extern "C" __attribute__((visibility("default"))) std::vector<linkwork::bench::Peer> linkwork_peer() {
  using namespace linkwork::bench;
  std::vector<Stepping> steps;
  for (double step : {1e-2, 5e-3, 2e-3, 1e-3, 5e-4}) steps.push_back({step, 0.0});
  return {{"MuJoCo", mj_versionString(), "soft", "mj_forward", "mj_step with RK4, default softness", 0.5, steps, make_default},
          {"MuJoCo stiff", mj_versionString(), "soft", "mj_forward, equalities as stiff as can be",
           "mj_step with RK4, equalities as stiff as can be", 0.05, steps, make_stiffest}};
}
