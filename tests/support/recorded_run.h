#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "linkwork/model/model.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork::test {

/// A run kept in memory.
struct RecordedRun {
  Summary summary;
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;

  explicit RecordedRun(const Spec& spec, Observer observer = {}) {
    const Model model = build_model(spec);
    Simulation simulation(model);
    columns = simulation.columns();
    observer.row = [this](std::span<const double> row) { rows.emplace_back(row.begin(), row.end()); };
    summary = simulation.run(observer);
  }
  std::size_t column(const std::string& name) const {
    const auto at = std::ranges::find(columns, name);
    EXPECT_NE(at, columns.end()) << name;
    return static_cast<std::size_t>(at - columns.begin());
  }
  double at(double t, const std::string& name) const {
    for (const auto& row : rows)
      if (std::abs(row[0] - t) < 1e-9) return row[column(name)];
    ADD_FAILURE() << "no row at " << t;
    return 0.0;
  }
  double last(const std::string& name) const { return rows.back()[column(name)]; }
  /// What happened, as "name what".
  std::vector<std::string> happened() const {
    std::vector<std::string> texts;
    for (const EventRecord& event : summary.events) texts.push_back(event.name + " " + event.what);
    return texts;
  }
};

}  // namespace linkwork::test
