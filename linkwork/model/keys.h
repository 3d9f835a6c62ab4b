#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "linkwork/model/spec.h"

namespace linkwork {

/// What may stand after a key of a model file.
enum class KeyKind {
  kVersion,
  kName,
  kText,
  kTexts,
  kReference,
  kBody,
  kPosition,   // a joint's coordinate, "joint" or "joint.component", that is not part of a quaternion
  kPositions,  // an array of them
  kVelocity,   // a joint's coordinate that a force can act on
  kVelocities,
  kOneOf,
  kCatalogChoice,
  kBoolean,
  kNumber,
  kPositive,
  kNotNegative,
  kNonzero,
  kNumbers,
  kVector,
  kPositiveVector,
  kAxis,
  kQuaternion,
  kInertia,
  kLimits,
  kCoordinates,
  kExpressionOfTime,
  kExpressionOfPositions,
  kExpressionOfState,
  kExpressionOfLaw,
  kExpressionOfEvent,
  kActions,
  kVectorOfState,
  kNumberTable,
  kExpressionTable,
  kValueTable,  // of numbers, Booleans and texts
  kRepeat,
  kTable,   // one table, described by the KeyTable of the key's name
  kTables,  // an array of them
  kFrame,
};

inline constexpr bool kRequired = true;
inline constexpr bool kOptional = false;

/// Where in a spec T the value of a key goes. A frame takes a whole frame (kFrame), or its body (kBody) and its point (kVector)
/// from keys of their own; a flag with choices (kOneOf) is set by the last of them. Without a field: a number, to T::numbers.
template <class T>
using Field = std::variant<std::monostate, bool T::*, double T::*, std::string T::*, std::vector<double> T::*,
                           std::vector<std::string> T::*, FrameSpec T::*, Expression T::*, std::array<Expression, 3> T::*>;

/// A key that a kind of closure, force or sensor brings along.
template <class T>
struct KindKey {
  KindKey(std::string key, KeyKind value, bool is_required, std::string meaning, Field<T> goes_to = {},
          std::vector<std::string> of = {})
      : name(std::move(key)),
        kind(value),
        required(is_required),
        summary(std::move(meaning)),
        field(goes_to),
        choices(std::move(of)) {}

  std::string name;
  KeyKind kind;
  bool required;
  std::string summary;
  Field<T> field;
  std::vector<std::string> choices;  // kOneOf
};

/// Where keys were written, for the checks of a kind. Of what was not read from a file, all keys count as written.
struct KeyPlaces {
  std::function<bool(std::string_view key)> has;
  std::function<Place(std::string_view key)> place;

  /// Of a key's value or, if it was not written, of the thing it belongs to.
  Place operator()(std::string_view key) const { return place(key); }
};

template <class Kinds>
auto find_kind(const Kinds& kinds, std::string_view name) -> decltype(&*kinds.begin()) {
  const auto found = std::ranges::find_if(kinds, [&](const auto& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace linkwork
