#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linkwork/modules/module.h"
#include "linkwork/modules/remote/remote_host.h"

namespace linkwork {

/// A module whose host is another process. What stands for its state here are weights of the slots that the host keeps (see
/// linkwork.proto): integrators add up states and rates, and the host does the same with the slots, to the same bits. So one
/// journey takes an evaluation: forces found for the last state travel with the question about the next.
///
/// Slots are used in turn. What a step may still need is younger than a turn, or held (hold()).
class RemoteModule : public Module, private RemotePart {
 public:
  /// `name` is prefixed to those of its columns. Throws InputError if the host refuses.
  RemoteModule(std::string name, std::shared_ptr<RemoteHost> host, remote::Open request);
  ~RemoteModule() override;
  RemoteModule(const RemoteModule&) = delete;
  RemoteModule& operator=(const RemoteModule&) = delete;

  double length() const { return opened_.length; }
  double mass() const { return opened_.mass; }

  int port_count() const override { return static_cast<int>(request_.ports.size()); }
  /// Weights of the slots, and whether the sum is to be normalized.
  int state_size() const override { return slots() + 1; }
  void start(VecX<double>& x) override;
  Status kinematics(double t, const VecX<double>& x, std::span<PortMotion> ports) override;
  Status response(Level level, PortResponse& response) override;
  Status advance(Level level, const VecX<double>& Q, VecX<double>& out) override;
  bool set_input(const std::string& name, std::optional<double> value) override;
  void accept_step(Remarks& remarks) override;
  ModuleErrors errors() const override;
  void normalize(VecX<double>& x) const override;
  const std::vector<std::string>& columns() const override { return columns_; }
  Status record(const VecX<double>& Q, std::span<double> row) override;
  ModuleEnergy energy() const override { return energy_; }
  int dof() const override { return static_cast<int>(evaluation_.dof); }
  int rank() const override { return static_cast<int>(evaluation_.rank); }

  bool is_elsewhere() const override { return true; }
  void expect(double t, const VecX<double>& x, Level level) override;
  void expect_record(const VecX<double>& Q) override;
  void send() override;
  void keep_state(VecX<double>& x) override;
  void hold(double t, const VecX<double>& x, const VecX<double>& rates) override;
  void mark() override { marked_ = next_; }
  void go_back_to_mark() override { next_ = marked_; }
  WeighedError weighed_error(const VecX<double>& from, const VecX<double>& to, const VecX<double>& error, double rtol,
                             double atol) override;
  bool glides() override { return opened_.glides; }
  void keep_sum(VecX<double>& rates) override;
  void glide(const VecX<double>& from, double h, const Glide& by, VecX<double>& to) override;
  std::pair<double, double> largest_accelerations(const VecX<double>& a, const VecX<double>& b) override;
  std::vector<double> save(const VecX<double>& x) override;
  bool accepts(const std::vector<double>& saved) override { return !saved.empty(); }
  Status restore(const std::vector<double>& saved, VecX<double>& x) override;
  std::string lost() const override { return host_->lost(); }
  long round_trips() const override { return host_->round_trips() - trips_before_; }
  const void* host() const override { return host_.get(); }

 private:
  const remote::Open& request() const override { return request_; }
  void take(remote::ModuleAnswer answer) override;
  std::vector<std::vector<remote::Action>> replay() const override;
  bool can_replay() const override { return can_replay_; }

  int slots() const { return static_cast<int>(request_.slots); }
  std::uint32_t new_slot(bool is_rate);
  VecX<double> only(std::uint32_t slot) const;
  remote::StateSum sum(const VecX<double>& x) const;
  std::vector<std::uint32_t> slots_in(const VecX<double>& x) const;
  template <class Message>
  Message& plan(std::optional<Message> remote::Action::*which);
  void ask();
  Status finish();
  void check(const remote::Opened& opened) const;
  Status check(const remote::Evaluation& evaluation, double t) const;

  std::string name_;
  std::shared_ptr<RemoteHost> host_;
  long trips_before_;  // it was opened
  remote::Open request_;
  remote::Opened opened_;
  std::vector<std::string> columns_;

  std::uint32_t next_ = 1, marked_ = 1;
  std::vector<long> age_;  // by slot: when it was last given out; states before rates
  std::vector<char> is_rate_, held_;
  long given_ = 0;

  std::vector<remote::Action> planned_;   // for the next message
  std::vector<remote::Action> asked_;     // of the message under way
  bool waiting_ = false;                  // for an answer
  std::optional<Level> expected_;         // an evaluation is under way, or was answered
  std::optional<remote::Evaluate> last_;  // asked for
  bool has_ahead_ = false;                // the accelerations there came along
  bool ready_ = false;                    // what is expected has come already
  bool recording_ = false;                // likewise
  remote::Evaluation evaluation_, ahead_;
  remote::Recording recorded_;
  remote::Weighed weighed_;
  remote::Sizes sizes_;
  std::string saved_, trouble_;
  std::vector<remote::Remark> remarks_;
  ModuleEnergy energy_;

  // To go on after a new start of the host: what was held last, and what was asked since.
  struct Held {
    std::string saved;
    std::vector<std::uint32_t> slots;
    remote::Evaluate at;
  };
  std::optional<Held> kept_;
  Held to_keep_;
  std::vector<std::vector<remote::Action>> log_;
  bool can_replay_ = true;
};

}  // namespace linkwork
