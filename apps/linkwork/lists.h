#pragma once

#include <string>
#include <vector>

#include "linkwork/dynamics/catalog.h"
#include "linkwork/simulation/comparison.h"

namespace linkwork::cli {

/// "schur,baumgarte:alpha=5/10,beta=5" as choices: commas separate both choices and their options, which have an equals sign, and
/// slashes several values of an option, each of which makes a choice of its own. "all" stands for all known but "auto". Throws
/// InputError naming the option of the command line.
std::vector<Choice> parse_choices(const std::string& text, const char* option, const std::vector<CatalogInfo>& known,
                                  const std::string& what);

/// "1e-3,5e-4": numbers > 0.
std::vector<double> parse_numbers(const std::string& text, const char* option);
double parse_positive(const std::string& text, const char* option);

/// "1e-6,1e-8:1e-12": relative tolerances, each with an absolute one, or else with that part of it.
std::vector<Tolerance> parse_tolerances(const std::string& text, const char* option, double atol_part);

/// Splits at commas outside of parentheses.
std::vector<std::string> split_list(const std::string& text, const char* option);

}  // namespace linkwork::cli
