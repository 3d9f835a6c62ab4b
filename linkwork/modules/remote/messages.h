#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/modules/remote/wire.h"

/// The messages of linkwork.proto, which explains them.
namespace linkwork::remote {

/// Versions of the contract that this program speaks.
inline constexpr std::uint32_t kFirstVersion = 1, kLastVersion = 1;
/// The method of the service, as gRPC calls it.
inline constexpr const char* kMethod = "/linkwork.Modules/Converse";

struct Hello {
  std::uint32_t first_version = 0, last_version = 0;
  std::string program;
};
template <class Io>
void fields(Io& io, Hello& x) {
  io(1, x.first_version), io(2, x.last_version), io(3, x.program);
}

struct Welcome {
  std::uint32_t version = 0;
  std::string program;
  std::vector<std::string> parts;
};
template <class Io>
void fields(Io& io, Welcome& x) {
  io(1, x.version), io(2, x.program), io(3, x.parts);
}

struct Parameter {
  std::string name;
  double value = 0.0;
};
template <class Io>
void fields(Io& io, Parameter& x) {
  io(1, x.name), io(2, x.value);
}

struct Open {
  std::string part;
  std::vector<std::string> ports;
  std::vector<Parameter> parameters;
  std::vector<double> gravity;
  std::string stabilization;
  std::uint32_t slots = 0;
  std::string formulation = {}, coordinates = {};
};
template <class Io>
void fields(Io& io, Open& x) {
  io(1, x.part), io(2, x.ports), io(3, x.parameters), io(4, x.gravity), io(5, x.stabilization), io(6, x.slots);
  io(7, x.formulation), io(8, x.coordinates);
}

struct Opened {
  std::uint32_t module = 0;
  std::vector<std::string> columns, inputs;
  double length = 0.0, mass = 0.0;
  bool glides = false;
};
template <class Io>
void fields(Io& io, Opened& x) {
  io(1, x.module), io(2, x.columns), io(3, x.inputs), io(4, x.length), io(5, x.mass), io(6, x.glides);
}

struct Close {
  std::uint32_t module = 0;
};
template <class Io>
void fields(Io& io, Close& x) {
  io(1, x.module);
}

struct StateSum {
  std::vector<std::uint32_t> slots;
  std::vector<double> weights;
  bool normalize = false;
};
template <class Io>
void fields(Io& io, StateSum& x) {
  io(1, x.slots), io(2, x.weights), io(3, x.normalize);
}

struct Evaluate {
  double t = 0.0;
  std::optional<StateSum> state;
  std::uint32_t level = 0;
};
template <class Io>
void fields(Io& io, Evaluate& x) {
  io(1, x.t), io(2, x.state), io(3, x.level);
}

struct Evaluation {
  std::vector<double> motion, D, R, scale;
  double position_error = 0.0, velocity_error = 0.0, speed = 0.0;
  std::uint32_t rank = 0, dof = 0;
};
template <class Io>
void fields(Io& io, Evaluation& x) {
  io(1, x.motion), io(2, x.D), io(3, x.R), io(4, x.scale), io(5, x.position_error), io(6, x.velocity_error), io(7, x.speed);
  io(8, x.rank), io(9, x.dof);
}

struct Advance {
  std::uint32_t level = 0;
  std::vector<double> forces;
  std::uint32_t slot = 0;
};
template <class Io>
void fields(Io& io, Advance& x) {
  io(1, x.level), io(2, x.forces), io(3, x.slot);
}

struct Keep {
  std::uint32_t slot = 0;
};
template <class Io>
void fields(Io& io, Keep& x) {
  io(1, x.slot);
}

struct Accept {};
template <class Io>
void fields(Io&, Accept&) {}

struct SetInput {
  std::string name;
  std::optional<double> value;
};
template <class Io>
void fields(Io& io, SetInput& x) {
  io(1, x.name), io(2, x.value);
}

struct Record {
  std::vector<double> forces;
};
template <class Io>
void fields(Io& io, Record& x) {
  io(1, x.forces);
}

struct Recording {
  std::vector<double> row;
  double kinetic = 0.0, potential = 0.0, work = 0.0;
};
template <class Io>
void fields(Io& io, Recording& x) {
  io(1, x.row), io(2, x.kinetic), io(3, x.potential), io(4, x.work);
}

struct Weigh {
  std::optional<StateSum> from, to, error;
  double rtol = 0.0, atol = 0.0;
};
template <class Io>
void fields(Io& io, Weigh& x) {
  io(1, x.from), io(2, x.to), io(3, x.error), io(4, x.rtol), io(5, x.atol);
}

struct Weighed {
  double sum = 0.0, count = 0.0;
};
template <class Io>
void fields(Io& io, Weighed& x) {
  io(1, x.sum), io(2, x.count);
}

struct Save {
  std::vector<std::uint32_t> slots;
};
template <class Io>
void fields(Io& io, Save& x) {
  io(1, x.slots);
}

struct Restore {
  std::string saved;
  std::vector<std::uint32_t> slots;
};
template <class Io>
void fields(Io& io, Restore& x) {
  io(1, x.saved), io(2, x.slots);
}

struct Gliding {
  std::optional<StateSum> from;
  double h = 0.0;
  std::optional<StateSum> moves, speeds, rest;
  std::uint32_t slot = 0;
};
template <class Io>
void fields(Io& io, Gliding& x) {
  io(1, x.from), io(2, x.h), io(3, x.moves), io(4, x.speeds), io(5, x.rest), io(6, x.slot);
}

struct Combine {
  std::optional<StateSum> sum;
  std::uint32_t slot = 0;
};
template <class Io>
void fields(Io& io, Combine& x) {
  io(1, x.sum), io(2, x.slot);
}

struct Size {
  std::optional<StateSum> a, b;
};
template <class Io>
void fields(Io& io, Size& x) {
  io(1, x.a), io(2, x.b);
}

struct Sizes {
  double a = 0.0, b = 0.0;
};
template <class Io>
void fields(Io& io, Sizes& x) {
  io(1, x.a), io(2, x.b);
}

/// One of them is set.
struct Action {
  std::optional<Advance> advance;
  std::optional<Keep> keep;
  std::optional<Accept> accept;
  std::optional<SetInput> set_input;
  std::optional<Evaluate> evaluate;
  std::optional<Record> record;
  std::optional<Weigh> weigh;
  std::optional<Save> save;
  std::optional<Restore> restore;
  std::optional<Gliding> glide;
  std::optional<Size> size;
  std::optional<Combine> combine;
};
template <class Io>
void fields(Io& io, Action& x) {
  io(1, x.advance), io(2, x.keep), io(3, x.accept), io(4, x.set_input), io(5, x.evaluate), io(6, x.record), io(7, x.weigh);
  io(8, x.save), io(9, x.restore), io(10, x.glide), io(11, x.size), io(12, x.combine);
}

struct Call {
  std::uint32_t module = 0;
  std::vector<Action> actions;
};
template <class Io>
void fields(Io& io, Call& x) {
  io(1, x.module), io(2, x.actions);
}

struct Ask {
  std::vector<Call> calls;
};
template <class Io>
void fields(Io& io, Ask& x) {
  io(1, x.calls);
}

struct Remark {
  double t = 0.0;
  std::string about, text;
};
template <class Io>
void fields(Io& io, Remark& x) {
  io(1, x.t), io(2, x.about), io(3, x.text);
}

struct Result {
  std::optional<Evaluation> evaluation;
  std::optional<Recording> recording;
  std::optional<Weighed> weighed;
  std::optional<std::string> saved;
  std::optional<Sizes> sizes;
};
template <class Io>
void fields(Io& io, Result& x) {
  io(1, x.evaluation), io(2, x.recording), io(3, x.weighed), io(4, x.saved), io(5, x.sizes);
}

struct ModuleAnswer {
  std::uint32_t module = 0;
  std::vector<Result> results;
  std::string trouble;
  std::vector<Remark> remarks;
};
template <class Io>
void fields(Io& io, ModuleAnswer& x) {
  io(1, x.module), io(2, x.results), io(3, x.trouble), io(4, x.remarks);
}

struct Answer {
  std::vector<ModuleAnswer> modules;
};
template <class Io>
void fields(Io& io, Answer& x) {
  io(1, x.modules);
}

struct Request {
  std::uint64_t number = 0;
  std::optional<Hello> hello;
  std::optional<Open> open;
  std::optional<Ask> ask;
  std::optional<Close> close;
};
template <class Io>
void fields(Io& io, Request& x) {
  io(1, x.number), io(2, x.hello), io(3, x.open), io(4, x.ask), io(5, x.close);
}

struct Reply {
  std::uint64_t number = 0;
  std::string refusal;
  std::optional<Welcome> welcome;
  std::optional<Opened> opened;
  std::optional<Answer> answer;
};
template <class Io>
void fields(Io& io, Reply& x) {
  io(1, x.number), io(2, x.refusal), io(3, x.welcome), io(4, x.opened), io(5, x.answer);
}

}  // namespace linkwork::remote
