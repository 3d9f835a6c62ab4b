#pragma once

#include <vector>

#include "linkwork/switching/contacts.h"
#include "linkwork/switching/impulses.h"

namespace linkwork {

/// Impacts of contacts: all that are closed or closing at an instant, together.
class Impacts {
 public:
  Impacts(Instant& now, Contacts& contacts, Frictions& frictions, Impulses& impulses);

  /// Nothing has struck yet at this instant.
  void begin() { struck_.assign(contacts_.count(), 0); }
  bool has_struck(std::size_t contact) const { return struck_[contact] != 0; }
  /// Friction under a given force takes no part: it has no impulse.
  Status strike(const std::vector<std::size_t>& closing);
  /// A contact that slides, and whose friction presses it on more than anything holds it off: no force fits. What happens is an
  /// impact without a collision, which stops the sliding [Brogliato2016].
  Status jam(const ContactPoint& point);

  const std::vector<int>& counts() const { return counts_; }
  /// Of the last impacts, by contact.
  const std::vector<std::vector<double>>& times() const { return times_; }
  const std::vector<double>& enough() const { return enough_; }
  void restore(const std::vector<int>& counts, std::vector<std::vector<double>> times, const std::vector<double>& enough);

 private:
  std::string reason_to_rest(std::size_t contact, double rebound);
  double energy_made_up() const;
  std::vector<ContactPoint> points_of(const std::vector<std::size_t>& closing, Modes& modes);
  void record(const std::vector<ContactPoint>& points);
  void part_or_hold(const std::vector<ContactPoint>& points);
  std::vector<int> rows_of(const ContactPoint& point) const;
  void keep(EventRecord record);

  Instant& now_;
  Contacts& contacts_;
  Frictions& frictions_;
  Impulses& impulses_;
  std::vector<int> counts_;                 // by contact
  std::vector<std::vector<double>> times_;  // by contact
  std::vector<double> enough_;              // by contact: energy made up to outweigh what the last impact took
  std::vector<char> struck_;                // by contact: at this instant
};

}  // namespace linkwork
