#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace linkwork {

/// Letters between processes that mpirun has started, beside the collective messages of a Transport: for work that is handed out
/// as it is asked for. One thread of a process uses it.
class Mailbox {
 public:
  struct Letter {
    int from = 0;
    std::string bytes;
  };

  virtual ~Mailbox() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// May wait until the other process receives it.
  virtual void send(int to, std::string_view bytes) = 0;
  /// The next one, if any has come. Those of one sender come in the order in which they were sent.
  virtual std::optional<Letter> receive() = 0;
};

/// All ranks call it, while MpiWorld is there. Null: there is one process only.
std::unique_ptr<Mailbox> open_mailbox();

}  // namespace linkwork
