#pragma once

#include "linkwork/dynamics/differential_equation.h"

namespace linkwork {

/// Where the mechanism is. `work` is what forces without a potential, and drives, have done since the start: with it the
/// energy balance can be closed.
struct State {
  double t = 0.0;
  VecX<double> q;
  VecX<double> v;
  double work = 0.0;
  VecX<double> z;  // what is integrated beside the motion; mostly empty
};

/// Rates of everything in a State.
struct Derivative {
  VecX<double> qdot;
  VecX<double> vdot;
  double power = 0.0;
  VecX<double> zdot;
};

// As integrators see them: y = (q, v, work, z).

inline void pack(const State& state, Moment& at) {
  const Eigen::Index nq = state.q.size(), nv = state.v.size(), nz = state.z.size();
  at.t = state.t;
  at.y.resize(nq + nv + 1 + nz);
  at.y.head(nq) = state.q;
  at.y.segment(nq, nv) = state.v;
  at.y[nq + nv] = state.work;
  if (nz > 0) at.y.tail(nz) = state.z;
}

inline void unpack(const Moment& at, Eigen::Index nq, Eigen::Index nv, State& state) {
  const Eigen::Index nz = at.y.size() - (nq + nv + 1);
  state.t = at.t;
  state.q = at.y.head(nq);
  state.v = at.y.segment(nq, nv);
  state.work = at.y[nq + nv];
  if (nz > 0 || state.z.size() > 0) state.z = at.y.tail(nz);
}

inline void pack(const Derivative& rates, VecX<double>& to) {
  const Eigen::Index nq = rates.qdot.size(), nv = rates.vdot.size(), nz = rates.zdot.size();
  to.resize(nq + nv + 1 + nz);
  to.head(nq) = rates.qdot;
  to.segment(nq, nv) = rates.vdot;
  to[nq + nv] = rates.power;
  if (nz > 0) to.tail(nz) = rates.zdot;
}

inline void unpack(const VecX<double>& from, Eigen::Index nq, Eigen::Index nv, Derivative& rates) {
  rates.qdot = from.head(nq);
  rates.vdot = from.segment(nq, nv);
  rates.power = from[nq + nv];
  rates.zdot = from.tail(from.size() - (nq + nv + 1));
}

}  // namespace linkwork
