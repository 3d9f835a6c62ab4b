#pragma once

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/linkwork.h"

/// The extension module linkwork._core: a file per group of things. What is more than a translation is in the Python files of the
/// package.
namespace linkwork::python {

namespace py = pybind11;

using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;

// One per file.
void bind_errors(py::module_& module);
void bind_model(py::module_& module);
void bind_evaluation(py::module_& module);
void bind_results(py::module_& module);
void bind_simulation(py::module_& module);
void bind_modules(py::module_& module);
void bind_analyses(py::module_& module);
void bind_ensembles(py::module_& module);
void bind_program(py::module_& module);

// --- errors and interruptions

/// An error of Python on its way through the library, which knows nothing of Python and may hold no lock.
struct PythonError {
  std::shared_ptr<py::error_already_set> error;
};

/// Calls Python from within the library, with the lock; what it raises goes on as PythonError.
template <class Call>
auto with_python(Call call) {
  const py::gil_scoped_acquire lock;
  try {
    return call();
  } catch (py::error_already_set& error) {
    throw PythonError{std::make_shared<py::error_already_set>(std::move(error))};
  }
}

/// A Python object that the library keeps, and may let go of on any thread.
class Kept {
 public:
  explicit Kept(py::object object);
  py::handle operator*() const { return *object_; }

 private:
  std::shared_ptr<py::object> object_;
};

/// Whether Ctrl-C was pressed: looks every few steps at the clock, and every few hundredths of a second into Python.
class Interruption {
 public:
  bool go_on();
  /// Throws what Python raised, if it did.
  void raise() const;
  bool happened() const { return error_ != nullptr; }
  py::error_already_set& error() const { return *error_; }

 private:
  using Clock = std::chrono::steady_clock;

  int steps_ = 0, look_every_ = 1;
  Clock::time_point looked_ = Clock::now(), asked_ = looked_;
  std::shared_ptr<py::error_already_set> error_;
};

// --- values

py::array_t<double> array(const double* data, py::ssize_t size);
inline py::array_t<double> array(const VecX<double>& vector) { return array(vector.data(), vector.size()); }
py::array_t<double> array(const MatX<double>& matrix);
/// Throws InputError that calls it `what` unless it has that many finite numbers.
VecX<double> vector(const Array& numbers, py::ssize_t size, const char* what);
Eigen::Vector3d vector3(const Array& numbers, const char* what);
py::tuple load(const Load& load);
/// What json.loads makes of it.
py::object parsed(const std::string& json);

/// Options of a run by their names; None: not given.
RunOptions run_options(const py::dict& given);
/// Parameters: numbers and expressions.
Parameters parameters(const py::dict& given);

/// The file of a model, or of the ready model of that name.
std::filesystem::path find_model(const std::string& name);
/// Rows of a run, as results.py has them.
py::object results_of(Results results);
/// The same of what was interrupted: raises KeyboardInterrupt, which has them as its attribute `results`.
[[noreturn]] void raise_with(const Interruption& interruption, const py::object& results);

}  // namespace linkwork::python
