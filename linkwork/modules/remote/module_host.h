#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linkwork/modules/module.h"
#include "linkwork/modules/remote/messages.h"
#include "linkwork/modules/remote/network.h"

namespace linkwork {

/// A module that was made for a conversation, with as many ports as were asked for, in that order.
struct ServedModule {
  std::unique_ptr<Module> module;
  std::vector<std::string> inputs = {};
  double length = 1.0, mass = 0.0;                     // see Opened in linkwork.proto
  std::optional<std::vector<std::size_t>> shown = {};  // numbers of the columns that its owner lets others see; none: all
};

/// What a host offers, by name. Throws InputError for a request that it cannot grant.
using ServedParts = std::map<std::string, std::function<ServedModule(const remote::Open&)>>;

struct HostLimits {
  std::size_t most_modules = 64;  // in a conversation
  std::size_t most_slots = 1U << 14U;
  std::size_t most_ports = 256;     // of a module
  std::size_t most_actions = 4096;  // in a message
  std::size_t most_answer_bytes = 32U << 20U;
};

/// The host's side of a conversation: an answer to each request, whoever carries them. Modules belong to the conversation that
/// has opened them.
class Conversation : public Talk {
 public:
  Conversation(const ServedParts& parts, const Sealer& sealer, const HostLimits& limits = {})
      : parts_(parts), sealer_(sealer), limits_(limits) {}

  /// Throws WireError for what is no request at all: the conversation is over then.
  std::string answer(std::string_view request) override;

 private:
  struct Opened {
    std::string part;
    ServedModule served;
    std::vector<VecX<double>> slots;
    VecX<double> x;  // the state last evaluated
    double t = 0.0;
    std::optional<Level> level;  // of the last response
    std::vector<PortMotion> motion;
    PortResponse response{0};
    Remarks remarks;
    std::size_t remarks_told = 0;
  };

  remote::Welcome greet(const remote::Hello& hello);
  remote::Opened open(const remote::Open& request);
  void close(const remote::Close& request);
  remote::Answer ask(const remote::Ask& request);
  Status act(Opened& module, const remote::Action& action, std::vector<remote::Result>& results) const;
  Status evaluate(Opened& module, const remote::Evaluate& action, remote::Evaluation& result) const;
  Status advance(Opened& module, const remote::Advance& action) const;
  Status record(Opened& module, const remote::Record& action, remote::Recording& result) const;
  remote::Weighed weigh(Opened& module, const remote::Weigh& action) const;
  void glide(Opened& module, const remote::Gliding& action) const;
  remote::Sizes size(Opened& module, const remote::Size& action) const;
  std::string save(const Opened& module, const remote::Save& action) const;
  void restore(Opened& module, const remote::Restore& action) const;

  const ServedParts& parts_;
  const Sealer& sealer_;
  HostLimits limits_;
  std::uint32_t version_ = 0;  // 0: no Hello yet
  std::map<std::uint32_t, Opened> modules_;
  std::uint32_t opened_ = 0;  // so far
};

}  // namespace linkwork
