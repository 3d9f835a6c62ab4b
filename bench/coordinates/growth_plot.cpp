#include "bench/coordinates/growth_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace linkwork::bench {
namespace {

constexpr double kWidth = 440, kHeight = 380;  // of a panel
constexpr double kLeft = 64, kRight = 16, kTop = 36, kBottom = 48;
constexpr std::array kColors{"#1f6fc4", "#d9722b", "#2a9d5c", "#c2375a", "#7b52ab", "#6b6b6b"};

/// Whole decades around the values, on one side of the panel.
struct Axis {
  int low = 0, high = 1;
  double begin = 0.0, end = 1.0;  // in pixels

  void cover(const std::vector<double>& values) {
    for (double value : values) {
      low = std::min(low, static_cast<int>(std::floor(std::log10(value))));
      high = std::max(high, static_cast<int>(std::ceil(std::log10(value))));
    }
  }
  double at(double value) const { return begin + (end - begin) * (std::log10(value) - low) / (high - low); }
};

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

std::string decades(const Axis& x, const Axis& y) {
  std::string svg;
  for (int k = x.low; k <= x.high; ++k)
    svg += fmt::format(
        R"(<path class="grid" d="M{0:.1f} {1:.1f}V{2:.1f}"/><text x="{0:.1f}" y="{3:.1f}" text-anchor="middle">{4:g}</text>)"
        "\n",
        x.at(std::pow(10.0, k)), y.begin, y.end, y.begin + 16, std::pow(10.0, k));
  for (int k = y.low; k <= y.high; ++k)
    svg += fmt::format(
        R"(<path class="grid" d="M{0:.1f} {1:.1f}H{2:.1f}"/><text x="{3:.1f}" y="{4:.1f}" text-anchor="end">{5:g}</text>)"
        "\n",
        x.begin, y.at(std::pow(10.0, k)), x.end, x.begin - 6, y.at(std::pow(10.0, k)) + 4, std::pow(10.0, k));
  return svg;
}

std::string drawn(const Curve& curve, const char* color, double legend_y, const Axis& x, const Axis& y) {
  std::string line, dots;
  for (std::size_t k = 0; k < curve.x.size(); ++k) {
    line += fmt::format("{}{:.1f} {:.1f}", k ? "L" : "M", x.at(curve.x[k]), y.at(curve.y[k]));
    dots += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"/>)", x.at(curve.x[k]), y.at(curve.y[k]), color);
  }
  return fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="1.6"/>{})"
                     R"(<circle cx="{:.1f}" cy="{:.1f}" r="4" fill="{}"/><text x="{:.1f}" y="{:.1f}">{}</text>)"
                     "\n",
                     line, color, dots, x.begin + 14, legend_y - 4, color, x.begin + 24, legend_y, escaped(curve.name));
}

std::string panel_svg(const Panel& panel) {
  Axis x{0, 1, kLeft, kWidth - kRight}, y{0, 1, kHeight - kBottom, kTop};
  for (const Curve& curve : panel.curves) x.cover(curve.x), y.cover(curve.y);
  std::string svg = decades(x, y);
  for (std::size_t k = 0; k < panel.curves.size(); ++k)
    svg += drawn(panel.curves[k], kColors[k % kColors.size()], kTop + 18 + 17 * static_cast<double>(k), x, y);
  svg += fmt::format(R"(<text class="title" x="{:.1f}" y="20">{}</text>)", kLeft, escaped(panel.title));
  svg += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", (kLeft + kWidth - kRight) / 2, kHeight - 12,
                     escaped(panel.x_label));
  svg += fmt::format(R"svg(<text transform="translate(16 {:.1f}) rotate(-90)" text-anchor="middle">{}</text>)svg",
                     (kTop + kHeight - kBottom) / 2, escaped(panel.y_label));
  return svg;
}

}  // namespace

std::string growth_plot(const std::vector<Panel>& panels) {
  const double width = kWidth * static_cast<double>(panels.size());
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:g} {1:g}" width="{0:g}" height="{1:g}" font-family="sans-serif" font-size="12">)"
      "\n"
      R"(<style>.grid {{ stroke: #ccc; stroke-width: 0.7; }} .title {{ font-weight: bold; font-size: 14px; }}</style>)"
      R"(<rect width="100%" height="100%" fill="white"/>)"
      "\n",
      width, kHeight);
  for (std::size_t k = 0; k < panels.size(); ++k)
    svg += fmt::format(R"svg(<g transform="translate({:g} 0)">{}</g>)svg", kWidth * static_cast<double>(k), panel_svg(panels[k]));
  return svg + "\n</svg>\n";
}

}  // namespace linkwork::bench
