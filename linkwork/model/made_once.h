#pragma once

#include <memory>
#include <mutex>

namespace linkwork {

/// Something that follows from its owner alone: made when first asked for, on whatever thread, and shared from then on. A copy of
/// the owner may be changed, and makes its own.
template <class T>
class MadeOnce {
 public:
  MadeOnce() = default;
  MadeOnce(const MadeOnce&) {}
  MadeOnce(MadeOnce&& other) noexcept : made_(std::move(other.made_)) {}
  MadeOnce& operator=(const MadeOnce& other) {
    if (this != &other) made_.reset();
    return *this;
  }
  MadeOnce& operator=(MadeOnce&& other) noexcept {
    made_ = std::move(other.made_);
    return *this;
  }
  ~MadeOnce() = default;

  template <class Make>
  const std::shared_ptr<const T>& get(Make make) const {
    const std::scoped_lock lock(making_);
    if (!made_) made_ = make();
    return made_;
  }

 private:
  mutable std::mutex making_;
  mutable std::shared_ptr<const T> made_;
};

}  // namespace linkwork
