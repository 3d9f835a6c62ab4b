// Any bytes must be answered, refused in words, or be a WireError that closes the line: also behind a Hello and an Open. What is
// read is written and read back as the same.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "linkwork/modules/remote/module_host.h"

namespace {

using linkwork::VecX;

/// A point on a rail.
class Slider : public linkwork::Module {
 public:
  int port_count() const override { return 1; }
  int state_size() const override { return 2; }
  void start(VecX<double>& x) override { x = VecX<double>::Zero(2); }
  linkwork::Status kinematics(double, const VecX<double>& x, std::span<linkwork::PortMotion> ports) override {
    x_ = x;
    ports[0].p.x() = x[0], ports[0].v.x() = x[1];
    return {};
  }
  linkwork::Status response(linkwork::Level, linkwork::PortResponse& response) override {
    response.D.setZero(), response.D(3, 3) = 1.0;
    return {};
  }
  linkwork::Status advance(linkwork::Level level, const VecX<double>& Q, VecX<double>& out) override {
    if (level == linkwork::Level::kAcceleration) out[0] = x_[1], out[1] = Q[3];
    return {};
  }
  std::vector<double> memory() const override { return {1.0}; }

 private:
  VecX<double> x_ = VecX<double>::Zero(2);
};

class NoSealer : public linkwork::Sealer {
 public:
  std::string seal(const std::string& text) const override { return text; }
  std::optional<std::string> open(const std::string& sealed) const override { return sealed; }
};

void answer(linkwork::Conversation& talk, const std::string& text) {
  try {
    linkwork::WireReader::message<linkwork::remote::Reply>(talk.answer(text));
    const std::string written = linkwork::WireWriter::text(linkwork::WireReader::message<linkwork::remote::Request>(text));
    if (linkwork::WireWriter::text(linkwork::WireReader::message<linkwork::remote::Request>(written)) != written) std::abort();
  } catch (const linkwork::WireError&) {
    // Most are none.
  }
  try {
    linkwork::WireReader::message<linkwork::remote::Reply>(text);  // what a host could answer
  } catch (const linkwork::WireError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const linkwork::ServedParts parts{{"p", [](const linkwork::remote::Open&) {
                                              linkwork::ServedModule served;
                                              served.module = std::make_unique<Slider>();
                                              return served;
                                            }}};
  static const NoSealer sealer;
  const std::string text(reinterpret_cast<const char*>(data), size);
  linkwork::Conversation closed(parts, sealer), opened(parts, sealer);
  answer(closed, text);
  linkwork::remote::Request hello, open;
  hello.hello = {1, 1, "fuzz"};
  open.open = linkwork::remote::Open{"p", {"a"}, {}, {}, "", 4};
  opened.answer(linkwork::WireWriter::text(hello));
  opened.answer(linkwork::WireWriter::text(open));
  // Several messages, each behind its length.
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = static_cast<unsigned char>(text[at]);
    answer(opened, text.substr(at + 1, length));
    at += 1 + length;
  }
  return 0;
}
