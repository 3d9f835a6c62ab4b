#include <array>
#include <type_traits>

#include "linkwork/modules/module.h"
#include "python/src/bindings.h"

namespace linkwork::python {

namespace {

constexpr const char* level_name(Level level) {
  return level == Level::kPosition ? "position" : level == Level::kVelocity ? "velocity" : "acceleration";
}

void copy(const py::handle& from, double* to, py::ssize_t size, const char* what) {
  const Array numbers = Array::ensure(from);
  if (!numbers || numbers.size() != size) {
    PyErr_Clear();
    throw py::value_error(std::string("the module's ") + what + " should be " + std::to_string(size) + " numbers");
  }
  std::copy_n(numbers.data(), size, to);
}

/// A module whose answers come from an object of Python: see linkwork.Module.
class PythonModule final : public Module {
 public:
  explicit PythonModule(py::object module)
      : ports_(module.attr("ports").cast<int>()),
        size_(module.attr("state_size").cast<int>()),
        controlled_(module.attr("controlled_size").is_none() ? size_ : module.attr("controlled_size").cast<int>()),
        columns_(module.attr("columns").cast<std::vector<std::string>>()),
        module_(std::move(module)) {}

  int port_count() const override { return ports_; }
  int state_size() const override { return size_; }
  int controlled_size() const override { return controlled_; }
  void start(VecX<double>& x) override {
    x.resize(size_);
    ask([&](py::handle module) { copy(module.attr("start")(), x.data(), size_, "start()"); });
  }

  Status kinematics(double t, const VecX<double>& x, std::span<PortMotion> ports) override {
    ask([&](py::handle module) {
      const py::object motions = module.attr("kinematics")(t, array(x));
      if (py::len(motions) != ports.size())
        throw py::value_error("the module's kinematics() should tell of " + std::to_string(ports.size()) + " ports");
      for (std::size_t i = 0; i < ports.size(); ++i) {
        const py::object motion = motions[py::int_(i)];
        Eigen::Matrix<double, 3, 3, Eigen::RowMajor> R;
        copy(motion[py::int_(0)], R.data(), 9, "orientation of a port");
        ports[i].R = R;
        copy(motion[py::int_(1)], ports[i].p.data(), 3, "position of a port");
        copy(motion[py::int_(2)], ports[i].w.data(), 3, "angular velocity of a port");
        copy(motion[py::int_(3)], ports[i].v.data(), 3, "velocity of a port");
      }
    });
    return {};
  }

  Status response(Level level, PortResponse& response) override {
    ask([&](py::handle module) {
      const auto answer = module.attr("response")(level_name(level)).cast<py::sequence>();
      const int n = 6 * ports_;
      Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> D(n, n);
      copy(answer[0], D.data(), n * n, "D");
      response.D = D;
      copy(answer[1], response.R.data(), n, "R");
      if (py::len(answer) > 2)
        copy(answer[2], response.scale.data(), n, "scale");
      else
        response.scale = response.D.diagonal();
    });
    return {};
  }

  Status advance(Level level, const VecX<double>& Q, VecX<double>& out) override {
    ask([&](py::handle module) {
      out.conservativeResize(size_);
      const py::object x = level == Level::kAcceleration ? py::none() : py::object(array(out));
      copy(module.attr("advance")(level_name(level), array(Q), x), out.data(), size_, "advance()");
    });
    return {};
  }

  bool set_input(const std::string& name, std::optional<double> value) override {
    return ask([&](py::handle module) { return module.attr("set_input")(name, value).cast<bool>(); });
  }
  ModuleErrors errors() const override {
    return ask([](py::handle module) {
      const auto errors = module.attr("errors")().cast<std::array<double, 3>>();
      return ModuleErrors{errors[0], errors[1], errors[2]};
    });
  }
  void normalize(VecX<double>& x) const override {
    ask([&](py::handle module) {
      const py::object better = module.attr("normalize")(array(x));
      if (!better.is_none()) copy(better, x.data(), size_, "normalize()");
    });
  }
  const std::vector<std::string>& columns() const override { return columns_; }
  Status record(const VecX<double>& Q, std::span<double> row) override {
    ask([&](py::handle module) {
      if (!row.empty()) copy(module.attr("record")(array(Q)), row.data(), static_cast<py::ssize_t>(row.size()), "record()");
    });
    return {};
  }
  ModuleEnergy energy() const override {
    return ask([](py::handle module) {
      const auto energy = module.attr("energy")().cast<std::array<double, 3>>();
      return ModuleEnergy{energy[0], energy[1], energy[2]};
    });
  }
  int dof() const override {
    return ask([](py::handle module) { return module.attr("dof").cast<int>(); });
  }

 private:
  template <class Ask>
  std::invoke_result_t<Ask, py::handle> ask(Ask question) const {
    return with_python([&] { return question(*module_); });
  }

  int ports_, size_, controlled_;
  std::vector<std::string> columns_;
  Kept module_;
};

}  // namespace

void bind_modules(py::module_& module) {
  module.def("with_module", [](const Mechanism& model, const std::string& name, const py::object& make) {
    return model.with_module(name, [kept = Kept(make)]() -> std::unique_ptr<Module> {
      return with_python([&] { return std::make_unique<PythonModule>(py::object((*kept)())); });
    });
  });
}

}  // namespace linkwork::python
