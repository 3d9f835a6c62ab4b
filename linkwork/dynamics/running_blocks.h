#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linkwork/model/model.h"
#include "linkwork/model/signal_block.h"

namespace linkwork {

class EvaluatedSignals;

/// The blocks of a model at work in one System. Blocks whose states are integrated are asked at the state last evaluated;
/// those that step by themselves show what they came to at their last step. A block that fails gives NaN, and trouble() says why.
class RunningBlocks {
 public:
  explicit RunningBlocks(const Model& model);
  ~RunningBlocks();

  /// Begins at the state last evaluated. States of blocks go to z.
  void start(const EvaluatedSignals& at, VecX<double>& z);
  double output(const EvaluatedSignals& at, int block, int output);
  double rate(const EvaluatedSignals& at, int block, int state);
  /// Why a block gave no answer since clear_trouble(); empty: all did.
  const std::string& trouble() const { return trouble_; }
  void clear_trouble() { trouble_.clear(); }

  /// Appends numbers that are positive until something is due: indicators on the side they were when begin_step() was called,
  /// one for times, one for whole numbers and Booleans, which change at events only.
  void begin_step(const EvaluatedSignals& at);
  void append_watched(const EvaluatedSignals& at, std::vector<double>& values);
  /// Infinity if none is known.
  double next_time() const;
  /// A step has ended at the state last evaluated. Inputs that are numbers but may change at events only are told here, too.
  void complete_step(const EvaluatedSignals& at);
  bool wants_event() const { return wants_event_; }
  /// Lets happen what is due; z changes. Empty: well, else why not.
  std::string happen(const EvaluatedSignals& at, VecX<double>& z);
  /// Which block has asked for the end; empty: none.
  const std::string& stopped_by() const { return stopped_by_; }

  /// A block that steps by itself comes to the time of the state last evaluated. Empty: well, else why not.
  std::string step(const EvaluatedSignals& at, std::size_t block);

  /// By block, as text. Throws InputError if one does not tell.
  std::vector<std::string> save();
  void restore(const EvaluatedSignals& at, const std::vector<std::string>& saved);

 private:
  struct Running;

  Running& started(const EvaluatedSignals& at, std::size_t block);
  void begin(const EvaluatedSignals& at, Running& running);
  void follow(const EvaluatedSignals& at, Running& running);
  void set_inputs(const EvaluatedSignals& at, Running& running, std::span<const std::size_t> which, bool discrete);
  double input_value(const EvaluatedSignals& at, const Running& running, std::size_t input) const;
  bool has_changed(const EvaluatedSignals& at, bool numbers);
  template <class Ask>
  double answer(Ask ask);

  const Model& model_;
  std::vector<std::unique_ptr<Running>> running_;
  bool wants_event_ = false;
  std::string trouble_, stopped_by_;
};

}  // namespace linkwork
