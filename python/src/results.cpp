#include "linkwork/front/results_source.h"
#include "linkwork/io/scene.h"
#include "linkwork/io/summary_file.h"
#include "python/src/bindings.h"

namespace linkwork::python {

namespace {

/// All rows, in the memory of the results: (rows, columns), not to be written to.
py::array values(const py::object& self) {
  const auto& results = self.cast<const Results&>();
  const auto rows = static_cast<py::ssize_t>(results.rows()), columns = static_cast<py::ssize_t>(results.columns.size());
  py::array all(py::dtype::of<double>(), {rows, columns}, results.values.data(), self);
  py::detail::array_proxy(all.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return all;
}

/// A run, or something like it, which Ctrl-C ends: what there is then comes with KeyboardInterrupt.
template <class Run>
py::object interruptible(Run run) {
  Interruption interruption;
  Results results;
  {
    const py::gil_scoped_release unlocked;
    results = run([&] { return interruption.go_on(); });
  }
  py::object made = results_of(std::move(results));
  if (interruption.happened()) raise_with(interruption, made);
  return made;
}

}  // namespace

py::object results_of(Results results) {
  return py::module_::import("linkwork._results").attr("Results")(std::make_shared<Results>(std::move(results)));
}

void raise_with(const Interruption& interruption, const py::object& results) {
  interruption.error().value().attr("results") = results;
  interruption.raise();
  throw std::logic_error("nothing was interrupted");
}

void bind_results(py::module_& module) {
  py::class_<Results, std::shared_ptr<Results>>(module, "Record")
      .def_property_readonly("columns", [](const Results& results) { return results.columns; })
      .def_property_readonly("values", values)
      .def_property_readonly("completed", [](const Results& results) { return results.summary.completed; })
      .def_property_readonly("status", [](const Results& results) { return results.summary.status; })
      .def("summary", [](const Results& results) { return parsed(summary_json(results.summary)); })
      .def("scene", [](const Results& r) { return parsed(scene_json(r.source->spec, *r.source->model, r.columns)); })
      .def("mechanism", [](const Results& r) { return Mechanism(r.source->spec); })
      .def("report", &Results::report, py::call_guard<py::gil_scoped_release>())
      .def("save", [](const Results& results, const std::string& folder, const std::string& format, bool report) {
        const py::gil_scoped_release unlocked;
        results.save(folder, format, report);
      });
  module.def("run", [](const Mechanism& model, const py::dict& given) {
    const RunOptions options = run_options(given);
    return interruptible([&](const std::function<bool()>& go_on) { return run(model, options, go_on); });
  });
  module.def("kinematics", [](const Mechanism& model, const py::dict& given) {
    const RunOptions options = run_options(given);
    return interruptible([&](const std::function<bool()>& go_on) { return kinematics(model, options, go_on); });
  });
  module.def("option_names", option_names);
}

}  // namespace linkwork::python
