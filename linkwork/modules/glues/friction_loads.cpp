#include "linkwork/modules/glues/friction_loads.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>

#include "linkwork/transport/text.h"

namespace linkwork {

/// Calls visit(number, part, owned) for the modules of this rank and the couplings that it evaluates.
template <class Visit>
void FrictionLoads::for_each_part(Visit visit) {
  for (WorkingModule& module : workshop_.modules())
    if (SwitchedPart* const part = module.module->switched()) visit(static_cast<std::size_t>(module.index), *part, true);
  for (std::size_t k = 0; k < hierarchy_.couplings().size(); ++k)
    if (const auto& coupling = hierarchy_.couplings()[k])
      visit(static_cast<std::size_t>(workshop_.plan().module_count()) + k, coupling->switched(), hierarchy_.is_owner(k));
}

void FrictionLoads::lay_out() {
  std::string own;
  for_each_part([&](std::size_t number, const SwitchedPart& part, bool owned) {
    if (owned && part.load_count() > 0) own += fmt::format("{}\n{}\n", number, part.load_count());
  });
  const std::vector<std::string> texts = gather_texts(workshop_.transport(), own);
  ends_.clear();
  now_.resize(0);
  if (std::ranges::all_of(texts, &std::string::empty)) return;
  places_.assign(static_cast<std::size_t>(workshop_.plan().module_count()) + workshop_.plan().couplings.size(), 0);
  int at = 0;
  for (const std::string& text : texts) {
    const std::vector<std::string> lines = lines_of(text);
    for (std::size_t line = 0; line < lines.size(); line += 2) {
      places_[std::stoul(lines[line])] = at;
      at += std::stoi(lines[line + 1]);
    }
    ends_.push_back(at);
  }
  now_.resize(at);
}

void FrictionLoads::set(const VecX<double>& loads) {
  for_each_part([&](std::size_t number, SwitchedPart& part, bool) {
    part.set_loads({loads.data() + places_[number], static_cast<std::size_t>(part.load_count())});
  });
}

void FrictionLoads::gather(VecX<double>& found) {
  found.setZero(now_.size());
  for_each_part([&](std::size_t number, const SwitchedPart& part, bool owned) {
    if (owned) std::ranges::copy(part.found(), found.data() + places_[number]);
  });
  workshop_.transport().gather({found.data(), static_cast<std::size_t>(found.size())}, ends_);
}

Status FrictionLoads::find(const std::function<Status()>& solve) {
  constexpr double kSame = 1e-13, kFound = 1e-6;
  now_.setZero();
  for_each_part([&](std::size_t number, const SwitchedPart& part, bool owned) {
    if (owned) part.loads({now_.data() + places_[number], static_cast<std::size_t>(part.load_count())});
  });
  workshop_.transport().gather({now_.data(), static_cast<std::size_t>(now_.size())}, ends_);
  gather(found_);
  const double unit = workshop_.plan().weight;
  const auto is_found = [&](double tolerance) {
    return (found_ - now_).cwiseAbs().maxCoeff() <= tolerance * std::max(unit, found_.cwiseAbs().maxCoeff());
  };
  const auto solve_with = [&](const VecX<double>& loads, VecX<double>& found) {
    set(loads);
    Status status = solve();
    if (status.ok()) gather(found);
    return status;
  };
  if (is_found(kSame)) return {};
  const Eigen::Index count = now_.size();
  response_.resize(count, count);
  const double shift = std::max(unit, now_.cwiseAbs().maxCoeff());
  for (Eigen::Index j = 0; j < count; ++j) {
    probe_ = now_;
    probe_[j] += shift;
    if (Status status = solve_with(probe_, moved_); !status.ok()) return status;
    response_.col(j) = (found_ - moved_) / shift;
    response_(j, j) += 1.0;
  }
  now_ += response_.partialPivLu().solve(found_ - now_).eval();
  if (!now_.allFinite()) return {"the friction forces are not finite"};
  if (Status status = solve_with(now_, found_); !status.ok()) return status;
  return is_found(kFound) ? Status{} : Status{"no normal forces fit the friction of the modules"};
}

}  // namespace linkwork
