#include "linkwork/modules/remote/remote_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "linkwork/model/input_error.h"

namespace linkwork {

namespace {

/// "q.phi" of the module "right" is "q.right.phi".
std::string with_module(const std::string& column, const std::string& module) {
  const std::size_t dot = column.find('.');
  return dot == std::string::npos ? fmt::format("s.{}.{}", module, column)
                                  : fmt::format("{}.{}{}", column.substr(0, dot), module, column.substr(dot));
}

// Bytes as numbers that every format of files keeps: six in each.
constexpr std::size_t kBytes = 6;
std::vector<double> numbers_of(const std::string& bytes) {
  std::vector<double> numbers{static_cast<double>(bytes.size())};
  for (std::size_t first = 0; first < bytes.size(); first += kBytes) {
    std::uint64_t packed = 0;
    for (std::size_t k = 0; k < std::min(kBytes, bytes.size() - first); ++k)
      packed |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[first + k])) << (8 * k);
    numbers.push_back(static_cast<double>(packed));
  }
  return numbers;
}
std::string bytes_of(const std::vector<double>& numbers) {
  const double size = numbers.empty() ? 0.0 : numbers[0];
  if (!(size >= 0.0 && size <= static_cast<double>(kBytes * (numbers.size() - 1)))) return {};
  std::string bytes;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (!(numbers[i] >= 0.0 && numbers[i] < 281474976710656.0)) return {};
    const auto packed = static_cast<std::uint64_t>(numbers[i]);
    for (std::size_t k = 0; k < kBytes; ++k) bytes.push_back(static_cast<char>(packed >> (8 * k)));
  }
  bytes.resize(static_cast<std::size_t>(size));
  return bytes;
}

std::vector<double> list_of(const VecX<double>& x) { return {x.begin(), x.end()}; }

bool all_finite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

}  // namespace

RemoteModule::RemoteModule(std::string name, std::shared_ptr<RemoteHost> host, remote::Open request)
    : name_(std::move(name)),
      host_(std::move(host)),
      trips_before_(host_->round_trips()),
      request_(std::move(request)),
      opened_(host_->open(*this)) {
  try {
    check(opened_);
  } catch (const InputError&) {
    host_->close(*this);
    throw;
  }
  for (const std::string& column : opened_.columns) columns_.push_back(with_module(column, name_));
  age_.assign(request_.slots, 0);
  is_rate_.assign(request_.slots, 0);
  held_.assign(request_.slots, 0);
}

RemoteModule::~RemoteModule() { host_->close(*this); }

// --- slots

std::uint32_t RemoteModule::new_slot(bool is_rate) {
  for (std::uint32_t looked = 0; held_[next_] != 0; ++looked) {
    if (looked > request_.slots) throw std::logic_error("all slots of a module on another host are held");
    next_ = (next_ + 1) % request_.slots;
  }
  const std::uint32_t slot = next_;
  next_ = (next_ + 1) % request_.slots;
  age_[slot] = ++given_;
  is_rate_[slot] = is_rate ? 1 : 0;
  return slot;
}

VecX<double> RemoteModule::only(std::uint32_t slot) const { return VecX<double>::Unit(state_size(), slot); }

/// States before rates, older ones first: the order in which integrators add them up.
std::vector<std::uint32_t> RemoteModule::slots_in(const VecX<double>& x) const {
  std::vector<std::uint32_t> used;
  for (std::uint32_t slot = 0; slot < request_.slots; ++slot)
    if (x[slot] != 0.0) used.push_back(slot);
  std::ranges::sort(used, {}, [&](std::uint32_t slot) { return std::pair(is_rate_[slot], age_[slot]); });
  return used;
}

remote::StateSum RemoteModule::sum(const VecX<double>& x) const {
  remote::StateSum terms{slots_in(x), {}, x[slots()] != 0.0};
  for (const std::uint32_t slot : terms.slots) terms.weights.push_back(x[slot]);
  return terms;
}

void RemoteModule::start(VecX<double>& x) { x = only(0); }

void RemoteModule::normalize(VecX<double>& x) const { x[slots()] = 1.0; }

/// Even if it is in a slot already: evaluated, it may have been settled.
void RemoteModule::keep_state(VecX<double>& x) {
  const std::uint32_t slot = new_slot(false);
  plan(&remote::Action::keep).slot = slot;
  x = only(slot);
}

void RemoteModule::hold(double t, const VecX<double>& x, const VecX<double>& rates) {
  std::ranges::fill(held_, 0);
  to_keep_ = {{}, slots_in(x), {t, sum(x), static_cast<std::uint32_t>(Level::kAcceleration)}};
  for (const std::uint32_t slot : slots_in(rates)) to_keep_.slots.push_back(slot);
  for (const std::uint32_t slot : to_keep_.slots) held_[slot] = 1;
  plan(&remote::Action::save).slots = to_keep_.slots;
}

// --- questions and answers

template <class Message>
Message& RemoteModule::plan(std::optional<Message> remote::Action::*which) {
  return (planned_.emplace_back().*which).emplace();
}

/// All that is planned.
void RemoteModule::ask() {
  if (waiting_) finish();
  asked_ = std::move(planned_);
  planned_.clear();
  waiting_ = true;
  host_->add(*this, asked_);
}

void RemoteModule::send() { host_->send(); }

/// Waits for the answer to what was asked.
Status RemoteModule::finish() {
  host_->finish();
  waiting_ = false;
  if (!host_->lost().empty()) return {host_->lost()};
  return {std::exchange(trouble_, {})};
}

void RemoteModule::take(remote::ModuleAnswer answer) {
  constexpr std::size_t kMostMessages = 20'000;
  trouble_ = std::move(answer.trouble);
  remarks_.insert(remarks_.end(), answer.remarks.begin(), answer.remarks.end());
  // Trouble with what only came along is none yet.
  const auto evaluations =
      std::ranges::count_if(answer.results, [](const remote::Result& x) { return x.evaluation.has_value(); });
  const auto asked = std::ranges::count_if(asked_, [](const remote::Action& x) { return x.evaluate.has_value(); });
  has_ahead_ = asked == 2 && evaluations == 2 && trouble_.empty();
  if (asked == 2 && evaluations == 2) trouble_.clear();
  bool is_first = true;
  auto result = answer.results.begin();
  std::size_t kept_after = 0;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const remote::Action& action = asked_[i];
    if (!action.evaluate && !action.record && !action.weigh && !action.save && !action.size) continue;
    if (result == answer.results.end()) {
      if (trouble_.empty()) trouble_ = "its host answers nonsense: not everything that was asked";
      break;
    }
    if (action.evaluate && result->evaluation)
      (std::exchange(is_first, false) ? evaluation_ : ahead_) = std::move(*result->evaluation);
    else if (action.record && result->recording)
      recorded_ = std::move(*result->recording);
    else if (action.weigh && result->weighed)
      weighed_ = *result->weighed;
    else if (action.size && result->sizes)
      sizes_ = *result->sizes;
    else if (action.save && result->saved)
      saved_ = std::move(*result->saved);
    else
      trouble_ = "its host answers nonsense: something else than was asked";
    if (action.save && action.save->slots == to_keep_.slots && !to_keep_.slots.empty()) {
      to_keep_.saved = saved_;
      kept_ = std::exchange(to_keep_, {});
      kept_after = i + 1;
    }
    ++result;
  }
  if (kept_after > 0) {
    log_.clear();
    can_replay_ = true;
    asked_.erase(asked_.begin(), asked_.begin() + static_cast<std::ptrdiff_t>(kept_after));
  }
  if (!can_replay_) return;
  log_.push_back(std::move(asked_));
  if (log_.size() > kMostMessages) {
    log_.clear();
    can_replay_ = false;
  }
}

std::vector<std::vector<remote::Action>> RemoteModule::replay() const {
  std::vector<std::vector<remote::Action>> messages;
  if (kept_) {
    std::vector<remote::Action>& first = messages.emplace_back();
    first.emplace_back().restore = {kept_->saved, kept_->slots};
    first.emplace_back().evaluate = kept_->at;
  }
  messages.insert(messages.end(), log_.begin(), log_.end());
  return messages;
}

/// Whether a state meets the constraints is asked before its accelerations, and as a rule it does: these come along.
void RemoteModule::expect(double t, const VecX<double>& x, Level level) {
  remote::Evaluate evaluate{t, sum(x), static_cast<std::uint32_t>(level)};
  const auto is_last = [&] {
    return last_ && last_->t == t && last_->state->slots == evaluate.state->slots &&
           last_->state->weights == evaluate.state->weights && last_->state->normalize == evaluate.state->normalize;
  };
  expected_ = level;
  ready_ = level == Level::kAcceleration && has_ahead_ && is_last();
  has_ahead_ = false;
  if (ready_) {
    std::swap(evaluation_, ahead_);
    return;
  }
  last_ = evaluate;
  plan(&remote::Action::evaluate) = evaluate;
  if (level != Level::kAcceleration) {
    evaluate.level = static_cast<std::uint32_t>(Level::kAcceleration);
    plan(&remote::Action::evaluate) = evaluate;
  }
  ask();
}

Status RemoteModule::kinematics(double t, const VecX<double>& x, std::span<PortMotion> ports) {
  if (!(waiting_ && expected_) && !ready_) expect(t, x, Level::kAcceleration);
  ready_ = false;
  if (Status status = waiting_ ? finish() : Status{}; !status.ok()) {
    expected_.reset();
    return status;
  }
  if (Status status = check(evaluation_, t); !status.ok()) {
    expected_.reset();
    return status;
  }
  const double* from = evaluation_.motion.data();
  for (PortMotion& port : ports) {
    std::copy_n(from, 9, port.R.data());
    std::copy_n(from + 9, 3, port.p.data());
    std::copy_n(from + 12, 3, port.w.data());
    std::copy_n(from + 15, 3, port.v.data());
    from += 18;
  }
  return {};
}

Status RemoteModule::response(Level level, PortResponse& response) {
  if (!expected_) return {"nothing was asked about its motion"};
  if (*expected_ != level) {
    last_->level = static_cast<std::uint32_t>(level);
    plan(&remote::Action::evaluate) = *last_;
    expected_ = level;
    ask();
    Status status = finish();
    if (status.ok()) status = check(evaluation_, last_->t);
    if (!status.ok()) {
      expected_.reset();
      return status;
    }
  }
  std::ranges::copy(evaluation_.D, response.D.data());
  std::ranges::copy(evaluation_.R, response.R.data());
  std::ranges::copy(evaluation_.scale, response.scale.data());
  return {};
}

Status RemoteModule::advance(Level level, const VecX<double>& Q, VecX<double>& out) {
  const std::uint32_t slot = new_slot(level == Level::kAcceleration);
  plan(&remote::Action::advance) = {static_cast<std::uint32_t>(level), list_of(Q), slot};
  out = only(slot);
  return {};
}

/// What another program answers is looked at before it is used.
void RemoteModule::check(const remote::Opened& opened) const {
  constexpr std::size_t kMostColumns = 100'000;
  const auto nonsense = [&](const std::string& what) {
    throw InputError({}, fmt::format("its host {} answers nonsense: {}", host_->name(), what));
  };
  if (!(opened.length >= 0.0 && opened.mass >= 0.0 && std::isfinite(opened.length) && std::isfinite(opened.mass)))
    nonsense(fmt::format("a length of {} m, a mass of {} kg", opened.length, opened.mass));
  const auto is_bad = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F || c == ',' || c == '"'; };
  for (const std::string& column : opened.columns)
    if (column.empty() || opened.columns.size() > kMostColumns || std::ranges::any_of(column, is_bad))
      nonsense("its columns cannot be those of a table");
}

Status RemoteModule::check(const remote::Evaluation& evaluation, double t) const {
  constexpr double kRotation = 1e-6, kSymmetry = 1e-8;
  const auto nonsense = [&](const std::string& what) {
    return Status{fmt::format("its host {} answers nonsense at t = {:.9g} s: {}", host_->name(), t, what)};
  };
  const std::size_t ports = request_.ports.size(), six = 6 * ports;
  if (evaluation.motion.size() != 18 * ports || evaluation.D.size() != six * six || evaluation.R.size() != six ||
      evaluation.scale.size() != six)
    return nonsense(fmt::format("{}, {}, {} and {} numbers of motion, D, R and scale in place of {}, {}, {} and {}",
                                evaluation.motion.size(), evaluation.D.size(), evaluation.R.size(), evaluation.scale.size(),
                                18 * ports, six * six, six, six));
  const std::pair<const char*, const std::vector<double>*> lists[] = {
      {"the motion of its ports", &evaluation.motion}, {"D", &evaluation.D}, {"R", &evaluation.R}, {"scale", &evaluation.scale}};
  for (const auto& [what, list] : lists)
    if (!all_finite(*list)) return nonsense(fmt::format("{} is not a finite number", what));
  if (!all_finite({evaluation.position_error, evaluation.velocity_error, evaluation.speed}))
    return nonsense("its errors are not finite numbers");
  for (std::size_t p = 0; p < ports; ++p) {
    const Mat3<double> R = Eigen::Map<const Mat3<double>>(&evaluation.motion[18 * p]);
    if (!(R.transpose() * R).isIdentity(kRotation) || R.determinant() < 0.0)
      return nonsense(fmt::format("the orientation of its port '{}' is no rotation", request_.ports[p]));
  }
  double largest = 0.0;
  for (const double x : evaluation.D) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < six; ++i) {
    if (evaluation.D[i + six * i] < -kSymmetry * largest)
      return nonsense("a port moves against the force on it: D is not positive");
    for (std::size_t j = 0; j < i; ++j)
      if (const double a = evaluation.D[i + six * j], b = evaluation.D[j + six * i]; std::abs(a - b) > kSymmetry * largest)
        return nonsense(fmt::format("D is not symmetric: D({0},{1}) = {2:.9g}, D({1},{0}) = {3:.9g}", i + 1, j + 1, a, b));
  }
  return {};
}

ModuleErrors RemoteModule::errors() const { return {evaluation_.position_error, evaluation_.velocity_error, evaluation_.speed}; }

bool RemoteModule::set_input(const std::string& name, std::optional<double> value) {
  const std::string own = name.starts_with(name_ + ".") ? name.substr(name_.size() + 1) : name;
  if (std::ranges::find(opened_.inputs, own) == opened_.inputs.end()) return false;
  plan(&remote::Action::set_input) = {own, value};
  return true;
}

void RemoteModule::accept_step(Remarks& remarks) {
  plan(&remote::Action::accept);
  for (remote::Remark& remark : remarks_)
    remarks.add(remark.t, name_ + ": " + remark.about, fmt::format("module '{}': {}", name_, remark.text));
  remarks_.clear();
}

void RemoteModule::expect_record(const VecX<double>& Q) {
  plan(&remote::Action::record).forces = list_of(Q);
  recording_ = true;
  ask();
}

Status RemoteModule::record(const VecX<double>& Q, std::span<double> row) {
  if (!recording_) expect_record(Q);
  recording_ = false;
  if (Status status = finish(); !status.ok()) return status;
  if (recorded_.row.size() != row.size())
    return {
        fmt::format("its host {} answers nonsense: {} numbers for {} columns", host_->name(), recorded_.row.size(), row.size())};
  if (!all_finite({recorded_.kinetic, recorded_.potential, recorded_.work}))
    return {fmt::format("its host {} answers nonsense: its energies are not finite numbers", host_->name())};
  std::ranges::copy(recorded_.row, row.begin());
  energy_ = {recorded_.kinetic, recorded_.potential, recorded_.work};
  return {};
}

WeighedError RemoteModule::weighed_error(const VecX<double>& from, const VecX<double>& to, const VecX<double>& error, double rtol,
                                         double atol) {
  plan(&remote::Action::weigh) = {sum(from), sum(to), sum(error), rtol, atol};
  ask();
  if (Status status = finish(); !status.ok()) return {std::nan(""), 1.0};
  return {weighed_.sum, weighed_.count};
}

void RemoteModule::glide(const VecX<double>& from, double h, const Glide& by, VecX<double>& to) {
  const remote::StateSum base = sum(from);
  const std::uint32_t slot = new_slot(false);
  plan(&remote::Action::glide) = {base, h, sum(by.moves), sum(by.speeds), sum(by.rest), slot};
  to = only(slot);
}

void RemoteModule::keep_sum(VecX<double>& rates) {
  remote::StateSum terms = sum(rates);
  const std::uint32_t slot = new_slot(true);
  plan(&remote::Action::combine) = {std::move(terms), slot};
  rates = only(slot);
}

std::pair<double, double> RemoteModule::largest_accelerations(const VecX<double>& a, const VecX<double>& b) {
  plan(&remote::Action::size) = {sum(a), sum(b)};
  ask();
  if (Status status = finish(); !status.ok()) return {std::nan(""), 1.0};
  return {sizes_.a, sizes_.b};
}

// --- save, go on

std::vector<double> RemoteModule::save(const VecX<double>& x) {
  const std::vector<std::uint32_t> used = slots_in(x);
  if (used.size() != 1) throw std::logic_error("a module on another host saves states that were evaluated");
  plan(&remote::Action::save).slots = used;
  ask();
  if (Status status = finish(); !status.ok()) return {};
  return numbers_of(saved_);
}

Status RemoteModule::restore(const std::vector<double>& saved, VecX<double>& x) {
  const std::uint32_t slot = new_slot(false);
  plan(&remote::Action::restore) = {bytes_of(saved), {slot}};
  ask();
  x = only(slot);
  return finish();
}

}  // namespace linkwork
