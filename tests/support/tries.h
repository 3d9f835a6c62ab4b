#pragma once

namespace linkwork::test {

/// How often a test tries something at random, given how often it usually does: under the sanitizers everything takes some twenty
/// times as long, and what they look for shows in few tries.
template <typename Integer>
constexpr Integer tries(Integer usual) {
#ifdef LINKWORK_SANITIZED
  return (usual + 9) / 10;
#else
  return usual;
#endif
}

}  // namespace linkwork::test
