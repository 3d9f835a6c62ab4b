#include <cmath>

#include "linkwork/front/mechanism_parts.h"
#include "linkwork/front/model_origin.h"
#include "linkwork/io/toml_value.h"
#include "python/src/bindings.h"

namespace linkwork::python {

namespace {

using Names = std::vector<std::string>;

Mechanism from_file(const py::object& file, const py::dict& set, const py::object& loops, bool fixed_base,
                    const py::dict& packages) {
  const auto path = [](const py::handle& name) { return std::string(py::str(py::module_::import("os").attr("fspath")(name))); };
  ImportOptions importing{.fixed_base = fixed_base};
  if (!loops.is_none()) importing.loops = std::filesystem::absolute(path(loops)).lexically_normal();
  for (const auto& [name, folder] : packages) importing.packages[py::str(name)] = path(folder);
  const std::string name = path(file);
  const Parameters values = parameters(set);
  const py::gil_scoped_release unlocked;
  return load(find_model(name), values, importing);
}

Mechanism from_string(const std::string& text, const std::string& name, const py::dict& set) {
  const Parameters values = parameters(set);
  const py::gil_scoped_release unlocked;
  return parse(text, name, values);
}

const ModelOrigin& origin(const Mechanism& model) {
  if (!model.parts().origin)
    throw py::type_error("a model with forces or modules of a program cannot be read again: make it anew where it is needed");
  return *model.parts().origin;
}

Mechanism with_parameters(const Mechanism& model, const py::dict& set) {
  ModelOrigin again = origin(model);
  for (const auto& [name, value] : parameters(set)) {
    std::erase_if(again.set, [&](const auto& entry) { return entry.first == name; });
    again.set.emplace_back(name, value.text);
  }
  const py::gil_scoped_release unlocked;
  return read_again(again);
}

py::tuple pickled(const Mechanism& model) {
  const ModelOrigin& from = origin(model);
  return py::make_tuple(from.file.string(), from.text, from.set, from.folder.string(), from.importing.fixed_base,
                        from.importing.loops ? py::object(py::str(from.importing.loops->string())) : py::none(), [&] {
                          py::dict packages;
                          for (const auto& [name, folder] : from.importing.packages) packages[py::str(name)] = folder.string();
                          return packages;
                        }());
}

Mechanism unpickled(const py::tuple& state) {
  ModelOrigin from{.file = state[0].cast<std::string>(),
                   .text = state[1].cast<std::optional<std::string>>(),
                   .set = state[2].cast<std::vector<std::pair<std::string, std::string>>>(),
                   .importing = {},
                   .folder = state[3].cast<std::string>()};
  from.importing.fixed_base = state[4].cast<bool>();
  if (!state[5].is_none()) from.importing.loops = state[5].cast<std::string>();
  for (const auto& [name, folder] : state[6].cast<py::dict>())
    from.importing.packages[py::str(name)] = folder.cast<std::string>();
  const py::gil_scoped_release unlocked;
  return read_again(from);
}

// --- forces in Python

/// What a force is given, for as long as it is asked.
template <class T>
class Lent {
 public:
  explicit Lent(T& thing) : thing_(&thing) {}
  T& operator*() const {
    if (thing_ == nullptr) throw std::runtime_error("this is known only while the force is being asked");
    return *thing_;
  }
  T* operator->() const { return &**this; }
  void take_back() { thing_ = nullptr; }

 private:
  T* thing_;
};
using LentKinematics = Lent<const Kinematics>;
using LentForces = Lent<Forces>;

/// A Python object around what is lent, which is taken back in the end.
template <class T>
class Lending {
 public:
  explicit Lending(T& thing) : object_(py::cast(Lent<T>(thing))) {}
  ~Lending() { object_.template cast<Lent<T>&>().take_back(); }
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;
  const py::object& operator*() const { return object_; }

 private:
  py::object object_;
};

std::function<double(const Kinematics&)> number_from(const py::object& function) {
  if (function.is_none()) return {};
  return [kept = Kept(function)](const Kinematics& at) {
    return with_python([&] {
      const Lending<const Kinematics> lent(at);
      return (*kept)(*lent).cast<double>();
    });
  };
}

CustomForce custom_force(const py::object& apply, const std::string& name, const py::object& potential, const py::object& power) {
  CustomForce force;
  force.name = name;
  force.apply = [kept = Kept(apply)](const Kinematics& at, Forces& forces) {
    with_python([&] {
      const Lending<const Kinematics> lent(at);
      const Lending<Forces> taken(forces);
      (*kept)(*lent, *taken);
    });
  };
  force.potential = number_from(potential);
  force.power = number_from(power);
  return force;
}

py::array_t<double> pose(const Kinematics& at, const std::string& body) { return array(MatX<double>(at.pose(body).matrix())); }

void bind_kinematics(py::module_& module) {
  py::class_<LentKinematics>(module, "Kinematics", "Where things are and how they move, for a force that is asked what it does.")
      .def_property_readonly("t", [](const LentKinematics& at) { return at->t(); })
      .def(
          "q", [](const LentKinematics& at, const std::string& name) { return at->q(name); }, py::arg("coordinate"))
      .def(
          "v", [](const LentKinematics& at, const std::string& name) { return at->v(name); }, py::arg("coordinate"))
      .def(
          "u", [](const LentKinematics& at, const std::string& name) { return at->input(name); }, py::arg("input"))
      .def(
          "z", [](const LentKinematics& at, const std::string& name) { return at->state(name); }, py::arg("state"))
      .def(
          "pose", [](const LentKinematics& at, const std::string& body) { return pose(*at, body); }, py::arg("body"),
          "The frame of a body in the world: a 4 x 4 matrix.")
      .def(
          "position",
          [](const LentKinematics& at, const std::string& body, const Array& point) {
            const Eigen::Vector3d p = at->position(body, vector3(point, "at"));
            return array(p.data(), 3);
          },
          py::arg("body"), py::arg("at") = std::vector<double>{0, 0, 0}, "Of a point of the body, which is given in its frame.")
      .def(
          "velocity",
          [](const LentKinematics& at, const std::string& body, const Array& point) {
            const Eigen::Vector3d v = at->velocity(body, vector3(point, "at"));
            return array(v.data(), 3);
          },
          py::arg("body"), py::arg("at") = std::vector<double>{0, 0, 0})
      .def(
          "twist",
          [](const LentKinematics& at, const std::string& body) {
            const BodyTwist moves = at->twist(body);
            return py::make_tuple(array(moves.angular.data(), 3), array(moves.linear.data(), 3));
          },
          py::arg("body"), "Angular velocity, and velocity of the frame's origin; world axes.");
  py::class_<LentForces>(module, "Forces", "Where a force says what it does. What is said several times adds up.")
      .def(
          "on",
          [](const LentForces& forces, const std::string& body, const Array& force, const Array& torque, const Array& at) {
            forces->on(body, {vector3(force, "force"), vector3(torque, "torque")}, vector3(at, "at"));
          },
          py::arg("body"), py::arg("force") = std::vector<double>{0, 0, 0}, py::arg("torque") = std::vector<double>{0, 0, 0},
          py::arg("at") = std::vector<double>{0, 0, 0}, "On a body, in world axes, at a point that is given in the body's frame.")
      .def(
          "on_joint",
          [](const LentForces& forces, const std::string& coordinate, double effort) { forces->on_joint(coordinate, effort); },
          py::arg("coordinate"), py::arg("effort"));
}

// --- models in code

TomlValue toml(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<py::dict>(value)) {
    TomlValue table;
    for (const auto& [key, item] : value.cast<py::dict>())
      if (!item.is_none()) table[std::string(py::str(key))] = toml(item);
    return table;
  }
  if (py::hasattr(value, "tolist")) return toml(value.attr("tolist")());  // numbers and arrays of numpy
  if (py::isinstance<py::int_>(value)) {
    const auto number = value.cast<double>();
    if (std::abs(number) < 2e9) return static_cast<int>(number);
    return number;
  }
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (py::isinstance<py::sequence>(value)) {
    std::vector<TomlValue> items;
    for (const py::handle item : value) items.push_back(toml(item));
    return items;
  }
  throw InputError({}, "a key has the value " + std::string(py::repr(value)),
                   "a number, a text, true or false, a list or a table");
}

Keys keys_of(const py::dict& given) {
  Keys keys;
  for (const auto& [key, value] : given)
    if (!value.is_none()) keys.emplace_back(py::str(key), toml(value));
  return keys;
}

void bind_builder(py::module_& module) {
  py::class_<Builder::Entry>(module, "Entry").def("set", [](Builder::Entry& entry, const py::dict& keys) {
    for (const auto& [key, value] : keys_of(keys)) entry.set(key, value);
  });
  py::class_<Builder>(module, "Builder")
      .def(py::init<std::string>())
      .def(
          "add", [](Builder& b, const std::string& table, const py::dict& keys) { return b.add(table, keys_of(keys)); },
          py::keep_alive<0, 1>())
      .def("setting", [](Builder& b, const std::string& key, const py::object& value) { b.setting(key, toml(value)); })
      .def("parameter", [](Builder& b, const std::string& key, const py::object& value) { b.parameter(key, toml(value)); })
      .def("force", [](Builder& b, const py::object& apply, const std::string& name, const py::object& potential,
                       const py::object& power) { b.force(custom_force(apply, name, potential, power)); })
      .def("build", &Builder::build, py::call_guard<py::gil_scoped_release>())
      .def("to_toml", &Builder::to_toml);
}

}  // namespace

void bind_model(py::module_& module) {
  bind_kinematics(module);
  bind_builder(module);
  py::class_<Mechanism>(module, "Mechanism")
      .def_static("from_file", from_file)
      .def_static("from_string", from_string)
      .def("with_parameters", with_parameters)
      .def("with_force", [](const Mechanism& model, const py::object& apply, const std::string& name, const py::object& potential,
                            const py::object& power) { return model.with(custom_force(apply, name, potential, power)); })
      .def_property_readonly("name", &Mechanism::name)
      .def_property_readonly("text", [](const Mechanism& model) { return model.spec().source_text; })
      .def("names",
           [](const Mechanism& model) {
             py::dict names;
             names["bodies"] = model.bodies(), names["joints"] = model.joints(), names["closures"] = model.closures();
             names["inputs"] = model.inputs(), names["states"] = model.states(), names["sensors"] = model.sensors();
             names["positions"] = model.positions(), names["velocities"] = model.velocities();
             return names;
           })
      .def("settings",
           [](const Mechanism& model) {
             const Settings& s = model.spec().settings;
             py::dict settings;
             settings["end"] = s.end, settings["step"] = s.step, settings["every"] = s.output_every;
             settings["rtol"] = s.rtol, settings["atol"] = s.atol;
             settings["gravity"] = array(s.gravity.data(), 3);
             settings["coordinates"] = s.coordinates.name, settings["formulation"] = s.formulation.name;
             settings["stabilization"] = s.stabilization.name, settings["integrator"] = s.integrator.name;
             settings["glue"] = s.glue.name;
             return settings;
           })
      .def("parameters",
           [](const Mechanism& model) {
             py::list set;
             if (model.parts().origin)
               for (const auto& [name, value] : model.parts().origin->set) set.append(py::make_tuple(name, value));
             return set;
           })
      .def(py::pickle([](const Mechanism& model) { return pickled(model); },
                      [](const py::tuple& state) { return unpickled(state); }));
}

}  // namespace linkwork::python
