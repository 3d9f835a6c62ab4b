#pragma once

#include <Eigen/Core>
#include <cmath>

namespace linkwork::studies {

/// A number that counts what is done with it: additions, multiplications, divisions and roots. Comparisons are free, as in the
/// operation counts of the literature.
class Counted {
 public:
  Counted() = default;
  explicit Counted(double value) : value_(value) {}
  explicit operator double() const { return value_; }

  Counted& operator+=(Counted other) { return combine(value_ + other.value_); }
  Counted& operator-=(Counted other) { return combine(value_ - other.value_); }
  Counted& operator*=(Counted other) { return combine(value_ * other.value_); }
  Counted& operator/=(Counted other) { return combine(value_ / other.value_); }
  friend Counted operator+(Counted a, Counted b) { return a += b; }
  friend Counted operator-(Counted a, Counted b) { return a -= b; }
  friend Counted operator*(Counted a, Counted b) { return a *= b; }
  friend Counted operator/(Counted a, Counted b) { return a /= b; }
  friend Counted operator-(Counted a) { return Counted(-a.value_); }
  friend Counted sqrt(Counted a) { return a.combine(std::sqrt(a.value_)); }

  /// Operations since the start of the program.
  static long operations() { return operations_; }

 private:
  Counted& combine(double value) {
    ++operations_;
    value_ = value;
    return *this;
  }

  double value_ = 0.0;
  inline static thread_local long operations_ = 0;
};

}  // namespace linkwork::studies

template <>
struct Eigen::NumTraits<linkwork::studies::Counted> : Eigen::GenericNumTraits<double> {
  using Real = linkwork::studies::Counted;
  using NonInteger = linkwork::studies::Counted;
  using Nested = linkwork::studies::Counted;
};
