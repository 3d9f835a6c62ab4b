#include "linkwork/front/mechanism_parts.h"
#include "python/src/bindings.h"

namespace linkwork::python {

namespace {

py::array_t<double> pose(const Evaluation& at, const std::string& body) {
  return array(MatX<double>(at.kinematics().pose(body).matrix()));
}

/// A state that is given in part: the rest is that of the start.
Evaluation evaluate(const Mechanism& model, const std::optional<Array>& q, const std::optional<Array>& v, double t,
                    const std::map<std::string, double>& inputs, const std::optional<Array>& z) {
  State state = model.start();
  state.t = t;
  if (q) state.q = vector(*q, state.q.size(), "q");
  if (v) state.v = vector(*v, state.v.size(), "v");
  if (z) state.z = vector(*z, state.z.size(), "z");
  const py::gil_scoped_release unlocked;
  return model.evaluate(state, inputs);
}

/// Poses of all bodies, row by row of positions in the order of Mechanism::positions(): (rows, bodies, 4, 4).
py::array_t<double> poses(const Mechanism& model, const Array& positions) {
  const State start = model.start();
  if (positions.ndim() != 2 || positions.shape(1) != start.q.size())
    throw InputError({"positions", 0, 0}, "has the wrong shape", "rows of " + std::to_string(start.q.size()) + " numbers");
  const std::vector<std::string> bodies = model.bodies();
  const auto rows = positions.shape(0), count = static_cast<py::ssize_t>(bodies.size());
  py::array_t<double> made({rows, count, py::ssize_t{4}, py::ssize_t{4}});
  double* to = made.mutable_data();
  const double* from = positions.data();
  const py::gil_scoped_release unlocked;
  System system(*model.model());
  const ModelNames names(*model.model());
  const SystemKinematics at(names, system);
  State state = start;
  for (py::ssize_t row = 0; row < rows; ++row) {
    state.q = Eigen::Map<const VecX<double>>(from + row * state.q.size(), state.q.size());
    system.update(state);
    for (const std::string& body : bodies) {
      const Eigen::Matrix<double, 4, 4, Eigen::RowMajor> matrix = at.pose(body).matrix();
      to = std::copy_n(matrix.data(), 16, to);
    }
  }
  return made;
}

}  // namespace

void bind_evaluation(py::module_& module) {
  module.def("evaluate", evaluate);
  module.def("poses", poses);
  py::class_<Evaluation>(module, "Evaluation", R"(A mechanism at one state: M vdot + bias = applied + A' lam, and A vdot = b.

Vectors and matrices are in the order of Model.velocities, rows of constraints in that of `rows`.)")
      .def_property_readonly("t", [](const Evaluation& at) { return at.state().t; })
      .def_property_readonly("q", [](const Evaluation& at) { return array(at.state().q); })
      .def_property_readonly("v", [](const Evaluation& at) { return array(at.state().v); })
      .def_property_readonly("vdot", [](const Evaluation& at) { return array(at.vdot()); }, "Accelerations.")
      .def_property_readonly("lam", [](const Evaluation& at) { return array(at.lambda()); },
                             "Multipliers of the constraints: forces and torques of closures along their rows.")
      .def_property_readonly("rows", &Evaluation::rows, "Names of the rows of constraints.")
      .def("reaction", [](Evaluation& at, const std::string& name) { return load(at.reaction(name)); }, py::arg("name"),
           "Force and torque that a joint or closure transmits to its child or b, there; world axes.")
      .def(
          "jacobian",
          [](Evaluation& at, const std::string& body, const Array& point) {
            return array(at.jacobian(body, vector3(point, "at")));
          },
          py::arg("body"), py::arg("at") = std::vector<double>{0, 0, 0},
          "6 x n: velocity of a point of the body, which is given in its frame, then its angular velocity; world axes.")
      .def("mass_matrix", [](Evaluation& at) { return array(at.mass_matrix()); })
      .def("bias", [](Evaluation& at) { return array(at.bias()); }, "Coriolis, centrifugal and gravity forces.")
      .def("applied", [](Evaluation& at) { return array(at.applied()); }, "All forces of the model along the coordinates.")
      .def("constraint_jacobian", [](Evaluation& at) { return array(at.constraint_jacobian()); }, "A.")
      .def("constraint_bias", [](Evaluation& at) { return array(at.constraint_bias()); }, "b.")
      .def(
          "inverse_dynamics",
          [](Evaluation& at, const Array& vdot, const std::vector<std::string>& actuators) {
            return array(at.inverse_dynamics(vector(vdot, at.vdot().size(), "vdot"), actuators));
          },
          py::arg("vdot"), py::arg("actuators") = std::vector<std::string>(),
          "Forces along `actuators` (default: all coordinates) which, beside those of the model, make it accelerate by vdot.")
      .def_property_readonly("kinetic_energy", &Evaluation::kinetic_energy)
      .def_property_readonly("potential_energy", &Evaluation::potential_energy)
      .def_property_readonly("power", &Evaluation::power, "Of the forces that have no potential.")
      .def("pose", pose, py::arg("body"), "The frame of a body in the world: a 4 x 4 matrix.");
}

}  // namespace linkwork::python
