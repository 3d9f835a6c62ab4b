#include <fmt/format.h>

#include "linkwork/fmi/fmu_block.h"
#include "linkwork/io/model_tables.h"

namespace linkwork {

namespace {

/// The entries of a key that is a table; none if it is not there.
const std::vector<TomlEntry>& entries(const TableReader& table, std::string_view key) {
  static const std::vector<TomlEntry> none;
  if (!table.has(key)) return none;
  const TomlValue& value = table.value(key);
  if (value.kind != TomlValue::Kind::kTable) table.fail(key, "is " + value.description());
  return value.entries;
}

FmuRequest::Parameter parameter(const TableReader& table, const TomlEntry& entry) {
  const Scope& scope = table.scope();
  FmuRequest::Parameter made{entry.key, 0.0, scope.place(entry)};
  if (entry.value.kind == TomlValue::Kind::kBoolean)
    made.value = entry.value.boolean ? 1.0 : 0.0;
  else if (entry.value.is_number())
    made.value = entry.value.number;
  else
    made.value = scope.text(entry.value);
  return made;
}

}  // namespace

BlockSpec read_fmu(const TableReader& table, const LoadData& load, References& references) {
  BlockSpec spec{table.text("name"), nullptr, {}, table.place()};
  FmuRequest request{.name = spec.name, .file = table.text("file"), .bytes = {}, .place = spec.place};
  if (request.file.empty()) table.fail("file", "is empty", "the path of an .fmu file");
  request.bytes = load(request.file, table.place("file"));
  if (table.has("type")) request.kind = table.text("type");
  if (table.has("step")) request.step = table.number("step");
  if (table.has("interpolation")) request.linear = table.is_last_choice("interpolation");
  for (const TomlEntry& entry : entries(table, "inputs")) {
    const Expression value = table.scope().expression(entry.value, Variables::kState, fmt::format("the input '{}'", entry.key),
                                                      in_words(KeyKind::kExpressionOfState));
    references.add_variables(value);
    spec.inputs.push_back(value);
    request.inputs.emplace_back(entry.key, table.scope().place(entry));
  }
  for (const TomlEntry& entry : entries(table, "parameters")) request.parameters.push_back(parameter(table, entry));
  for (const TomlEntry& entry : entries(table, "outputs")) request.outputs.emplace_back(entry.key, table.scope().text(entry.value));
  // A text may be an expression of parameters of the model, where the FMU wants a number.
  const std::vector<FmuRequest::Parameter> written = request.parameters;
  try {
    spec.block = make_fmu_block(request);
  } catch (const InputError&) {
    bool changed = false;
    for (std::size_t k = 0; k < written.size(); ++k)
      if (const TomlEntry& entry = entries(table, "parameters")[k]; entry.value.kind == TomlValue::Kind::kString) try {
          request.parameters[k].value = table.scope().number(entry.value, fmt::format("the parameter '{}'", entry.key));
          changed = true;
        } catch (const InputError&) {
        }
    if (!changed) throw;
    spec.block = make_fmu_block(std::move(request));
  }
  return spec;
}

}  // namespace linkwork
