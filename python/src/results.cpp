#include <array>

#include "linkwork/drawing/film.h"
#include "linkwork/front/results_source.h"
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
template <class Move>
py::object interruptible(Move move) {
  Interruption interruption;
  Results results;
  {
    const py::gil_scoped_release unlocked;
    results = move([&] { return interruption.go_on(); });
  }
  py::object made = results_of(std::move(results));
  if (interruption.happened()) raise_with(interruption, made);
  return made;
}

PictureOptions picture_options(const std::array<int, 2>& size, bool dark, bool paths) {
  return {.width = size[0], .height = size[1], .dark = dark, .paths = paths};
}

py::tuple animate(const Results& results, const std::string& file, double rate, double speed, std::optional<double> from,
                  std::optional<double> to, const std::array<int, 2>& size, bool dark, bool paths) {
  Interruption interruption;
  FilmOptions options{.picture = picture_options(size, dark, paths), .rate = rate, .speed = speed, .from = from, .to = to};
  options.go_on = [&](double) { return interruption.go_on(); };
  FilmSummary made;
  {
    const py::gil_scoped_release unlocked;
    made = save_film(report_run(results), file, options);
  }
  interruption.raise();
  return py::make_tuple(made.pictures, made.seconds);
}

void picture(const Results& results, const std::string& file, std::optional<double> t, const std::array<int, 2>& size, bool dark,
             bool paths) {
  const py::gil_scoped_release unlocked;
  save_picture(report_run(results), file, picture_options(size, dark, paths), t);
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
      .def("animate", animate)
      .def("picture", picture)
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
