#include <algorithm>
#include <cstring>

#include "linkwork/linalg/index.h"
#include "linkwork/modules/assembly_system.h"
#include "linkwork/transport/text.h"

namespace linkwork {

std::size_t AssemblySystem::part_count() const { return at(plan_.module_count()) + plan_.couplings.size() + (watch_ ? 1 : 0); }

/// Every rank sends what its modules and couplings are at, bit by bit: which it is, then sizes and numbers of state and memory.
void AssemblySystem::save(const Moment& now, SavedRun& saved) {
  spread(now.y, x_);
  std::vector<double> own;
  const auto add = [&](const auto& numbers) {
    own.push_back(static_cast<double>(std::size(numbers)));
    own.insert(own.end(), std::begin(numbers), std::end(numbers));
  };
  for (std::size_t i = 0; i < x_.size(); ++i) {
    own.push_back(workshop_->modules()[i].index);
    add(workshop_->modules()[i].module->save(x_[i]));
    add(workshop_->modules()[i].module->memory());
  }
  for_each_coupling([&](std::size_t k, const Coupling& coupling) {
    if (!glue_->coupled()->is_owner(k)) return;
    own.push_back(static_cast<double>(at(plan_.module_count()) + k));
    add(std::vector<double>{});
    add(coupling.memory());
  });
  const std::string bytes(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double));
  saved.parts.resize(part_count());
  if (watch_) watch_->save(saved.switching, saved.parts.back().memory);
  // A rank that has only its own part goes on with that.
  std::vector<std::string> texts = plan_.is_whole() ? gather_texts(transport_, bytes) : collect_texts(transport_, bytes);
  if (texts.empty()) texts = {bytes};
  for (const std::string& text : texts) {
    std::vector<double> numbers(text.size() / sizeof(double));
    if (!text.empty()) std::memcpy(numbers.data(), text.data(), text.size());
    auto from = numbers.begin();
    const auto take = [&](std::vector<double>& to) {
      const auto count = static_cast<std::ptrdiff_t>(*from++);
      to.assign(from, from + count);
      from += count;
    };
    while (from != numbers.end()) {
      SavedPart& part = saved.parts[static_cast<std::size_t>(*from++)];
      take(part.x);
      take(part.memory);
    }
  }
  saved.glue = glue_->memory();
  saved.summary.modules = account_;
  saved.glue_notes = notes_;
  for (const std::string& note : glue_->remarks()) saved.glue_notes.push_back(note);
}

bool AssemblySystem::accepts(const SavedRun& saved) {
  bool fits = saved.parts.size() == part_count() && saved.glue.size() >= glue_->memory().size() &&
              saved.summary.modules.has_value() && (!is_first_rank() || saved.row.size() == columns().size());
  for (std::size_t i = 0; fits && i < start_.size(); ++i) {
    const WorkingModule& module = workshop_->modules()[i];
    const SavedPart& part = saved.parts[at(module.index)];
    fits = module.module->accepts(part.x) && part.memory.size() == module.module->memory().size();
  }
  for_each_coupling([&](std::size_t k, const Coupling& coupling) {
    fits = fits && saved.parts[at(plan_.module_count()) + k].memory.size() == coupling.memory().size();
  });
  fits = fits && (!watch_ || watch_->accepts(saved.switching, saved.parts.back().memory));
  return all_said(transport_, fits ? "" : "no").empty();
}

Status AssemblySystem::restore(const SavedRun& saved, Moment& at, VecX<double>& rates) {
  traffic_before_ += workshop_->transport().traffic();
  module_seconds_before_ += workshop_->seconds_in_modules();
  const Placement placement = workshop_->placement();
  round_trips_before_ += workshop_->round_trips();
  glue_.reset();
  try {
    make_modules(placement);
  } catch (const InputError& error) {  // a host was lost since: those from before are still there
    glue_ = entry_.make(*workshop_, options_);
    return {error.what()};
  }
  for (std::size_t i = 0; i < x_.size(); ++i) {
    WorkingModule& module = workshop_->modules()[i];
    const SavedPart& part = saved.parts[static_cast<std::size_t>(module.index)];
    if (const Status status = module.module->restore(part.x, x_[i]); !status.ok()) workshop_->report(module, status.trouble);
    module.module->set_memory(part.memory);
  }
  glue_ = entry_.make(*workshop_, options_);
  tell_inputs();
  glue_->set_memory(saved.glue);
  const std::span<const SavedPart> of_couplings = std::span(saved.parts).subspan(static_cast<std::size_t>(plan_.module_count()));
  for_each_coupling([&](std::size_t k, Coupling& coupling) { coupling.set_memory(of_couplings[k].memory); });
  if (watch_) watch_->restore(saved.switching, saved.parts.back().memory, saved.t);
  account_ = *saved.summary.modules;
  notes_ = saved.glue_notes;
  evaluations_ = 0;
  at.t = saved.t;
  at.y.resize(begin().y.size());
  collect(x_, at.y);
  Status status{workshop_->everyones_trouble()};
  if (status.ok()) status = evaluate(at, rates);
  if (status.ok()) hold(at, rates);
  remember_ranks();
  return status;
}

}  // namespace linkwork
