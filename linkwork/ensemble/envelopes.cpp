#include "linkwork/ensemble/envelopes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "linkwork/ensemble/csv_rows.h"
#include "linkwork/ensemble/no_value.h"

namespace linkwork {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostTimes = 400.0;
constexpr long kMostCurves = 120;
constexpr double kOnTime = 1e-6;  // of the time between two rows

/// Of one column at one time; numbers come one by one [Welford1962].
struct Band {
  long count = 0;
  double low = kNoValue, high = kNoValue, mean = 0.0, squares = 0.0;

  void add(double value) {
    if (std::isnan(value)) return;
    ++count;
    low = count == 1 ? value : std::min(low, value);
    high = count == 1 ? value : std::max(high, value);
    const double before = value - mean;
    mean += before / static_cast<double>(count);
    squares += before * (value - mean);
  }
  double deviation() const { return count > 1 ? std::sqrt(squares / static_cast<double>(count - 1)) : 0.0; }
};

}  // namespace

std::string envelopes_json(const std::filesystem::path& kept_file, const std::vector<std::string>& columns, long runs,
                           double every, double end, const std::set<long>& wanted) {
  const double step = every * std::max(1.0, std::ceil(end / every / kMostTimes));
  const long curve_stride = (runs + kMostCurves - 1) / kMostCurves;
  std::vector<std::vector<Band>> bands(columns.size());
  std::map<long, std::vector<std::vector<double>>> curves;  // by run and column
  bool is_header = true;
  read_csv_rows(kept_file, [&](const std::vector<std::string>& fields, std::uint64_t) {
    if (std::exchange(is_header, false)) return true;
    const auto run = static_cast<long>(csv_number(fields[0]));
    const double at = csv_number(fields[1]) / step;
    if (!(std::abs(at - std::round(at)) * step < kOnTime * every)) return true;  // a row of an event, or one of those left out
    const auto k = static_cast<std::size_t>(std::round(at));
    const bool has_curve = (run - 1) % curve_stride == 0 || wanted.contains(run);
    if (has_curve) curves[run].resize(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const double value = csv_number(fields[2 + c]);
      if (bands[c].size() <= k) bands[c].resize(k + 1);
      bands[c][k].add(value);
      if (!has_curve) continue;
      std::vector<double>& curve = curves[run][c];
      curve.resize(std::max(curve.size(), k + 1), kNoValue);
      curve[k] = value;
    }
    return true;
  });
  Json json{{"t", Json::array()}, {"columns", Json::array()}, {"curves", Json::array()}};
  for (std::size_t k = 0; !bands.empty() && k < bands.front().size(); ++k) json["t"].push_back(step * static_cast<double>(k));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    Json band{{"name", columns[c]},
              {"low", Json::array()},
              {"high", Json::array()},
              {"mean", Json::array()},
              {"deviation", Json::array()}};
    for (const Band& each : bands[c]) {
      const bool is_there = each.count > 0;
      band["low"].push_back(each.low);
      band["high"].push_back(each.high);
      band["mean"].push_back(is_there ? each.mean : kNoValue);
      band["deviation"].push_back(is_there ? each.deviation() : kNoValue);
    }
    json["columns"].push_back(std::move(band));
  }
  for (const auto& [run, curve] : curves) json["curves"].push_back({{"run", run}, {"values", curve}});
  return json.dump();
}

}  // namespace linkwork
