#include "linkwork/modules/remote/module_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "linkwork/model/input_error.h"
#include "linkwork/version.h"

namespace linkwork {

namespace {

/// A request that is well formed and makes no sense.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Level level_of(std::uint32_t number) {
  if (number > static_cast<std::uint32_t>(Level::kAcceleration)) throw Refusal(fmt::format("there is no level {}", number));
  return static_cast<Level>(number);
}

template <class Slots>
auto& slot_of(Slots& slots, std::uint32_t number) {
  if (number >= slots.size()) throw Refusal(fmt::format("there is no slot {}: {} were asked for", number, slots.size()));
  return slots[number];
}

/// The numbers of a state that were given with their weights, in the order of an explicit Runge-Kutta method, to the same bits.
VecX<double> sum_of(const std::vector<VecX<double>>& slots, const std::optional<remote::StateSum>& state, int size,
                    bool may_be_none = false) {
  if (may_be_none && (!state || state->slots.empty())) return VecX<double>::Zero(size);
  if (!state || state->slots.empty() || state->slots.size() != state->weights.size())
    throw Refusal("a state is the sum of slots, each with its weight");
  VecX<double> sum;
  for (std::size_t k = 0; k < state->slots.size(); ++k) {
    const VecX<double>& slot = slot_of(slots, state->slots[k]);
    if (slot.size() != size) throw Refusal(fmt::format("nothing was put into slot {}", state->slots[k]));
    if (k == 0)
      sum = state->weights[k] * slot;
    else
      sum += state->weights[k] * slot;
  }
  return sum;
}

VecX<double> forces_of(const std::vector<double>& forces, const Module& module) {
  if (std::ssize(forces) != 6 * module.port_count())
    throw Refusal(fmt::format("{} numbers are no forces on {} ports", forces.size(), module.port_count()));
  return Eigen::Map<const VecX<double>>(forces.data(), std::ssize(forces));
}

bool is_shown(const ServedModule& served, std::size_t column) {
  return !served.shown || std::ranges::find(*served.shown, column) != served.shown->end();
}

/// About as many bytes as a result has in a message.
std::size_t size_of(const remote::Result& result) {
  std::size_t numbers = 8;
  if (const auto& x = result.evaluation) numbers += x->motion.size() + x->D.size() + x->R.size() + x->scale.size();
  if (const auto& x = result.recording) numbers += x->row.size();
  return numbers * sizeof(double) + (result.saved ? result.saved->size() : 0);
}

std::vector<double> list_of(const auto& numbers) { return {numbers.data(), numbers.data() + numbers.size()}; }

// What is saved: doubles as bytes, each list with its length before it.
void put(std::string& text, const double* numbers, std::size_t count) {
  const auto add = [&](const void* data, std::size_t size) { text.append(static_cast<const char*>(data), size); };
  const auto length = static_cast<double>(count);
  add(&length, sizeof length);
  add(numbers, count * sizeof(double));
}
std::vector<double> take(std::string_view& text) {
  const auto get = [&](void* to, std::size_t size) {
    if (size > text.size()) throw Refusal("what was saved is cut off");
    if (size > 0) std::memcpy(to, text.data(), size);
    text.remove_prefix(size);
  };
  double length = 0.0;
  get(&length, sizeof length);
  if (!(length >= 0.0 && length * sizeof(double) <= static_cast<double>(text.size()))) throw Refusal("what was saved is cut off");
  std::vector<double> numbers(static_cast<std::size_t>(length));
  get(numbers.data(), numbers.size() * sizeof(double));
  return numbers;
}

}  // namespace

std::string Conversation::answer(std::string_view text) {
  const auto request = WireReader::message<remote::Request>(text);
  remote::Reply reply;
  reply.number = request.number;
  try {
    if (request.hello) {
      reply.welcome = greet(*request.hello);
    } else if (version_ == 0) {
      throw Refusal("a conversation begins with Hello");
    } else if (request.open) {
      reply.opened = open(*request.open);
    } else if (request.ask) {
      reply.answer = ask(*request.ask);
    } else if (request.close) {
      close(*request.close);
    } else {
      throw Refusal("a request is Hello, Open, Ask or Close");
    }
  } catch (const Refusal& refusal) {
    reply.refusal = refusal.what();
  } catch (const InputError& error) {
    reply.refusal = error.message();  // without the place: that is the owner's
  }
  return WireWriter::text(reply);
}

remote::Welcome Conversation::greet(const remote::Hello& hello) {
  if (hello.last_version < remote::kFirstVersion || hello.first_version > remote::kLastVersion)
    throw Refusal(fmt::format("the run speaks versions {} to {} of the contract, this host {} to {}", hello.first_version,
                              hello.last_version, remote::kFirstVersion, remote::kLastVersion));
  version_ = std::min(hello.last_version, remote::kLastVersion);
  remote::Welcome welcome{version_, "linkwork " LINKWORK_VERSION, {}};
  for (const auto& [name, make] : parts_) welcome.parts.push_back(name);
  return welcome;
}

remote::Opened Conversation::open(const remote::Open& request) {
  if (modules_.size() >= limits_.most_modules)
    throw Refusal(fmt::format("a conversation may open {} modules at a time", limits_.most_modules));
  if (request.slots < 1 || request.slots > limits_.most_slots)
    throw Refusal(fmt::format("{} slots were asked for, 1 to {} are to be had", request.slots, limits_.most_slots));
  if (request.ports.size() > limits_.most_ports) throw Refusal(fmt::format("a module may have {} ports", limits_.most_ports));
  if (!request.gravity.empty() && request.gravity.size() != 3) throw Refusal("gravity has three components");
  const auto found = parts_.find(request.part);
  if (found == parts_.end()) {
    std::vector<std::string> names;
    for (const auto& [name, make] : parts_) names.push_back(name);
    throw unknown_name({}, "part", request.part, names);
  }
  Opened opened{
      .part = request.part, .served = found->second(request), .slots = {}, .x = {}, .level = {}, .motion = {}, .remarks = {}};
  Module& module = *opened.served.module;
  if (module.port_count() != std::ssize(request.ports))
    throw Refusal(
        fmt::format("the part '{}' has {} ports, {} were asked for", request.part, module.port_count(), request.ports.size()));
  opened.slots.resize(request.slots);
  opened.motion.resize(request.ports.size());
  opened.response = PortResponse(module.port_count());
  module.start(opened.slots[0]);
  opened.x = opened.slots[0];
  remote::Opened answer{++opened_, {}, opened.served.inputs, opened.served.length, opened.served.mass, module.glides()};
  for (std::size_t c = 0; c < module.columns().size(); ++c)
    if (is_shown(opened.served, c)) answer.columns.push_back(module.columns()[c]);
  modules_.emplace(opened_, std::move(opened));
  return answer;
}

void Conversation::close(const remote::Close& request) {
  if (modules_.erase(request.module) == 0) throw Refusal(fmt::format("there is no module {}", request.module));
}

remote::Answer Conversation::ask(const remote::Ask& request) {
  std::size_t actions = 0;
  for (const remote::Call& call : request.calls) actions += call.actions.size();
  if (actions > limits_.most_actions || request.calls.size() > limits_.most_modules)
    throw Refusal(fmt::format("a message may ask for {} actions of {} modules", limits_.most_actions, limits_.most_modules));
  remote::Answer answer;
  std::size_t bytes = 0;
  for (const remote::Call& call : request.calls) {
    const auto found = modules_.find(call.module);
    if (found == modules_.end()) throw Refusal(fmt::format("there is no module {}", call.module));
    Opened& module = found->second;
    remote::ModuleAnswer& own = answer.modules.emplace_back();
    own.module = call.module;
    for (const remote::Action& action : call.actions) {
      const std::size_t before = own.results.size();
      if (const Status status = act(module, action, own.results); !status.ok()) {
        own.trouble = status.trouble;
        break;
      }
      if (own.results.size() > before) bytes += size_of(own.results.back());
      if (bytes > limits_.most_answer_bytes)
        throw Refusal(fmt::format("the answer would be longer than {} bytes", limits_.most_answer_bytes));
    }
    for (; module.remarks_told < module.remarks.all().size(); ++module.remarks_told) {
      const Remarks::Remark& remark = module.remarks.all()[module.remarks_told];
      own.remarks.push_back({remark.t, remark.about, remark.text});
    }
  }
  return answer;
}

Status Conversation::act(Opened& module, const remote::Action& action, std::vector<remote::Result>& results) const {
  if (action.advance) return advance(module, *action.advance);
  if (action.evaluate) return evaluate(module, *action.evaluate, results.emplace_back().evaluation.emplace());
  if (action.record) return record(module, *action.record, results.emplace_back().recording.emplace());
  if (action.keep) {
    module.served.module->settle(module.x);
    slot_of(module.slots, action.keep->slot) = module.x;
  } else if (action.accept)
    module.served.module->accept_step(module.remarks);
  else if (action.set_input)
    module.served.module->set_input(action.set_input->name, action.set_input->value);
  else if (action.weigh)
    results.emplace_back().weighed = weigh(module, *action.weigh);
  else if (action.save)
    results.emplace_back().saved = save(module, *action.save);
  else if (action.restore)
    restore(module, *action.restore);
  else if (action.glide)
    glide(module, *action.glide);
  else if (action.combine)
    slot_of(module.slots, action.combine->slot) =
        sum_of(module.slots, action.combine->sum, module.served.module->state_size(), true);
  else if (action.size)
    results.emplace_back().sizes = size(module, *action.size);
  else
    throw Refusal("an action is none of those of the contract");
  return {};
}

Status Conversation::evaluate(Opened& module, const remote::Evaluate& action, remote::Evaluation& result) const {
  Module& own = *module.served.module;
  const Level level = level_of(action.level);
  module.x = sum_of(module.slots, action.state, own.state_size());
  if (!module.x.allFinite()) return {fmt::format("its state at t = {:.9g} s is not a finite number", action.t)};
  if (action.state->normalize) own.normalize(module.x);
  module.t = action.t;
  module.level.reset();
  if (Status status = own.kinematics(action.t, module.x, module.motion); !status.ok()) return status;
  if (Status status = own.response(level, module.response); !status.ok()) return status;
  module.level = level;
  for (const PortMotion& motion : module.motion) {
    result.motion.insert(result.motion.end(), motion.R.data(), motion.R.data() + 9);
    for (const Vec3<double>& x : {motion.p, motion.w, motion.v})
      result.motion.insert(result.motion.end(), x.data(), x.data() + 3);
  }
  result.D = list_of(module.response.D), result.R = list_of(module.response.R), result.scale = list_of(module.response.scale);
  const ModuleErrors errors = own.errors();
  result.position_error = errors.position, result.velocity_error = errors.velocity, result.speed = errors.speed;
  result.rank = static_cast<std::uint32_t>(std::max(0, own.rank())),
  result.dof = static_cast<std::uint32_t>(std::max(0, own.dof()));
  return {};
}

Status Conversation::advance(Opened& module, const remote::Advance& action) const {
  Module& own = *module.served.module;
  const Level level = level_of(action.level);
  VecX<double>& slot = slot_of(module.slots, action.slot);
  const VecX<double> Q = forces_of(action.forces, own);
  if (!module.level) throw Refusal("nothing was evaluated that could be advanced");
  if (level != *module.level) {
    if (Status status = own.response(level, module.response); !status.ok()) return status;
    module.level = level;
  }
  VecX<double> out = module.x;
  if (Status status = own.advance(level, Q, out); !status.ok()) return status;
  if (!out.allFinite())
    return {fmt::format("its {} at t = {:.9g} s is not a finite number",
                        level == Level::kAcceleration ? "rate of change" : "state", module.t)};
  slot = std::move(out);
  return {};
}

Status Conversation::record(Opened& module, const remote::Record& action, remote::Recording& result) const {
  Module& own = *module.served.module;
  if (!module.level) throw Refusal("nothing was evaluated that could be recorded");
  std::vector<double> row(own.columns().size());
  if (Status status = own.record(forces_of(action.forces, own), row); !status.ok()) return status;
  for (std::size_t c = 0; c < row.size(); ++c)
    if (is_shown(module.served, c)) result.row.push_back(row[c]);
  const ModuleEnergy energy = own.energy();
  result.kinetic = energy.kinetic, result.potential = energy.potential, result.work = energy.work;
  return {};
}

remote::Weighed Conversation::weigh(Opened& module, const remote::Weigh& action) const {
  Module& own = *module.served.module;
  const auto sum = [&](const std::optional<remote::StateSum>& state) { return sum_of(module.slots, state, own.state_size()); };
  VecX<double> to = sum(action.to);
  if (action.to->normalize) own.normalize(to);
  const WeighedError weighed = own.weighed_error(sum(action.from), to, sum(action.error), action.rtol, action.atol);
  return {weighed.sum, weighed.count};
}

void Conversation::glide(Opened& module, const remote::Gliding& action) const {
  Module& own = *module.served.module;
  if (!own.glides()) throw Refusal("the module does not say which of its numbers are velocities");
  const auto sum = [&](const std::optional<remote::StateSum>& state, bool may_be_none) {
    return sum_of(module.slots, state, own.state_size(), may_be_none);
  };
  VecX<double> from = sum(action.from, false);
  if (action.from->normalize) own.normalize(from);
  VecX<double> to = from;
  own.glide(from, action.h, {sum(action.moves, true), sum(action.speeds, true), sum(action.rest, true)}, to);
  slot_of(module.slots, action.slot) = std::move(to);
}

remote::Sizes Conversation::size(Opened& module, const remote::Size& action) const {
  Module& own = *module.served.module;
  if (!own.glides()) throw Refusal("the module does not say which of its numbers are velocities");
  const auto [a, b] = own.largest_accelerations(sum_of(module.slots, action.a, own.state_size(), true),
                                                sum_of(module.slots, action.b, own.state_size(), true));
  return {a, b};
}

std::string Conversation::save(const Opened& module, const remote::Save& action) const {
  if (action.slots.size() > module.slots.size()) throw Refusal("more slots are to be saved than there are");
  std::string text = module.part + '\0';
  for (const std::uint32_t number : action.slots) {
    const VecX<double>& slot = slot_of(module.slots, number);
    put(text, slot.data(), static_cast<std::size_t>(slot.size()));
  }
  const std::vector<double> memory = module.served.module->memory();
  put(text, memory.data(), memory.size());
  return sealer_.seal(text);
}

void Conversation::restore(Opened& module, const remote::Restore& action) const {
  const std::optional<std::string> opened = sealer_.open(action.saved);
  if (!opened || !opened->starts_with(module.part + '\0'))
    throw Refusal("what was saved is not of this part of this host, or of a host with another key");
  std::string_view text = *opened;
  text.remove_prefix(module.part.size() + 1);
  Module& own = *module.served.module;
  for (const std::uint32_t number : action.slots) {
    const std::vector<double> numbers = take(text);
    if (std::ssize(numbers) != own.state_size()) throw Refusal("what was saved is of another module");
    slot_of(module.slots, number) = Eigen::Map<const VecX<double>>(numbers.data(), std::ssize(numbers));
  }
  const std::vector<double> memory = take(text);
  if (memory.size() != own.memory().size()) throw Refusal("what was saved is of another module");
  own.set_memory(memory);
}

}  // namespace linkwork
