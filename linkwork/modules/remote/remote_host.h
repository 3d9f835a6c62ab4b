#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "linkwork/modules/remote/messages.h"
#include "linkwork/modules/remote/network.h"

namespace linkwork {

/// A module as its host's line sees it.
class RemotePart {
 public:
  virtual ~RemotePart() = default;
  virtual const remote::Open& request() const = 0;
  /// The answer to what was asked last.
  virtual void take(remote::ModuleAnswer answer) = 0;
  /// What brings a module that was opened anew to where this one was when it was asked last, message by message.
  virtual std::vector<std::vector<remote::Action>> replay() const = 0;
  /// Whether that is still known.
  virtual bool can_replay() const = 0;
};

/// The run's side of a conversation. What modules ask is collected; one message takes it all. If the line breaks, it is dialled
/// again until the time-out, and the modules are brought back to where they were.
class RemoteHost {
 public:
  using Dial = std::function<std::unique_ptr<Line>()>;

  RemoteHost(std::string name, Dial dial, double timeout) : name_(std::move(name)), dial_(std::move(dial)), timeout_(timeout) {}
  ~RemoteHost();

  const std::string& name() const { return name_; }  // "linkwork://host:port"
  /// Throws InputError if the host refuses or does not answer.
  remote::Opened open(RemotePart& part);
  void close(RemotePart& part);

  /// To be asked with the next message.
  void add(RemotePart& part, std::vector<remote::Action> actions);
  /// Sends what was added, unless a message is under way.
  void send();
  /// Has everything answered that was added: calls take(). Whether the host is lost is known then.
  void finish();
  /// Why there is no hope of an answer; empty if there is.
  const std::string& lost() const { return lost_; }

  /// Journeys of a message and its reply so far.
  long round_trips() const { return round_trips_; }

 private:
  struct Asked {
    RemotePart* part;
    std::vector<remote::Action> actions;
  };
  struct Known {
    RemotePart* part;
    std::uint32_t number;  // in the conversation
  };

  remote::Reply exchange(remote::Request request);
  void post(remote::Request request);
  remote::Reply collect();
  remote::Ask ask_of(const std::vector<Asked>& asked) const;
  std::uint32_t number_of(const RemotePart& part) const;
  void greet();
  void dial_again(const std::string& why);
  void bring_back(Known& known);
  void give_up(const std::string& why);

  std::string name_;
  Dial dial_;
  double timeout_;
  std::unique_ptr<Line> line_;
  std::vector<Known> parts_;
  std::vector<Asked> added_, under_way_;
  std::uint64_t requests_ = 0;
  std::string lost_;
  long round_trips_ = 0;
};

}  // namespace linkwork
