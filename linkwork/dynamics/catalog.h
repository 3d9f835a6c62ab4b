#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linkwork/model/spec.h"

namespace linkwork {

struct Model;

/// The numbers that an option may be.
struct OptionRange {
  double least, most = std::numeric_limits<double>::infinity();
  bool with_least = true;
  bool whole = false;

  bool holds(double value) const;
  /// What is expected, for messages.
  std::string in_words() const;
};
constexpr OptionRange kYesOrNo{0.0, 1.0, true, true};
constexpr OptionRange numbers_from(double least) { return {least}; }
constexpr OptionRange numbers_above(double least) { return {.least = least, .with_least = false}; }
constexpr OptionRange numbers_between(double least, double most) { return {least, most}; }
/// Whole numbers; `most` is one that an int holds, if nothing else is said.
constexpr OptionRange whole_numbers(double least, double most = 1e9) { return {least, most, true, true}; }

struct OptionInfo {
  std::string name;
  double fallback;  // NaN: the summary says what it is
  std::string summary;
  OptionRange range;  // of what is given
};

/// The options of a choice, the missing ones at their defaults.
using Options = std::map<std::string, double>;

/// What the command line, the docs and messages say of a method.
struct CatalogInfo {
  std::string name;
  std::string summary;
  std::string reference;
  std::vector<OptionInfo> options;
};

template <class T>
struct CatalogEntry {
  CatalogInfo info;
  std::function<std::unique_ptr<T>(const Model&, const Options&)> make;
  typename T::Traits traits = {};
};

template <class T>
using Catalog = std::span<const CatalogEntry<T>>;

/// Position of the chosen name. Throws InputError naming the known ones, or the known options, or what an option may be: the one
/// place where options are judged.
std::size_t find_choice(const std::vector<CatalogInfo>& known, const Choice& choice, const std::string& what);
/// The choice's options, completed.
Options complete_options(const CatalogInfo& info, const Choice& choice);

template <class T>
std::vector<CatalogInfo> catalog_infos(Catalog<T> catalog) {
  std::vector<CatalogInfo> infos;
  for (const auto& entry : catalog) infos.push_back(entry.info);
  return infos;
}

template <class T>
const CatalogEntry<T>& chosen_entry(Catalog<T> catalog, const Choice& choice, const std::string& what) {
  return catalog[find_choice(catalog_infos(catalog), choice, what)];
}

template <class T>
std::unique_ptr<T> make_chosen(Catalog<T> catalog, const Choice& choice, const std::string& what, const Model& model) {
  const CatalogEntry<T>& entry = chosen_entry(catalog, choice, what);
  return entry.make(model, complete_options(entry.info, choice));
}

}  // namespace linkwork
