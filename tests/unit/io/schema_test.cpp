#include "linkwork/io/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "four_bar_text.h"
#include "linkwork/io/model_file.h"
#include "linkwork/io/model_keys.h"
#include "linkwork/io/toml_value.h"
#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/model/joints/joint_kind.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

Json schema() { return Json::parse(model_schema_json()); }

Json to_json(const TomlValue& value) {
  switch (value.kind) {
    case TomlValue::Kind::kString:
      return value.text;
    case TomlValue::Kind::kInteger:
      return static_cast<std::int64_t>(value.number);
    case TomlValue::Kind::kFloat:
      return value.number;
    case TomlValue::Kind::kBoolean:
      return value.boolean;
    case TomlValue::Kind::kDate:
      return nullptr;
    case TomlValue::Kind::kArray: {
      Json array = Json::array();
      for (const TomlValue& item : value.items) array.push_back(to_json(item));
      return array;
    }
    case TomlValue::Kind::kTable: {
      Json object = Json::object();
      for (const TomlEntry& entry : value.entries) object[entry.key] = to_json(entry.value);
      return object;
    }
  }
  return nullptr;
}

/// As much of a JSON Schema validator as our schema needs; a keyword it does not know fails the test.
class Validator {
 public:
  explicit Validator(Json root) : root_(std::move(root)) {}

  bool accepts(const Json& value) const { return accepts(value, root_); }

 private:
  bool accepts(const Json& value, const Json& rules) const {
    return std::all_of(rules.items().begin(), rules.items().end(),
                       [&](const auto& rule) { return holds(rule.key(), rule.value(), value, rules); });
  }

  bool holds(const std::string& keyword, const Json& rule, const Json& value, const Json& rules) const {
    if (keyword == "$schema" || keyword == "$defs" || keyword == "title" || keyword == "description" || keyword == "then")
      return true;
    if (keyword == "$ref") return accepts(value, root_.at(Json::json_pointer(rule.get<std::string>().substr(1))));
    if (keyword == "type") return has_type(value, rule.get<std::string>());
    if (keyword == "const") return value == rule;
    if (keyword == "enum") return std::find(rule.begin(), rule.end(), value) != rule.end();
    if (keyword == "anyOf") return std::any_of(rule.begin(), rule.end(), [&](const Json& r) { return accepts(value, r); });
    if (keyword == "allOf") return std::all_of(rule.begin(), rule.end(), [&](const Json& r) { return accepts(value, r); });
    if (keyword == "if") return !accepts(value, rule) || accepts(value, rules.at("then"));
    if (keyword == "minimum") return !value.is_number() || value.get<double>() >= rule.get<double>();
    if (keyword == "exclusiveMinimum") return !value.is_number() || value.get<double>() > rule.get<double>();
    if (keyword == "minLength") return !value.is_string() || value.get<std::string>().size() >= rule.get<std::size_t>();
    if (keyword == "pattern")
      return !value.is_string() || std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>()));
    if (keyword == "minItems") return !value.is_array() || value.size() >= rule.get<std::size_t>();
    if (keyword == "maxItems") return !value.is_array() || value.size() <= rule.get<std::size_t>();
    if (keyword == "items")
      return !value.is_array() || std::all_of(value.begin(), value.end(), [&](const Json& v) { return accepts(v, rule); });
    if (keyword == "minProperties") return !value.is_object() || value.size() >= rule.get<std::size_t>();
    if (!value.is_object()) return true;  // what follows is about objects
    if (keyword == "required")
      return std::all_of(rule.begin(), rule.end(), [&](const Json& k) { return value.contains(k.get<std::string>()); });
    if (keyword == "propertyNames")
      return every_entry(value, [&](const std::string& key, const Json&) { return accepts(Json(key), rule); });
    if (keyword == "properties") {
      return every_entry(value,
                         [&](const std::string& key, const Json& v) { return !rule.contains(key) || accepts(v, rule.at(key)); });
    }
    if (keyword == "additionalProperties") {
      const Json known = rules.value("properties", Json::object());
      return every_entry(value, [&](const std::string& key, const Json& v) {
        return known.contains(key) || (rule.is_boolean() ? rule.get<bool>() : accepts(v, rule));
      });
    }
    ADD_FAILURE() << "unknown keyword " << keyword;
    return false;
  }

  static bool every_entry(const Json& object, const std::function<bool(const std::string&, const Json&)>& test) {
    return std::all_of(object.items().begin(), object.items().end(),
                       [&](const auto& entry) { return test(entry.key(), entry.value()); });
  }

  static bool has_type(const Json& value, const std::string& type) {
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "number" && value.is_number()) ||
           (type == "boolean" && value.is_boolean());
  }

  Json root_;
};

bool accepts(const std::string& toml) { return Validator(schema()).accepts(to_json(parse_toml(toml, "model.toml"))); }

TEST(SchemaTest, HasEveryKeyOfTheReader) {
  const Json root = schema();
  EXPECT_EQ(root.at("$schema"), "https://json-schema.org/draft/2020-12/schema");
  for (const KeyTable& table : key_tables()) {
    const Json& properties = (table.name == "model" ? root : root.at("$defs").at(table.name)).at("properties");
    for (const Key& key : table.keys) EXPECT_TRUE(properties.contains(key.name)) << table.name << "." << key.name;
  }
}

TEST(SchemaTest, AcceptsGoodModels) { EXPECT_TRUE(accepts(kFourBarText)); }

TEST(SchemaTest, RefusesWhatTheReaderRefuses) {
  const std::string joint = "linkwork = 1\n[[joint]]\nname = \"x\"\nparent = { body = \"a\" }\nchild = { body = \"b\" }\n";
  EXPECT_TRUE(accepts(joint + "type = \"screw\"\npitch = 1\nrepeat = { i = [1, \"n\"] }\n"));
  EXPECT_FALSE(accepts("linkwork = 2\n"));
  EXPECT_FALSE(accepts("name = \"x\"\n"));
  EXPECT_FALSE(accepts("linkwork = 1\n[settings]\nsept = 1\n"));
  EXPECT_FALSE(accepts("linkwork = 1\n[settings]\nstep = 0\n"));
  EXPECT_FALSE(accepts("linkwork = 1\n[settings]\ngravity = [0, 1]\n"));
  EXPECT_FALSE(accepts(joint + "type = \"hinge\"\n"));
  EXPECT_FALSE(accepts(joint + "type = \"screw\"\n"));
  EXPECT_FALSE(accepts(joint + "type = \"revolute\"\npitch = 1\n"));
  EXPECT_FALSE(accepts(joint + "type = \"revolute\"\nfixed = 1\n"));
  EXPECT_FALSE(accepts("linkwork = 1\n[[body]]\nname = \"a.b\"\nmass = 1\n"));
}

TEST(SchemaTest, DefaultsInTheDescriptionsAreThoseOfTheReader) {
  const Settings built_in;
  std::string text = "linkwork = 1\n[[body]]\nname = \"a\"\nmass = 1\n[settings]\n";
  for (const Key& key : key_table("settings").keys) {
    if (key.name == "max_step" || key.name == "columns" || key.name == "network") continue;  // none by default
    const std::size_t begin = key.summary.find("default `");
    ASSERT_NE(begin, std::string::npos) << key.name;
    text += key.name + " = " + key.summary.substr(begin + 9, key.summary.size() - begin - 10) + "\n";
  }
  const Settings settings = read_model_text(text, "model.toml").settings;
  EXPECT_EQ(settings.gravity, built_in.gravity);
  EXPECT_EQ(settings.end, built_in.end);
  EXPECT_EQ(settings.step, built_in.step);
  EXPECT_EQ(settings.rtol, built_in.rtol);
  EXPECT_EQ(settings.atol, built_in.atol);
  EXPECT_EQ(settings.output_every, built_in.output_every);
  EXPECT_EQ(settings.constraint_tolerance, built_in.constraint_tolerance);
  EXPECT_EQ(settings.coordinates.name, built_in.coordinates.name);
  EXPECT_EQ(settings.formulation.name, built_in.formulation.name);
  EXPECT_EQ(settings.stabilization.name, built_in.stabilization.name);
  EXPECT_EQ(settings.integrator.name, built_in.integrator.name);
}

std::string documentation() { return read_text_file(test::source_dir() / "docs" / "model-format.md"); }

TEST(ModelFormatDocumentationTest, HasTheTableOfEveryKindOfTable) {
  const std::string text = documentation();
  for (const KeyTable& table : key_tables()) EXPECT_THAT(text, HasSubstr(keys_as_markdown(table))) << table.name;
}

TEST(ModelFormatDocumentationTest, ListsEveryFunctionOfExpressions) {
  const std::string text = documentation();
  for (const std::string& signature : function_signatures()) EXPECT_THAT(text, HasSubstr("`" + signature + "`"));
}

TEST(ModelFormatDocumentationTest, ListsEveryTypeOfJointClosureForceAndSensor) {
  const std::string text = documentation();
  for (const JointKind& kind : joint_kinds()) {
    EXPECT_THAT(text, HasSubstr("| `" + std::string(kind.name) + "` | " + std::string(kind.summary) + " | "));
    std::string components;
    for (const std::string& component : kind.positions) components += (components.empty() ? "" : " ") + component;
    if (kind.nq() > 1) {
      EXPECT_THAT(text, HasSubstr(" | `" + components + "` | "));
    }
  }
  const auto expect_listed = [&](const auto& kinds) {
    for (const auto& kind : kinds)
      EXPECT_THAT(text, HasSubstr("| `" + std::string(kind.name) + "` | " + std::string(kind.summary) + " |"));
  };
  expect_listed(frame_closure_kinds());
  expect_listed(standard_kinds()->closures);
  expect_listed(standard_kinds()->forces);
  expect_listed(standard_kinds()->sensors);
}

/// The examples that are whole files, but for those that show a mistake: their titles are the files' names.
std::map<std::string, std::string> complete_examples(const std::string& text) {
  const std::string fence = "```toml title=\"";
  std::map<std::string, std::string> examples;
  for (std::size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1)) {
    const std::size_t name = at + fence.size();
    const std::size_t begin = text.find('\n', name);
    const std::string file = text.substr(name, text.find('"', name) - name);
    const std::size_t use = text.find(' ' + file, begin);
    const bool is_wrong = use != std::string::npos && text.substr(use, text.find('\n', use) - use).ends_with("# exit 2");
    if (!is_wrong) examples[file] = text.substr(begin, text.find("```", begin) - begin);
  }
  return examples;
}

TEST(ModelFormatDocumentationTest, CompleteExamplesAreGoodModels) {
  const std::map<std::string, std::string> examples = complete_examples(documentation());
  EXPECT_GE(examples.size(), 4U);
  ReadOptions options;
  options.load = [&](const std::filesystem::path& file) { return examples.at(file.string()); };
  for (const auto& [name, example] : examples) {
    EXPECT_NO_THROW(read_model_text(example, name, options)) << name;
    EXPECT_TRUE(accepts(example)) << name;
  }
}

}  // namespace
}  // namespace linkwork
