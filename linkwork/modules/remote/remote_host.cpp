#include "linkwork/modules/remote/remote_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "linkwork/model/input_error.h"
#include "linkwork/version.h"

namespace linkwork {

namespace {

/// Words of another program, for a terminal: in one line, not too long.
void make_plain(std::string& text) {
  constexpr std::size_t kLongest = 500;
  if (text.size() > kLongest) text.replace(kLongest, std::string::npos, " ...");
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
}

}  // namespace

RemoteHost::~RemoteHost() = default;

/// Not yet answered.
void RemoteHost::post(remote::Request request) {
  request.number = ++requests_;
  line_->send(WireWriter::text(request));
}

remote::Reply RemoteHost::collect() {
  remote::Reply reply;
  try {
    reply = WireReader::message<remote::Reply>(line_->receive());
  } catch (const WireError& error) {
    throw LineLost(fmt::format("what it answers is no message of the contract: {}", error.what()));
  }
  ++round_trips_;
  make_plain(reply.refusal);
  if (reply.answer)
    for (remote::ModuleAnswer& module : reply.answer->modules) {
      make_plain(module.trouble);
      for (remote::Remark& remark : module.remarks) make_plain(remark.about), make_plain(remark.text);
    }
  if (reply.number != requests_) throw LineLost("its answers are not those to what was asked");
  return reply;
}

remote::Reply RemoteHost::exchange(remote::Request request) {
  post(std::move(request));
  return collect();
}

void RemoteHost::greet() {
  line_ = dial_();
  requests_ = 0;
  remote::Request request;
  request.hello = {remote::kFirstVersion, remote::kLastVersion, "linkwork " LINKWORK_VERSION};
  const remote::Reply reply = exchange(std::move(request));
  if (!reply.refusal.empty()) throw InputError({}, fmt::format("{} refuses: {}", name_, reply.refusal));
  if (!reply.welcome || reply.welcome->version < remote::kFirstVersion || reply.welcome->version > remote::kLastVersion)
    throw InputError({}, fmt::format("{} speaks another version of the contract", name_));
}

remote::Opened RemoteHost::open(RemotePart& part) {
  try {
    if (!line_ && parts_.empty()) greet();
  } catch (const LineLost& error) {
    throw InputError({}, fmt::format("{} does not answer: {}", name_, error.what()), "a host that serves there");
  }
  remote::Request request;
  request.open = part.request();
  for (;;) {
    try {
      finish();
      if (!lost_.empty()) throw InputError({}, lost_);
      if (!line_) throw LineLost("the line was closed");
      const remote::Reply reply = exchange(request);
      if (!reply.refusal.empty()) throw InputError({}, fmt::format("{} refuses: {}", name_, reply.refusal));
      if (!reply.opened) throw InputError({}, fmt::format("{} answers something else than was asked", name_));
      parts_.push_back({&part, reply.opened->module});
      return *reply.opened;
    } catch (const LineLost& error) {
      dial_again(error.what());
    }
  }
}

void RemoteHost::close(RemotePart& part) {
  std::erase_if(added_, [&](const Asked& asked) { return asked.part == &part; });
  if (lost_.empty() && !under_way_.empty()) finish();
  const auto known = std::ranges::find(parts_, &part, &Known::part);
  if (known == parts_.end()) return;
  remote::Request request;
  request.close = {known->number};
  parts_.erase(known);
  try {
    if (lost_.empty() && line_) exchange(std::move(request));
  } catch (const LineLost&) {
    line_.reset();  // its modules went with it; it is dialled again if others are left
  }
}

std::uint32_t RemoteHost::number_of(const RemotePart& part) const {
  return std::ranges::find(parts_, &part, [](const Known& known) -> const RemotePart* { return known.part; })->number;
}

void RemoteHost::add(RemotePart& part, std::vector<remote::Action> actions) { added_.push_back({&part, std::move(actions)}); }

remote::Ask RemoteHost::ask_of(const std::vector<Asked>& asked) const {
  remote::Ask ask;
  for (const Asked& one : asked) ask.calls.push_back({number_of(*one.part), one.actions});
  return ask;
}

void RemoteHost::send() {
  if (added_.empty() || !under_way_.empty() || !lost_.empty()) return;
  under_way_ = std::move(added_);
  added_.clear();
  try {
    if (!line_) throw LineLost("the line was closed");
    remote::Request request;
    request.ask = ask_of(under_way_);
    post(std::move(request));
  } catch (const LineLost& error) {
    dial_again(error.what());
  }
}

void RemoteHost::finish() {
  while (lost_.empty() && (!under_way_.empty() || !added_.empty())) {
    send();
    if (!lost_.empty()) return;
    try {
      remote::Reply reply = collect();
      if (!reply.refusal.empty()) return give_up(fmt::format("refuses: {}", reply.refusal));
      const std::vector<Asked> asked = std::move(under_way_);
      under_way_.clear();
      if (!reply.answer || reply.answer->modules.size() != asked.size())
        return give_up("answers nonsense: not every module that was asked");
      for (std::size_t i = 0; i < asked.size(); ++i) {
        if (reply.answer->modules[i].module != number_of(*asked[i].part))
          return give_up("answers nonsense: another module than was asked");
        asked[i].part->take(std::move(reply.answer->modules[i]));
      }
    } catch (const LineLost& error) {
      dial_again(error.what());
    }
  }
}

void RemoteHost::give_up(const std::string& why) {
  lost_ = fmt::format("its host {} {}", name_, why);
  line_.reset();
  added_.clear();
  under_way_.clear();
}

/// With a new line, modules are opened again and brought back; what was under way is asked again.
void RemoteHost::dial_again(const std::string& why) {
  constexpr std::chrono::milliseconds kPause(50);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_);
  std::string last = why;
  for (;;) {
    try {
      greet();
      for (Known& known : parts_) bring_back(known);
      if (!under_way_.empty()) {
        remote::Request request;
        request.ask = ask_of(under_way_);
        post(std::move(request));
      }
      return;
    } catch (const LineLost& error) {
      last = error.what();
    } catch (const std::runtime_error& error) {
      return give_up(fmt::format("was lost ({}), and cannot go on: {}", why, error.what()));
    }
    if (std::chrono::steady_clock::now() + kPause > until)
      return give_up(fmt::format("does not answer ({}); once it does, 'linkwork resume' goes on from the last checkpoint", last));
    std::this_thread::sleep_for(kPause);
  }
}

void RemoteHost::bring_back(Known& known) {
  constexpr std::size_t kAtOnce = 50;
  if (!known.part->can_replay()) throw InputError({}, "too much has been asked since the last step");
  remote::Request open;
  open.open = known.part->request();
  const remote::Reply opened = exchange(std::move(open));
  if (!opened.refusal.empty() || !opened.opened) throw InputError({}, "it refuses: " + opened.refusal);
  known.number = opened.opened->module;
  const std::vector<std::vector<remote::Action>> messages = known.part->replay();
  for (std::size_t first = 0; first < messages.size(); first += kAtOnce) {
    remote::Request request;
    request.ask.emplace();
    for (std::size_t i = first; i < std::min(first + kAtOnce, messages.size()); ++i)
      request.ask->calls.push_back({known.number, messages[i]});
    const remote::Reply reply = exchange(std::move(request));
    if (!reply.refusal.empty()) throw InputError({}, "it refuses: " + reply.refusal);
  }
}

}  // namespace linkwork
