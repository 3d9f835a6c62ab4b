#include <cerrno>
#include <cmath>
#include <system_error>

#include "python/src/bindings.h"

namespace linkwork::python {

namespace {

/// The classes of _errors.py, for as long as the interpreter runs.
py::object error_class(const char* name) { return py::module_::import("linkwork._errors").attr(name); }

/// Names of files need not be UTF-8.
py::object text(const std::string& bytes) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()), "replace"));
}

void set_error(const InputError& error) {
  static const py::handle kClass = error_class("InputError").release();
  const Place& place = error.place();
  // An option of the program is a keyword here.
  std::string file = place.file;
  if (file.starts_with("--")) {
    file = file.substr(2);
    for (char& c : file)
      if (c == '-') c = '_';
  }
  const InputError here({file, place.line, place.column}, error.message());
  const auto known = [](int number) { return number > 0 ? py::object(py::int_(number)) : py::none(); };
  const py::object name = file.empty() ? py::object(py::none()) : text(file);
  PyErr_SetObject(kClass.ptr(), kClass(text(here.what()), name, known(place.line), known(place.column)).ptr());
}

}  // namespace

void bind_errors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (PythonError& passing) {
      passing.error->restore();
    } catch (const InputError& error) {
      set_error(error);
    } catch (const SimulationError& error) {
      static const py::handle kClass = error_class("SimulationError").release();
      PyErr_SetObject(kClass.ptr(), kClass(text(error.what())).ptr());
    } catch (const std::filesystem::filesystem_error& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    } catch (const std::system_error& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    }
  });
}

Kept::Kept(py::object object)
    : object_(new py::object(std::move(object)), [](py::object* kept) {
        if (Py_IsInitialized() == 0) return;  // nothing can be let go of any more
        const py::gil_scoped_acquire lock;
        delete kept;
      }) {}

bool Interruption::go_on() {
  constexpr int kMostSteps = 64;
  constexpr std::chrono::milliseconds kSoon(1), kLate(5), kBetween(30);
  if (error_) return false;
  if (++steps_ < look_every_) return true;
  steps_ = 0;
  const Clock::time_point now = Clock::now();
  const auto passed = now - looked_;
  looked_ = now;
  if (passed < kSoon) look_every_ = std::min(2 * look_every_, kMostSteps);
  if (passed > kLate) look_every_ = 1;
  if (now - asked_ < kBetween) return true;
  asked_ = now;
  const py::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() == 0) return true;
  error_ = std::make_shared<py::error_already_set>();
  return false;
}

void Interruption::raise() const {
  if (error_) throw PythonError{error_};
}

py::array_t<double> array(const double* data, py::ssize_t size) {
  py::array_t<double> made(size);
  std::copy_n(data, size, made.mutable_data());
  return made;
}

py::array_t<double> array(const MatX<double>& matrix) {
  py::array_t<double> made({matrix.rows(), matrix.cols()});
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<RowMajor>(made.mutable_data(), matrix.rows(), matrix.cols()) = matrix;
  return made;
}

VecX<double> vector(const Array& numbers, py::ssize_t size, const char* what) {
  if (numbers.ndim() != 1 || numbers.size() != size)
    throw InputError({what, 0, 0}, "has the wrong shape", "an array of " + std::to_string(size) + " numbers");
  const VecX<double> made = Eigen::Map<const VecX<double>>(numbers.data(), size);
  if (!made.allFinite()) throw InputError({what, 0, 0}, "has numbers that are not finite", "finite numbers");
  return made;
}

Eigen::Vector3d vector3(const Array& numbers, const char* what) { return vector(numbers, 3, what); }

py::tuple load(const Load& load) { return py::make_tuple(array(load.force.data(), 3), array(load.torque.data(), 3)); }

py::object parsed(const std::string& json) { return py::module_::import("json").attr("loads")(json); }

RunOptions run_options(const py::dict& given) {
  RunOptions options;
  for (const auto& [key, value] : given) {
    if (value.is_none()) continue;
    const std::string name = py::str(key);
    if (py::isinstance<py::str>(value) || py::hasattr(value, "__fspath__"))
      set_option(options, name, std::string(py::str(py::module_::import("os").attr("fspath")(value))));
    else if (PyNumber_Check(value.ptr()) != 0 && !py::isinstance<py::array>(value))
      set_option(options, name, py::float_(py::reinterpret_borrow<py::object>(value)).cast<double>());
    else if (py::detail::make_caster<std::vector<std::string>> texts; py::isinstance<py::sequence>(value) && texts.load(value, false))
      set_option(options, name, py::detail::cast_op<std::vector<std::string>>(texts));
    else
      throw InputError({name, 0, 0}, "is " + std::string(py::repr(value)), "a number, a text, or a list of texts");
  }
  return options;
}

Parameters parameters(const py::dict& given) {
  Parameters values;
  for (const auto& [key, value] : given) {
    const std::string name = py::str(key);
    if (py::isinstance<py::str>(value))
      values.emplace_back(name, value.cast<std::string>());
    else if (PyNumber_Check(value.ptr()) != 0 && !py::isinstance<py::array>(value))
      values.emplace_back(name, py::float_(py::reinterpret_borrow<py::object>(value)).cast<double>());
    else
      throw InputError({name, 0, 0}, "is " + std::string(py::repr(value)), "a number, or an expression of other parameters");
  }
  return values;
}

}  // namespace linkwork::python
