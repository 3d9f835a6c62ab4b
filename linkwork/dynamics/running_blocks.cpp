#include "linkwork/dynamics/running_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "linkwork/dynamics/evaluated_signals.h"

namespace linkwork {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kMostRounds = 100;  // of events that set one another off

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string bytes_of(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned byte = 0;
    if (std::from_chars(&text[i], &text[i] + 2, byte, 16).ptr != &text[i] + 2)
      throw InputError({}, "what was saved of an FMU is damaged");
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

struct RunningBlocks::Running {
  const Block* of = nullptr;
  std::unique_ptr<BlockInstance> instance;
  bool begun = false;
  double t = 0.0;                       // that the instance is at
  std::vector<double> z, zdot, inputs;  // likewise
  bool rates_known = false;
  std::vector<double> indicators, signs;
  double next_time = kNever;
  // Of one that steps by itself.
  double stepped_to = 0.0;
  std::vector<double> outputs, from;

  const SignalBlock& block() const { return *of->block; }
  std::vector<std::size_t> all_inputs() const {
    std::vector<std::size_t> all(inputs.size());
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = k;
    return all;
  }
};

RunningBlocks::RunningBlocks(const Model& model) : model_(model) {
  for (const Block& block : model.blocks) {
    auto running = std::make_unique<Running>();
    running->of = &block;
    running->z.resize(block.block->states.size());
    running->zdot.resize(block.block->states.size());
    running->inputs.resize(block.inputs.size());
    running->indicators.resize(block.block->indicators);
    running->signs.assign(block.block->indicators, 1.0);
    running->outputs.resize(block.block->outputs.size());
    running_.push_back(std::move(running));
  }
}

RunningBlocks::~RunningBlocks() = default;

void RunningBlocks::begin(const EvaluatedSignals& at, Running& running) {
  running.instance = running.block().instantiate();
  for (std::size_t k = 0; k < running.inputs.size(); ++k) running.inputs[k] = input_value(at, running, k);
  running.t = running.stepped_to = at.state().t;
  running.instance->start(running.t, running.inputs);
  running.begun = true;
  running.next_time = kNever;
  if (running.block().steps()) {
    running.from = running.inputs;
    for (std::size_t o = 0; o < running.outputs.size(); ++o) running.outputs[o] = running.instance->output(o);
    return;
  }
  BlockInstance::Happened happened;
  for (int round = 0; round == 0 || happened.again; ++round) {
    if (round == kMostRounds) throw BlockError(fmt::format("the events of FMU '{}' have no end", running.of->name));
    happened = running.instance->update();
  }
  running.next_time = happened.next_time.value_or(kNever);
  running.instance->leave_event();
  running.instance->get_states(running.z);
  running.rates_known = false;
}

RunningBlocks::Running& RunningBlocks::started(const EvaluatedSignals& at, std::size_t block) {
  Running& running = *running_[block];
  if (!running.begun) begin(at, running);
  return running;
}

void RunningBlocks::start(const EvaluatedSignals& at, VecX<double>& z) {
  for (const std::unique_ptr<Running>& running : running_) running->begun = false;
  stopped_by_.clear();
  wants_event_ = false;
  trouble_.clear();
  // Inputs of one block may be outputs of others, which are begun when they are asked.
  for (std::size_t b = 0; b < running_.size(); ++b) try {
      const Running& running = started(at, b);
      for (std::size_t k = 0; k < running.z.size(); ++k) z[running.of->first_state + static_cast<Eigen::Index>(k)] = running.z[k];
    } catch (const BlockError& error) {
      throw InputError({}, trouble_.empty() ? error.what() : trouble_);
    }
}

/// The instance at the time and states that were last evaluated.
void RunningBlocks::follow(const EvaluatedSignals& at, Running& running) {
  if (running.t != at.state().t) {
    running.t = at.state().t;
    running.instance->set_time(running.t);
    running.rates_known = false;
  }
  bool moved = false;
  for (std::size_t k = 0; k < running.z.size(); ++k) {
    const double z = at.user_state(running.of->first_state + static_cast<int>(k));
    moved = moved || running.z[k] != z;
    running.z[k] = z;
  }
  if (!moved) return;
  running.instance->set_states(running.z);
  running.rates_known = false;
}

/// Throws BlockError if it is not finite.
double RunningBlocks::input_value(const EvaluatedSignals& at, const Running& running, std::size_t input) const {
  using Kind = SignalBlock::Input::Kind;
  const SignalBlock::Input& of = running.block().inputs[input];
  const double value = at.evaluate(running.of->inputs[input]);
  if (!std::isfinite(value)) throw BlockError(fmt::format("the input '{}' of FMU '{}' is {}", of.name, running.of->name, value));
  if (of.kind == Kind::kFlag) return value != 0.0 ? 1.0 : 0.0;
  return of.kind == Kind::kWhole ? std::round(value) : value;
}

void RunningBlocks::set_inputs(const EvaluatedSignals& at, Running& running, std::span<const std::size_t> which, bool discrete) {
  for (const std::size_t k : which) {
    if (running.block().inputs[k].kind != SignalBlock::Input::Kind::kContinuous && !discrete) continue;
    const double value = input_value(at, running, k);
    if (value == running.inputs[k]) continue;
    running.inputs[k] = value;
    running.instance->set_input(k, value);
    running.rates_known = false;
  }
}

template <class Ask>
double RunningBlocks::answer(Ask ask) {
  try {
    return ask();
  } catch (const BlockError& error) {
    // An input that is not finite may be so because another block gave no answer.
    if (trouble_.empty()) trouble_ = error.what();
    return std::numeric_limits<double>::quiet_NaN();
  }
}

double RunningBlocks::output(const EvaluatedSignals& at, int block, int output) {
  return answer([&] {
    Running& running = started(at, static_cast<std::size_t>(block));
    const auto o = static_cast<std::size_t>(output);
    if (running.block().steps()) return running.outputs[o];
    follow(at, running);
    set_inputs(at, running, running.block().outputs[o].depends_on, false);
    return running.instance->output(o);
  });
}

double RunningBlocks::rate(const EvaluatedSignals& at, int block, int state) {
  return answer([&] {
    Running& running = started(at, static_cast<std::size_t>(block));
    follow(at, running);
    set_inputs(at, running, running.all_inputs(), false);
    if (!running.rates_known) running.instance->rates(running.zdot);
    running.rates_known = true;
    return running.zdot[static_cast<std::size_t>(state)];
  });
}

// --- events

/// Inputs that may change at events only: whether one should; with numbers, or whole numbers and Booleans alone.
bool RunningBlocks::has_changed(const EvaluatedSignals& at, bool numbers) {
  using Kind = SignalBlock::Input::Kind;
  for (const std::unique_ptr<Running>& running : running_)
    for (std::size_t k = 0; k < running->inputs.size() && !running->block().steps(); ++k) {
      const Kind kind = running->block().inputs[k].kind;
      const bool counts = kind == Kind::kWhole || kind == Kind::kFlag || (numbers && kind == Kind::kDiscrete);
      if (counts && input_value(at, *running, k) != running->inputs[k]) return true;
    }
  return false;
}

void RunningBlocks::begin_step(const EvaluatedSignals& at) {
  std::vector<double> ignored;
  append_watched(at, ignored);
  for (const std::unique_ptr<Running>& running : running_)
    for (std::size_t k = 0; k < running->indicators.size(); ++k)
      if (running->indicators[k] != 0.0) running->signs[k] = std::copysign(1.0, running->indicators[k]);
}

void RunningBlocks::append_watched(const EvaluatedSignals& at, std::vector<double>& values) {
  for (std::size_t b = 0; b < running_.size(); ++b) {
    if (running_[b]->block().steps()) continue;
    answer([&] {
      Running& running = started(at, b);
      follow(at, running);
      set_inputs(at, running, running.all_inputs(), false);
      running.instance->indicators(running.indicators);
      return 0.0;
    });
    for (std::size_t k = 0; k < running_[b]->indicators.size(); ++k)
      values.push_back(running_[b]->signs[k] * running_[b]->indicators[k]);
  }
  values.push_back(at.state().t < next_time() ? 1.0 : -1.0);
  values.push_back(answer([&] { return has_changed(at, false) ? -1.0 : 1.0; }));
}

double RunningBlocks::next_time() const {
  double next = kNever;
  for (const std::unique_ptr<Running>& running : running_)
    if (!running->block().steps()) next = std::min(next, running->next_time);
  return next;
}

void RunningBlocks::complete_step(const EvaluatedSignals& at) {
  for (std::size_t b = 0; b < running_.size(); ++b) {
    if (running_[b]->block().steps()) continue;
    answer([&] {
      Running& running = started(at, b);
      follow(at, running);
      set_inputs(at, running, running.all_inputs(), false);
      const BlockInstance::StepEnd end = running.instance->complete_step();
      wants_event_ = wants_event_ || end.wants_event;
      if (end.stopped) stopped_by_ = running.of->name;
      return 0.0;
    });
  }
  answer([&] {
    wants_event_ = has_changed(at, true) || wants_event_;
    return 0.0;
  });
}

std::string RunningBlocks::happen(const EvaluatedSignals& at, VecX<double>& z) {
  wants_event_ = false;
  try {
    // What one block does at an event may be what another must be told.
    for (int round = 0; round == 0 || has_changed(at, true); ++round) {
      if (round == kMostRounds) return "events of FMUs set one another off without end";
      for (std::size_t b = 0; b < running_.size(); ++b) {
        if (running_[b]->block().steps()) continue;
        Running& running = started(at, b);
        if (round == 0) follow(at, running);
        set_inputs(at, running, running.all_inputs(), false);
        running.instance->enter_event();
        set_inputs(at, running, running.all_inputs(), true);
        BlockInstance::Happened happened;
        for (int again = 0; again == 0 || happened.again; ++again) {
          if (again == kMostRounds) return fmt::format("the events of FMU '{}' have no end", running.of->name);
          happened = running.instance->update();
        }
        running.next_time = happened.next_time.value_or(kNever);
        if (happened.stopped) stopped_by_ = running.of->name;
        running.instance->leave_event();
        running.instance->get_states(running.z);
        running.rates_known = false;
        for (std::size_t k = 0; k < running.z.size(); ++k)
          z[running.of->first_state + static_cast<Eigen::Index>(k)] = running.z[k];
      }
    }
  } catch (const BlockError& error) {
    return error.what();
  }
  return "";
}

// --- blocks that step by themselves

std::string RunningBlocks::step(const EvaluatedSignals& at, std::size_t block) {
  try {
    Running& running = started(at, block);
    constexpr double kSame = 1e-9;
    const double usual = running.block().step;
    double h = at.state().t - running.stepped_to;
    if (std::abs(h - usual) <= kSame * usual) h = usual;  // an FMU may insist on it
    if (h > kSame * usual) {
      for (std::size_t k = 0; k < running.inputs.size(); ++k) running.inputs[k] = input_value(at, running, k);
      if (running.instance->step(running.stepped_to, h, running.from, running.inputs, running.block().linear))
        stopped_by_ = running.of->name;
      running.stepped_to = at.state().t;
      running.from = running.inputs;
      for (std::size_t o = 0; o < running.outputs.size(); ++o) running.outputs[o] = running.instance->output(o);
    }
  } catch (const BlockError& error) {
    return error.what();
  }
  return "";
}

// --- saving

std::vector<std::string> RunningBlocks::save() {
  std::vector<std::string> saved;
  for (const std::unique_ptr<Running>& running : running_) {
    const std::optional<std::string> bytes = running->begun ? running->instance->save() : std::nullopt;
    if (!bytes)
      throw InputError(
          {}, fmt::format("the FMU '{}' does not tell its state, so that a run with it cannot be saved", running->of->name),
          "an FMU that can serialize its state");
    std::string numbers = fmt::format("{:a} {:a} {:a}", running->next_time, running->stepped_to, running->t);
    for (const std::vector<double>* list : {&running->inputs, &running->outputs, &running->from, &running->signs, &running->z})
      for (const double value : *list) numbers += fmt::format(" {:a}", value);
    saved.push_back(numbers + "|" + hexadecimal(*bytes));
  }
  return saved;
}

void RunningBlocks::restore(const EvaluatedSignals& at, const std::vector<std::string>& saved) {
  if (saved.size() != running_.size()) throw InputError({}, "what was saved has other FMUs");
  for (std::size_t b = 0; b < running_.size(); ++b) {
    Running& running = started(at, b);
    const char* next = saved[b].c_str();
    const auto number = [&] {
      char* end = nullptr;
      const double value = std::strtod(next, &end);
      next = end;
      return value;
    };
    running.next_time = number(), running.stepped_to = number(), running.t = number();
    if (running.block().steps()) running.from.resize(running.inputs.size());
    for (std::vector<double>* list : {&running.inputs, &running.outputs, &running.from, &running.signs, &running.z})
      for (double& value : *list) value = number();
    const std::size_t bar = saved[b].find('|');
    if (bar == std::string::npos || next != saved[b].c_str() + bar) throw InputError({}, "what was saved of an FMU is damaged");
    const std::string bytes = bytes_of(saved[b].substr(bar + 1));
    if (!bytes.empty())
      running.instance->restore(bytes);
    else if (!running.block().steps()) {  // told anew when it is next asked
      running.t = kNever;
      std::ranges::fill(running.z, kNever);
    }
    running.rates_known = false;
  }
}

}  // namespace linkwork
