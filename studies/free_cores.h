#pragma once

#include <chrono>
#include <string>

#include "studies/study.h"

namespace linkwork::studies {

/// Whether other programs leave this one the processors that its timed work needs. The one place that decides it: so many threads
/// that have nothing to say to one another compute for a moment, and the processor time they get is held against the time that
/// passes. Looked at before the timed work, and after it.
class FreeCores {
 public:
  explicit FreeCores(int threads);
  /// For ranks instead of threads, a thread each. All of them make one.
  explicit FreeCores(Transport& ranks);

  /// Looks once more. The timed work is over.
  void look();
  bool free() const;
  /// How many processors they got, and how many there are.
  std::string in_words() const;
  /// The claim, which is about times: not measured unless the processors are free.
  Claim judged(Claim claim) const;

 private:
  double processors_got() const;

  int threads_;
  Transport* ranks_ = nullptr;
  double got_;  // processors, the least of all looks
};

/// Seconds of wall-clock time since some start.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace linkwork::studies
