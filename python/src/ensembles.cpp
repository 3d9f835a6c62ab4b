#include "apps/linkwork/result_folder.h"
#include "linkwork/ensemble/batch.h"
#include "linkwork/ensemble/optimize.h"
#include "linkwork/ensemble/sweep_files.h"
#include "linkwork/front/mechanism_parts.h"
#include "linkwork/front/model_origin.h"
#include "linkwork/io/page.h"
#include "python/src/bindings.h"

namespace linkwork::python {

namespace {

EnsembleModel ensemble_model(const Mechanism& model, const RunOptions& options) {
  return {model, [options](Settings& settings) { apply(options, settings); }};
}

/// What runs the model once, for the page.
std::string command_of(const Mechanism& model, const RunOptions& options) {
  const ModelOrigin& origin = *model.parts().origin;
  std::string line = "linkwork run " + origin.file.string();
  for (const auto& [name, value] : origin.set) line += " --set " + name + "=" + value;
  for (const auto& [option, value] : setting_texts(options)) line += " " + option + " " + value;
  return line;
}

std::string settings_text(const RunOptions& options) {
  std::string text;
  for (const auto& [option, value] : setting_texts(options)) text += option + " " + value + "\n";
  return text;
}

template <class T>
void take(const py::dict& given, const char* name, T& to) {
  if (given.contains(name) && !given[name].is_none()) to = given[name].cast<T>();
}

SweepRequest sweep_request(const py::dict& given) {
  SweepRequest request;
  take(given, "grids", request.grids), take(given, "samples", request.samples), take(given, "sampling", request.sampling);
  take(given, "runs", request.runs), take(given, "seed", request.seed), take(given, "measures", request.measures);
  take(given, "keep", request.keep), take(given, "trajectories", request.trajectories), take(given, "threads", request.threads);
  take(given, "lanes", request.lanes);
  return request;
}

/// Runs, with their files in a folder; the names of parameters, measures and kept columns.
py::tuple swept(const Mechanism& model, const py::dict& request, const py::dict& given, const std::string& folder, bool restart,
                bool with_page, const py::object& progress) {
  const RunOptions options = run_options(given);
  const SweepRequest wanted = sweep_request(request);
  Interruption interruption;
  std::vector<std::string> parameters, measures, kept;
  {
    const py::gil_scoped_release unlocked;
    const Sweep sweep(ensemble_model(model, options), wanted);
    const cli::ResultFolder locked(folder, "");
    SweepFiles files(sweep, folder, settings_text(options), command_of(model, options), restart);
    const auto tell = [&] { with_python([&] { progress(files.done(), sweep.runs()); }); };
    bool whole = false;
    try {
      whole = sweep.run(
          files.done(),
          [&](const SweepRow& row) {
            files.write(row);
            if (!progress.is_none()) tell();
          },
          [&] { return interruption.go_on(); });
    } catch (const PythonError&) {
      files.flush();  // what is done is done
      throw;
    }
    if (whole && with_page)
      files.finish();
    else
      files.flush();
    parameters = sweep.plan().names(), kept = sweep.kept();
    for (const RunMeasure& measure : sweep.measures()) measures.push_back(measure.name());
  }
  interruption.raise();
  return py::make_tuple(parameters, measures, kept);
}

py::object optimized(const Mechanism& model, const py::dict& given, const py::dict& run_given, const std::string& folder) {
  const RunOptions options = run_options(run_given);
  OptimizeRequest request;
  take(given, "over", request.over), take(given, "minimize", request.minimize), take(given, "maximize", request.maximize);
  take(given, "fit", request.fit), take(given, "fit_columns", request.fit_columns), take(given, "method", request.method);
  take(given, "evaluations", request.evaluations), take(given, "tolerance", request.tolerance);
  take(given, "threads", request.threads);
  Interruption interruption;
  std::string json;
  {
    const py::gil_scoped_release unlocked;
    const Optimum found = optimize(ensemble_model(model, options), request, [&] { return interruption.go_on(); });
    json = optimum_json(found);
    if (!folder.empty()) {
      const cli::ResultFolder out(folder, "");
      write_text_file(out / "optimize.json", json);
      if (!ensemble_template().empty())
        write_text_file(out / "optimize.html",
                        page_html(ensemble_template(), optimum_page_json(found, command_of(model, options))));
    }
  }
  interruption.raise();
  return parsed(json);
}

// --- batches

/// A Batch for Python: one thread at a time uses it.
class LiveBatch {
 public:
  LiveBatch(const Mechanism& model, int count, const std::map<std::string, std::vector<double>>& parameters,
            const py::dict& given, int threads, bool lanes) {
    const RunOptions options = run_options(given);
    const Batch::InstanceParameters each(parameters.begin(), parameters.end());
    const py::gil_scoped_release unlocked;
    batch_ = std::make_unique<Batch>(model, count, each, options, threads, lanes);
  }

  Batch& batch() const {
    if (busy_) throw std::runtime_error("another thread is stepping this batch");
    return *batch_;
  }
  /// What takes time, without the lock.
  template <class Act>
  auto work(Act act) {
    Batch& batch = this->batch();
    struct Busy {
      explicit Busy(bool& flag) : is(flag) { is = true; }
      ~Busy() { is = false; }
      bool& is;
    } const busy(busy_);
    const py::gil_scoped_release unlocked;
    return act(batch);
  }

  void step(long count) {
    Interruption interruption;
    work([&](Batch& batch) { return batch.step(count, [&] { return interruption.go_on(); }); });
    interruption.raise();
  }

  void set_state(const py::object& q, const py::object& v, const std::vector<int>& instances) {
    Batch& all = batch();
    std::vector<int> some = instances;
    for (int i = 0; instances.empty() && i < all.size(); ++i) some.push_back(i);
    const std::vector<double> positions = rows(q, all.q(), all.positions().size(), some, "q");
    const std::vector<double> velocities = rows(v, all.v(), all.velocities().size(), some, "v");
    work([&](Batch& batch) {
      batch.set_state(positions, velocities, some);
      return true;
    });
  }

 private:
  /// What is given, or what the instances have.
  static std::vector<double> rows(const py::object& given, std::span<const double> now, std::size_t width,
                                  const std::vector<int>& some, const char* what) {
    std::vector<double> values;
    if (given.is_none()) {
      for (const int i : some) {
        if (i < 0 || (static_cast<std::size_t>(i) + 1) * width > now.size())
          throw InputError({}, "there is no instance " + std::to_string(i));
        const auto row = now.subspan(static_cast<std::size_t>(i) * width, width);
        values.insert(values.end(), row.begin(), row.end());
      }
      return values;
    }
    const auto numbers = given.cast<Array>();
    if (static_cast<std::size_t>(numbers.size()) != some.size() * width)
      throw InputError({what, 0, 0}, "has the wrong shape",
                       std::to_string(some.size()) + " x " + std::to_string(width) + " numbers");
    return {numbers.data(), numbers.data() + numbers.size()};
  }

  std::unique_ptr<Batch> batch_;
  bool busy_ = false;
};

/// An array in the memory of the batch, which lives as long as the array.
py::array view(const py::object& owner, std::span<const double> data, std::size_t rows, bool writable) {
  const std::size_t width = rows == 0 ? 0 : data.size() / rows;
  py::array_t<double> made({rows, width}, data.data(), owner);
  if (!writable) made.attr("setflags")(py::arg("write") = false);
  return made;
}

void bind_batch(py::module_& module) {
  const auto rows = [](const Batch& batch) { return static_cast<std::size_t>(batch.size()); };
  py::class_<LiveBatch>(module, "Batch")
      .def(py::init<const Mechanism&, int, const std::map<std::string, std::vector<double>>&, const py::dict&, int, bool>())
      .def("__len__", [](const LiveBatch& live) { return live.batch().size(); })
      .def_property_readonly(
          "threads", [](const LiveBatch& live) { return live.batch().threads(); }, "How many share the work.")
      .def_property_readonly(
          "in_lanes", [](const LiveBatch& live) { return live.batch().in_lanes(); },
          "How many instances are computed several at a time, in the lanes of the processor's vectors.")
      .def_property_readonly(
          "obstacle_to_lanes", [](const LiveBatch& live) { return live.batch().obstacle_to_lanes(); },
          "Why instances are computed one by one; '' if none is.")
      .def("_names",
           [](const LiveBatch& live) {
             return py::make_tuple(live.batch().positions(), live.batch().velocities(), live.batch().inputs());
           })
      .def("_view_t",
           [](const py::object& self) {
             const Batch& batch = self.cast<LiveBatch&>().batch();
             return view(self, batch.t(), static_cast<std::size_t>(batch.size()), false).attr("reshape")(-1);
           })
      .def("_view_q",
           [rows](const py::object& self) {
             const Batch& batch = self.cast<LiveBatch&>().batch();
             return view(self, batch.q(), rows(batch), false);
           })
      .def("_view_v",
           [rows](const py::object& self) {
             const Batch& batch = self.cast<LiveBatch&>().batch();
             return view(self, batch.v(), rows(batch), false);
           })
      .def("_view_u",
           [rows](const py::object& self) {
             Batch& batch = self.cast<LiveBatch&>().batch();
             return view(self, batch.u(), rows(batch), true);
           })
      .def("step", &LiveBatch::step, py::arg("count") = 1,
           "Steps every instance that can go on. One that fails stays where it was: see `status`.")
      .def("_set_rows", &LiveBatch::set_state)
      .def("_reset_rows",
           [](LiveBatch& live, const std::vector<int>& instances) {
             live.work([&](Batch& batch) {
               batch.reset(instances);
               return true;
             });
           })
      .def("_value",
           [](LiveBatch& live, const std::string& column) {
             const std::vector<double> values = live.work([&](Batch& batch) { return batch.value(column); });
             return array(values.data(), static_cast<py::ssize_t>(values.size()));
           })
      .def_property_readonly(
          "columns", [](const LiveBatch& live) { return live.batch().columns(); }, "Names that b[column] takes.")
      .def_property_readonly(
          "status",
          [](const LiveBatch& live) {
            std::vector<std::string> all;
            for (int i = 0; i < live.batch().size(); ++i) all.push_back(live.batch().status(i));
            return all;
          },
          "Of each instance: '' while it can go on, else why it cannot.");
}

}  // namespace

void bind_ensembles(py::module_& module) {
  module.def("sweep", swept);
  module.def("optimize", optimized);
  bind_batch(module);
}

}  // namespace linkwork::python
