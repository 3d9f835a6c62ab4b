#pragma once

#include <array>
#include <cstring>

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

/// Mechanisms have few coordinates, for which Eigen's loops and calls of memcpy take several times as long as this: two blocks
/// of a fixed size that overlap.
inline void copy_numbers(const double* from, Eigen::Index count, double* to) {
  const auto copy_ends = [&]<std::size_t kBlock>(std::array<double, kBlock> first, std::array<double, kBlock> last) {
    const Eigen::Index behind = count - static_cast<Eigen::Index>(kBlock);
    std::memcpy(first.data(), from, sizeof first);
    std::memcpy(last.data(), from + behind, sizeof last);
    std::memcpy(to, first.data(), sizeof first);
    std::memcpy(to + behind, last.data(), sizeof last);
  };
  if (count > 8)
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(double));
  else if (count >= 4)
    copy_ends(std::array<double, 4>{}, std::array<double, 4>{});
  else if (count >= 2)
    copy_ends(std::array<double, 2>{}, std::array<double, 2>{});
  else if (count == 1)
    *to = *from;
}
inline void assign_numbers(const double* from, Eigen::Index count, VecX<double>& to) {
  if (to.size() != count) to.resize(count);
  copy_numbers(from, count, to.data());
}
inline void assign_numbers(const VecX<double>& from, VecX<double>& to) { assign_numbers(from.data(), from.size(), to); }

// As integrators see them: y = (q, v, work, z).

inline void pack(const VecX<double>& q, const VecX<double>& v, double work, const VecX<double>& z, VecX<double>& y) {
  const Eigen::Index nq = q.size(), nv = v.size(), nz = z.size();
  if (y.size() != nq + nv + 1 + nz) y.resize(nq + nv + 1 + nz);
  double* const to = y.data();
  copy_numbers(q.data(), nq, to);
  copy_numbers(v.data(), nv, to + nq);
  to[nq + nv] = work;
  copy_numbers(z.data(), nz, to + nq + nv + 1);
}

inline void unpack(const VecX<double>& y, Eigen::Index nq, Eigen::Index nv, VecX<double>& q, VecX<double>& v, double& work,
                   VecX<double>& z) {
  const double* const from = y.data();
  assign_numbers(from, nq, q);
  assign_numbers(from + nq, nv, v);
  work = from[nq + nv];
  assign_numbers(from + nq + nv + 1, y.size() - (nq + nv + 1), z);
}

inline void pack(const State& state, Moment& at) {
  at.t = state.t;
  pack(state.q, state.v, state.work, state.z, at.y);
}
inline void unpack(const Moment& at, Eigen::Index nq, Eigen::Index nv, State& state) {
  state.t = at.t;
  unpack(at.y, nq, nv, state.q, state.v, state.work, state.z);
}
inline void pack(const Derivative& rates, VecX<double>& to) { pack(rates.qdot, rates.vdot, rates.power, rates.zdot, to); }
inline void unpack(const VecX<double>& from, Eigen::Index nq, Eigen::Index nv, Derivative& rates) {
  unpack(from, nq, nv, rates.qdot, rates.vdot, rates.power, rates.zdot);
}

}  // namespace linkwork
