// In place of what needs libraries that an FMU cannot count on: the integrator IDA, loops in YAML (an FMU has model files only),
// and KLU, whose part Eigen takes.
#include <Eigen/SparseLU>

#include "linkwork/import/readers.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/linalg/pattern_lu.h"

namespace linkwork {

void apply_loops_file(std::string_view, const std::string& file_name, Spec&, const ImportContext&) {
  throw InputError({file_name, 0, 0}, "an FMU reads no YAML");
}

CatalogEntry<Integrator> ida_method() {
  using enum Equations;
  return {{"ida", "IDA: not part of FMUs", "Hindmarsh2005", {}},
          [](const Model&, const Options&) -> std::unique_ptr<Integrator> {
            throw InputError({}, "the integrator 'ida' is not part of FMUs", "another integrator in the model's settings");
          },
          {.takes = {kIndex2, kIndex1}}};
}

struct PatternLu::Klu {
  Eigen::SparseLU<SparseMatrix> lu;
};

PatternLu::PatternLu() = default;
PatternLu::~PatternLu() = default;
PatternLu::PatternLu(PatternLu&&) noexcept = default;
PatternLu& PatternLu::operator=(PatternLu&&) noexcept = default;

void PatternLu::set_pattern(int size, std::span<const std::pair<int, int>> places) {
  matrix_ = matrix_of_pattern(size, size, places);
  sparse_ = size > 0;
  klu_ = std::make_unique<Klu>();
}

bool PatternLu::factor() {
  if (size() == 0) return true;
  klu_->lu.compute(matrix_);
  return klu_->lu.info() == Eigen::Success;
}

void PatternLu::solve(VecX<double>& x) {
  if (size() > 0) x = klu_->lu.solve(VecX<double>(x));
}

}  // namespace linkwork
