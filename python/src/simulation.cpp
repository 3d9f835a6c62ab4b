#include <thread>

#include "linkwork/simulation/saved_run.h"
#include "python/src/bindings.h"

namespace linkwork::python {

namespace {

using Saved = std::shared_ptr<const SavedRun>;

/// A Run for Python: one thread at a time, interrupted by Ctrl-C, with controllers that Python's garbage collector knows.
class Live {
 public:
  Live(const Mechanism& model, const py::dict& options) : run_(made(model, run_options(options))) {
    run_.on_step([this] { return watch_ == nullptr || watch_->go_on(); });
  }

  /// What may be asked between steps, and by a controller.
  Run& run() {
    if (busy_ && runner_ != std::this_thread::get_id()) throw std::runtime_error("another thread is stepping this simulation");
    return run_;
  }
  /// The mechanism at this instant, found without the lock.
  Evaluation evaluate() {
    run();
    std::optional<Working> working;
    if (!busy_) working.emplace(*this, nullptr);
    const py::gil_scoped_release unlocked;
    return run_.evaluate();
  }
  /// What moves it, without the lock.
  template <class Move>
  auto move(Interruption& interruption, Move act) {
    if (busy_) throw std::runtime_error("this simulation is being stepped: a controller can only look at it and set inputs");
    const Working working(*this, &interruption);
    const py::gil_scoped_release unlocked;
    return act(run_);
  }
  template <class Move>
  auto move(Move act) {
    Interruption interruption;
    auto result = move(interruption, std::move(act));
    interruption.raise();
    return result;
  }

  void add_controller(py::handle self, double period, py::object act) {
    run().controller(period, [this, self, place = controllers_.size()](Run&) {
      with_python([&] { controllers_[place](self); });
    });
    controllers_.push_back(std::move(act));
  }
  std::vector<py::object>& controllers() { return controllers_; }

 private:
  /// Others see that it is at work, as long as this lives; made and ended with the lock.
  class Working {
   public:
    Working(Live& live, Interruption* watch) : live_(live) {
      live_.watch_ = watch, live_.runner_ = std::this_thread::get_id(), live_.busy_ = true;
    }
    ~Working() { live_.busy_ = false, live_.watch_ = nullptr; }
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;

   private:
    Live& live_;
  };

  static Run made(const Mechanism& model, const RunOptions& options) {
    const py::gil_scoped_release unlocked;
    return Run(model, options);
  }

  std::vector<py::object> controllers_;
  Run run_;
  Interruption* watch_ = nullptr;
  bool busy_ = false;
  std::thread::id runner_;
};

bool step(Live& live, long count) {
  if (count < 0) throw InputError({"count", 0, 0}, "is " + std::to_string(count), "a number of steps");
  return live.move([count](Run& run) { return run.step(count); });
}

bool advance_to(Live& live, double t) {
  if (!std::isfinite(t)) throw InputError({"t", 0, 0}, "is " + std::to_string(t), "a time");
  return live.move([t](Run& run) { return run.advance_to(t); });
}

/// All rows from here to the end of the settings.
py::object run_to_end(Live& live) {
  Results results;
  results.columns = live.run().columns();
  Interruption interruption;
  struct Watching {
    explicit Watching(Run& of, Results& to) : run(of) {
      run.on_row([&to](std::span<const double> row) { to.values.insert(to.values.end(), row.begin(), row.end()); });
    }
    ~Watching() { run.on_row({}); }
    Run& run;
  } const watching(live.run(), results);
  const auto rest = [&] {
    results.source = live.run().source();
    results.summary = live.run().summary();
    return results_of(std::move(results));
  };
  try {
    live.move(interruption, [](Run& run) { return run.run().completed; });
  } catch (PythonError& passing) {
    passing.error->value().attr("results") = rest();
    throw;
  }
  py::object made = rest();
  if (interruption.happened()) raise_with(interruption, made);
  return made;
}

void set_state(Live& live, const std::optional<Array>& q, const std::optional<Array>& v, const std::optional<double>& t,
               const std::optional<Array>& z) {
  State state = live.run().state();
  if (q) state.q = vector(*q, state.q.size(), "q");
  if (v) state.v = vector(*v, state.v.size(), "v");
  if (z) state.z = vector(*z, state.z.size(), "z");
  if (t) state.t = *t;
  live.move([&](Run& run) {
    run.set_state(state);
    return true;
  });
}

template <class Ask>
auto evaluated(Live& live, Ask ask) {
  Evaluation evaluation = live.evaluate();
  return ask(evaluation);
}

// --- inputs by name: s.u

struct Inputs {
  py::object owner;  // keeps it alive
  Live& live;

  std::vector<std::string> names() const { return live.run().mechanism().inputs(); }
};

void bind_inputs(py::module_& module) {
  py::class_<Inputs>(module, "Inputs", "Inputs of a simulation, by name. `del s.u[name]` leaves one to the model again.")
      .def("__getitem__", [](Inputs& u, const std::string& name) { return static_cast<double>(u.live.run().input(name)); })
      .def("__setitem__", [](Inputs& u, const std::string& name, double value) { u.live.run().input(name) = value; })
      .def("__delitem__", [](Inputs& u, const std::string& name) { u.live.run().input(name).release(); })
      .def("__len__", [](const Inputs& u) { return u.names().size(); })
      .def("__iter__", [](const Inputs& u) { return py::iter(py::cast(u.names())); })
      .def("__contains__",
           [](const Inputs& u, const std::string& name) {
             const std::vector<std::string> names = u.names();
             return std::find(names.begin(), names.end(), name) != names.end();
           })
      .def("keys", &Inputs::names)
      .def("__repr__", [](Inputs& u) {
        py::dict values;
        for (const std::string& name : u.names()) values[py::str(name)] = static_cast<double>(u.live.run().input(name));
        return py::repr(values);
      });
}

// --- for the garbage collector: a controller may know its simulation

Live* live_of(PyObject* object) {
  auto* const instance = reinterpret_cast<py::detail::instance*>(object);
  if (!instance->get_value_and_holder().holder_constructed()) return nullptr;
  return py::handle(object).cast<Live*>();
}

int traverse(PyObject* object, visitproc visit, void* arg) {
#if PY_VERSION_HEX >= 0x03090000
  Py_VISIT(Py_TYPE(object));
#endif
  if (Live* const live = live_of(object))
    for (const py::object& controller : live->controllers()) Py_VISIT(controller.ptr());
  return 0;
}

int clear(PyObject* object) {
  if (Live* const live = live_of(object))
    for (py::object& controller : live->controllers()) controller = py::none();
  return 0;
}

}  // namespace

void bind_simulation(py::module_& module) {
  bind_inputs(module);
  py::class_<SavedRun, std::shared_ptr<SavedRun>>(module, "Saved", "A simulation between two steps, for restore().")
      .def_property_readonly("t", [](const SavedRun& saved) { return saved.t; })
      .def("__repr__", [](const SavedRun& saved) { return "<linkwork.Saved at t = " + std::to_string(saved.t) + " s>"; });

  py::class_<Live>(module, "Live", py::custom_type_setup([](PyHeapTypeObject* type) {
                     type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
                     type->ht_type.tp_traverse = traverse;
                     type->ht_type.tp_clear = clear;
                   }))
      .def(py::init<const Mechanism&, const py::dict&>())
      .def_property_readonly("t", [](Live& live) { return live.run().t(); }, "The time, s.")
      .def_property(
          "q", [](Live& live) { return array(live.run().state().q); },
          [](Live& live, const Array& q) { set_state(live, q, {}, {}, {}); },
          "Positions, in the order of `joints`: a copy. Assigned, they are moved onto the constraints.")
      .def_property(
          "v", [](Live& live) { return array(live.run().state().v); },
          [](Live& live, const Array& v) { set_state(live, {}, v, {}, {}); },
          "Velocities, in the order of `velocities`: a copy. Assigned, they are made to meet the constraints.")
      .def_property(
          "z", [](Live& live) { return array(live.run().state().z); },
          [](Live& live, const Array& z) { set_state(live, {}, {}, {}, z); }, "The model's own states, [[state]]: a copy.")
      .def("set_state", set_state, py::arg("q") = py::none(), py::arg("v") = py::none(), py::arg("t") = py::none(),
           py::arg("z") = py::none(), "Goes on from another state, which is moved onto the constraints.")
      .def_property(
          "u", [](const py::object& self) { return Inputs{self, self.cast<Live&>()}; },
          [](Live& live, const std::map<std::string, double>& values) {
            for (const auto& [name, value] : values) live.run().input(name) = value;
          },
          "Inputs by name: s.u[\"motor\"] = 2.0 holds from now on.")
      .def("step", step, py::arg("count") = 1, "Steps. False: an event has ended the motion.")
      .def("advance_to", advance_to, py::arg("t"), "Steps up to a time, at which the last one ends.")
      .def("run_to_end", run_to_end)
      .def(
          "reset",
          [](Live& live) {
            live.move([](Run& run) {
              run.reset();
              return true;
            });
          },
          "Back to the start. Inputs are as the model has them; controllers stay.")
      .def("save", [](Live& live) { return std::const_pointer_cast<SavedRun>(live.move([](Run& run) { return run.save(); })); },
           "All that is to be known to go on from here, inputs included.")
      .def(
          "restore",
          [](Live& live, const SavedRun& saved) {
            live.move([&](Run& run) {
              run.restore(saved);
              return true;
            });
          },
          py::arg("saved"), "Goes back, or on, to what a simulation of the same model and options saved.")
      .def("add_controller", [](const py::object& self, double period, const py::object& act) {
        self.cast<Live&>().add_controller(self, period, act);
      })
      .def_property_readonly("columns", [](Live& live) { return live.run().columns(); }, "Names of the numbers of row().")
      .def(
          "row",
          [](Live& live) {
            const std::vector<double> row = live.run().row();
            return array(row.data(), static_cast<py::ssize_t>(row.size()));
          },
          "What an output row of this instant would be.")
      .def("__getitem__", [](Live& live, const std::string& column) { return live.run().value(column); }, py::arg("column"),
           "A number of row(): s[\"energy.total\"].")
      .def("position", [](Live& live, const std::string& name) { return live.run().q(name); }, py::arg("coordinate"),
           "The position of one coordinate, by name; of joints that are cut too.")
      .def("velocity", [](Live& live, const std::string& name) { return live.run().v(name); }, py::arg("coordinate"))
      .def("evaluate", &Live::evaluate,
           "The mechanism at this instant: everything that can be asked of it.")
      .def("forward_dynamics",
           [](Live& live) {
             return evaluated(live, [](Evaluation& at) { return py::make_tuple(array(at.vdot()), array(at.lambda())); });
           },
           "Accelerations and multipliers of the constraints.")
      .def(
          "inverse_dynamics",
          [](Live& live, const Array& vdot, const std::vector<std::string>& actuators) {
            return evaluated(live, [&](Evaluation& at) {
              return array(at.inverse_dynamics(vector(vdot, at.vdot().size(), "vdot"), actuators));
            });
          },
          py::arg("vdot"), py::arg("actuators") = std::vector<std::string>(),
          "Forces along `actuators` (default: all coordinates) which, beside those of the model, make it accelerate by vdot.")
      .def("mass_matrix",
           [](Live& live) { return evaluated(live, [](Evaluation& at) { return array(at.mass_matrix()); }); })
      .def(
          "jacobian",
          [](Live& live, const std::string& body, const Array& point) {
            const Eigen::Vector3d at_point = vector3(point, "at");
            return evaluated(live, [&](Evaluation& at) { return array(at.jacobian(body, at_point)); });
          },
          py::arg("body"), py::arg("at") = std::vector<double>{0, 0, 0},
          "6 x n: velocity of a point of the body, which is given in its frame, then its angular velocity; world axes.")
      .def("reaction",
           [](Live& live, const std::string& name) {
             return evaluated(live, [&](Evaluation& at) { return load(at.reaction(name)); });
           },
           py::arg("name"), "Force and torque that a joint or closure transmits to its child or b, there; world axes.")
      .def("pose",
           [](Live& live, const std::string& body) {
             return evaluated(live, [&](Evaluation& at) { return array(MatX<double>(at.kinematics().pose(body).matrix())); });
           },
           py::arg("body"), "The frame of a body in the world: a 4 x 4 matrix.")
      .def_property_readonly(
          "kinetic_energy",
          [](Live& live) { return evaluated(live, [](Evaluation& at) { return at.kinetic_energy(); }); })
      .def_property_readonly("potential_energy", [](Live& live) {
        return evaluated(live, [](Evaluation& at) { return at.potential_energy(); });
      });
}

}  // namespace linkwork::python
