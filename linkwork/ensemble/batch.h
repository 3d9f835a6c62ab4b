#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linkwork/front/mechanism.h"
#include "linkwork/front/run.h"

namespace linkwork {

/// Many instances of one mechanism that are stepped together, each with its own state, inputs and parameters. What becomes of one
/// does not depend on the others, nor on the number of threads, to the last bit. Where they can be, four instances at a time are
/// computed in the lanes of the processor's vectors, which rounds otherwise than a Run does.
///
/// Arrays are row by row: that of instance i begins at i times their width. An instance that fails stays where it was and takes
/// no part any more; the others go on.
class Batch {
 public:
  /// A value for each instance.
  using InstanceParameters = std::vector<std::pair<std::string, std::vector<double>>>;

  /// Of the options those count that a Run has. Throws InputError, which names the instance if it is due to its parameters.
  Batch(const Mechanism& mechanism, int count, const InstanceParameters& parameters = {}, const RunOptions& options = {},
        int threads = 1, bool lanes = true);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  int size() const;
  int threads() const;
  /// How many instances are computed in lanes, and why others are computed alone, in words; "" if there are none.
  int in_lanes() const;
  const std::string& obstacle_to_lanes() const;
  /// Names of the columns of q, v and u.
  const std::vector<std::string>& positions() const;
  const std::vector<std::string>& velocities() const;
  const std::vector<std::string>& inputs() const;

  // As of the last step; they stay where they are as long as the batch lives.
  std::span<const double> t() const;
  std::span<const double> q() const;
  std::span<const double> v() const;
  /// Inputs from the next step on; NaN leaves one to the model.
  std::span<double> u();

  /// Whether an instance can go further, and why not: "" while it can, the reason of a failure, "ended by an event".
  bool is_live(int instance) const;
  const std::string& status(int instance) const;

  /// Steps every instance that is live. `go_on` is asked now and then on the calling thread; false: it was interrupted, and
  /// instances may be at different times.
  bool step(long count = 1, const std::function<bool()>& go_on = {});
  /// Goes on from other positions and velocities, which are moved onto the constraints; of some instances, or of all if empty.
  void set_state(std::span<const double> q, std::span<const double> v, const std::vector<int>& instances = {});
  /// Some back to the start, or all if empty. Inputs are left to the model.
  void reset(const std::vector<int>& instances = {});
  /// A column of the output, of each instance; NaN of those that failed.
  std::vector<double> value(const std::string& column);
  const std::vector<std::string>& columns() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace linkwork
