#include "linkwork/io/schema.h"

#include <nlohmann/json.hpp>

#include "linkwork/io/model_keys.h"

namespace linkwork {
namespace {

using Json = nlohmann::ordered_json;
using enum KeyKind;

Json reference(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }

Json array_of(const Json& item, int count) {
  return {{"type", "array"}, {"items", item}, {"minItems", count}, {"maxItems", count}};
}

/// A number, or a string with an expression.
Json number_or_text(const Json& bounds = Json::object()) {
  Json number{{"type", "number"}};
  number.update(bounds);
  return {{"anyOf", Json::array({number, {{"type", "string"}}})}};
}

Json value_schema(const Key& key) {
  Json text{{"type", "string"}};
  switch (key.kind) {
    case kVersion:
      return {{"const", 1}};
    case kName:
      return {{"type", "string"}, {"minLength", 1}, {"pattern", "^[^.]*$"}};
    case kText:
    case kReference:
    case kBody:
    case kPosition:
    case kVelocity:
    case kCatalogChoice:
      return {{"type", "string"}, {"minLength", 1}};
    case kTexts:
    case kPositions:
    case kVelocities:
      return {{"type", "array"}, {"items", text}};
    case kOneOf:
      return {{"enum", key.choices}};
    case kBoolean:
      return {{"type", "boolean"}};
    case kNumber:
    case kNonzero:
    case kExpressionOfTime:
    case kExpressionOfState:
    case kExpressionOfLaw:
      return reference("number");
    case kExpressionOfPositions:
    case kExpressionOfEvent:
      return text;
    case kActions:
      return {{"type", "array"}, {"minItems", 1}, {"items", text}};
    case kPositive:
      return number_or_text({{"exclusiveMinimum", 0}});
    case kNotNegative:
      return number_or_text({{"minimum", 0}});
    case kNumbers:
      return {{"type", "array"}, {"items", reference("number")}};
    case kVector:
    case kAxis:
    case kVectorOfState:
      return reference("vector");
    case kPositiveVector:
      return array_of(number_or_text({{"exclusiveMinimum", 0}}), 3);
    case kQuaternion:
      return array_of(reference("number"), 4);
    case kInertia:
      return {{"anyOf", Json::array({array_of(reference("number"), 3), array_of(reference("number"), 6)})}};
    case kLimits:
      return array_of(reference("number"), 2);
    case kCoordinates:
      return {{"anyOf", Json::array({reference("number"), {{"type", "array"}, {"items", reference("number")}}})}};
    case kNumberTable:
      return {{"type", "object"}, {"additionalProperties", reference("number")}};
    case kExpressionTable:
    case kValueTable:
      return {{"type", "object"}, {"additionalProperties", {{"type", Json::array({"number", "string", "boolean"})}}}};
    case kRepeat:
      return {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", array_of(reference("number"), 2)}};
    case kTable:
      return reference(key.name);
    case kTables:
      return {{"type", "array"}, {"items", reference(key.name)}};
    case kFrame:
      return reference("frame");
  }
  return {};
}

Json required_keys(const KeyTable& table, const std::string& type) {
  Json names = Json::array();
  for (const Key& key : table.keys) {
    if (key.required && applies(key, type)) names.push_back(key.name);
  }
  return names;
}

/// What holds for tables of one type: which keys they may have and which they must.
Json condition(const KeyTable& table, const std::string& type) {
  const Json is_type{{"properties", {{table.selector, {{"const", type}}}}}, {"required", {table.selector}}};
  return {{"if", is_type},
          {"then", {{"propertyNames", {{"enum", table.key_names(type)}}}, {"required", required_keys(table, type)}}}};
}

Json table_schema(const KeyTable& table) {
  Json properties = Json::object();
  for (const Key& key : table.keys) {
    Json& property = properties[key.name];
    if (!property.is_null()) continue;  // the same key of other types
    property = value_schema(key);
    property["description"] = key.summary;
  }
  Json schema{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  schema["required"] = required_keys(table, "");
  for (const std::string& type : table.types()) schema["allOf"].push_back(condition(table, type));
  return schema;
}

}  // namespace

std::string model_schema_json() {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Linkwork model"}};
  schema.update(table_schema(key_table("model")));
  Json& definitions = schema["$defs"];
  definitions["number"] = number_or_text();
  definitions["vector"] = array_of(reference("number"), 3);
  for (const KeyTable& table : key_tables()) {
    if (table.name != "model") definitions[table.name] = table_schema(table);
  }
  return schema.dump(2) + "\n";
}

}  // namespace linkwork
