#include "linkwork/io/model_keys.h"

namespace linkwork {

using enum KeyKind;

std::string_view in_words(KeyKind kind) {
  switch (kind) {
    case kVersion:
      return "1, the version of the format";
    case kName:
      return "a name: a string that is not empty and has no '.' or control characters";
    case kText:
      return "a string";
    case kTexts:
      return "an array of strings";
    case kReference:
    case kBody:
    case kPosition:
    case kVelocity:
      return "a name";
    case kPositions:
    case kVelocities:
      return "an array of names";
    case kOneOf:
      return "a string";
    case kCatalogChoice:
      return "a name with options: \"name\" or \"name:key=value,key=value\"";
    case kBoolean:
      return "true or false";
    case kNumber:
      return "a number";
    case kPositive:
      return "a number > 0";
    case kNotNegative:
      return "a number >= 0";
    case kNonzero:
      return "a number other than 0";
    case kNumbers:
      return "an array of numbers";
    case kVector:
      return "an array of 3 numbers";
    case kPositiveVector:
      return "an array of 3 numbers > 0";
    case kAxis:
      return "an array of 3 numbers, not all 0";
    case kQuaternion:
      return "an array of 4 numbers [w, x, y, z], not all 0";
    case kInertia:
      return "[xx, yy, zz] or [xx, yy, zz, xy, xz, yz]";
    case kLimits:
      return "[low, high] with low < high";
    case kCoordinates:
      return "a number, or an array with one for each coordinate";
    case kExpressionOfTime:
      return "a number or an expression of t";
    case kExpressionOfPositions:
      return "an expression of t and q";
    case kExpressionOfEvent:
      return "an expression of t, q.<joint>, v.<joint>, inputs, states, sensors, lambda.<row>, error.<row> and rate.<row>";
    case kActions:
      return "an array of strings, each one of: on NAME, off NAME, set PARAMETER = EXPRESSION, bounce CLOSURE with NUMBER, kick "
             "JOINT by EXPRESSION, stop";
    case kExpressionOfState:
      return "a number or an expression of t, q, v and signals";
    case kExpressionOfLaw:
      return "a number or an expression of d, dv, t, q, v and signals";
    case kVectorOfState:
      return "an array of 3 numbers or expressions of t, q, v and signals";
    case kNumberTable:
      return "a table of numbers: { name = value }";
    case kExpressionTable:
      return "a table of numbers or expressions: { name = \"q.arm\" }";
    case kValueTable:
      return "a table of numbers, true or false, and texts: { name = value }";
    case kRepeat:
      return "a table of ranges: { i = [first, last] }";
    case kTable:
      return "a table";
    case kTables:
      return "an array of tables";
    case kFrame:
      return "a frame: { body = \"name\", at = [x, y, z] }";
  }
  return {};
}

}  // namespace linkwork
