#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace linkwork {

/// What is said of a run while it goes on: of each thing once.
class Remarks {
 public:
  struct Remark {
    double t = 0.0;
    std::string about, text;
  };

  bool has(const std::string& about) const { return std::ranges::find(all_, about, &Remark::about) != all_.end(); }
  void add(double t, const std::string& about, std::string text) {
    if (!has(about)) all_.push_back({t, about, std::move(text)});
  }
  const std::vector<Remark>& all() const { return all_; }
  void set(std::vector<Remark> remarks) { all_ = std::move(remarks); }

 private:
  std::vector<Remark> all_;
};

}  // namespace linkwork
