// Any text must give a model or an InputError. Its expressions must evaluate, to whatever value.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linkwork/io/model_file.h"
#include "linkwork/model/jet.h"

namespace {

void evaluate(const linkwork::Expression& expression) {
  const std::vector<double> slots(expression.variables().size(), 0.5);
  const std::vector<linkwork::Jet> jets(expression.variables().size(), linkwork::Jet(0.5, 1.0, -1.0));
  expression.evaluate<double>(slots);
  expression.evaluate<linkwork::Jet>(jets);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  linkwork::ReadOptions options;
  options.most_tables = 500;
  // Nothing is read from disk: the file of every module is the text itself.
  options.load = [&](const std::filesystem::path&) { return std::string(text); };
  try {
    const linkwork::Spec spec = linkwork::read_model_text(text, "model.toml", options);
    for (const linkwork::ForceSpec& force : spec.forces) evaluate(force.value);
    for (const linkwork::ClosureSpec& closure : spec.closures) evaluate(closure.value);
    for (const linkwork::SensorSpec& sensor : spec.sensors) evaluate(sensor.value);
  } catch (const linkwork::InputError&) {
    // Most texts are bad input.
  }
  return 0;
}
