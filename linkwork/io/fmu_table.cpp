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
  FmuRequest::Parameter made{entry.key, {}, {}, scope.place(entry)};
  if (entry.value.kind == TomlValue::Kind::kBoolean) {
    made.number = entry.value.boolean ? 1.0 : 0.0;
    return made;
  }
  if (!entry.value.is_number()) made.text = scope.text(entry.value);
  try {
    made.number = scope.number(entry.value, fmt::format("the parameter '{}'", entry.key));
  } catch (const InputError&) {
    if (!made.text) throw;
  }
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
  for (const TomlEntry& entry : entries(table, "outputs"))
    request.outputs.emplace_back(entry.key, table.scope().text(entry.value));
  spec.block = make_fmu_block(std::move(request));
  return spec;
}

}  // namespace linkwork
