#pragma once

#include <string>

namespace linkwork {

/// A function of a part of the program that is a shared object of its own, loaded when it is needed and to the end: from where
/// the environment variable says, if it is set; else from beside this code, beside what the build makes, where it is installed,
/// or where the system looks. Null: there is none, and `trouble` has the reason, if there is one to tell. `global`: what it is
/// linked with finds one another by symbols, as if the program were linked with it.
void* shared_function(const char* file, const char* variable, const char* function, bool global, std::string& trouble);

}  // namespace linkwork
