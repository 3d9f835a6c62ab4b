#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "linkwork/front/run.h"
#include "linkwork/io/thinned_rows.h"
#include "linkwork/model/model.h"

namespace linkwork {

/// What was run, to write its files and to draw it. The page draws positions: if not all of them are among the columns that were
/// chosen, they are kept beside.
struct Results::Source {
  Spec spec;
  std::shared_ptr<const Model> model;  // in one piece
  std::vector<std::string> drawn_columns;
  std::optional<ThinnedRows> drawn;

  void begin_drawing(const std::vector<std::string>& chosen, const std::vector<std::string>& all);
  void draw(std::span<const double> whole_row);

 private:
  std::vector<std::size_t> places_;  // of the drawn columns among all
  std::vector<double> row_;
};

}  // namespace linkwork
