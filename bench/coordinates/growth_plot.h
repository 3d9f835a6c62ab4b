#pragma once

#include <string>
#include <vector>

namespace linkwork::bench {

struct Curve {
  std::string name;
  std::vector<double> x, y;
};

struct Panel {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
};

/// Panels side by side, both axes logarithmic, as an SVG document.
std::string growth_plot(const std::vector<Panel>& panels);

}  // namespace linkwork::bench
