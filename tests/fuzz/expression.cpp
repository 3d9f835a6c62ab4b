// Any text must give an expression or an InputError. An expression evaluates, to whatever value, on numbers and with derivatives;
// it keeps its value when its variables get other names, and loses it when it is taken from itself.

#include "linkwork/model/expression.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "linkwork/model/jet.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linkwork;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::map<std::string, double> constants{{"a", 2.0}, {"omega", -0.5}};
  Vocabulary vocabulary;
  vocabulary.changing = {"gain"};
  for (const Variables allowed : {Variables::kNone, Variables::kState, Variables::kEvent}) {
    try {
      const Expression expression = Expression::parse(text, constants, allowed, {"model.toml", 1, 1}, vocabulary);
      const std::vector<double> slots(expression.variables().size(), 0.5);
      const std::vector<Jet> jets(expression.variables().size(), Jet(0.5, 1.0, -1.0));
      const double value = expression.evaluate<double>(slots);
      expression.evaluate<Jet>(jets);
      const Expression renamed = expression.renamed([](const std::string& name) { return "left." + name; });
      if (renamed.variables().size() == slots.size() &&
          std::bit_cast<std::uint64_t>(renamed.evaluate<double>(slots)) != std::bit_cast<std::uint64_t>(value) &&
          !std::isnan(value))
        std::abort();
      const double nothing = expression.minus(expression).evaluate<double>(slots);
      if (std::isfinite(value) && nothing != 0.0) std::abort();
    } catch (const InputError&) {
      // Most texts are bad input.
    }
  }
  parameters_in(text);
  return 0;
}
