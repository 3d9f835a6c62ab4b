#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "linkwork/linalg/rank.h"
#include "linkwork/modules/reduced_response.h"

namespace linkwork {

/// The arithmetic of one group of modules: (1) to (3) of hierarchy.h. Rows of joints concern few ports, a port answers to forces
/// on ports of the same member only, and some of its components to no force at all: only the rest is computed.
class GroupElimination {
 public:
  using Wrench6 = std::array<double, 6>;

  /// `members`: what they offer, which lasts as long as the group; `kept`: places of ports that are joined further up, in rising
  /// order.
  GroupElimination(std::vector<const ReducedResponse*> members, std::vector<int> kept);
  /// Adds a row on these ports.
  void add_row(std::span<const int> ports);
  /// After all rows were added.
  void make_room();

  int rows() const { return static_cast<int>(rows_.size()); }

  /// What the members offer has changed.
  void begin();
  VecX<double> R, scale;  // stacked, six numbers a port
  /// Of a row on its n-th port.
  Wrench6& wrench(int row, int n) {
    return ends_[static_cast<std::size_t>(rows_[static_cast<std::size_t>(row)].first_end + n)].w;
  }
  VecX<double> rhs, row_scale;
  /// G R of a row.
  double rate_of_R(int row) const;

  /// x += D F.
  void add_response(const VecX<double>& F, VecX<double>& x) const;
  /// (1), (2). `usual_rank`, 0 at first, is the largest ever found: where a position is passed that is nearly singular, rows that
  /// are independent elsewhere are kept as long as they can be told.
  void go_up(int& usual_rank);
  /// (3): F += E' Q_up + G' lambda.
  void go_down(const VecX<double>& Q_up, VecX<double>& F);
  /// What a dependent row asks for in vain, after go_down(), and the sum of its terms.
  std::pair<double, double> missed(int row, const VecX<double>& Q_up) const;

  ReducedResponse up;  // D', R' of the ports that are kept
  VecX<double> lambda;
  std::vector<char> dependent;
  Rank rank;

 private:
  struct Row {
    int first_end, last_end;
  };
  struct End {
    int port, member;
    Wrench6 w;
  };
  /// Where its ports and its components begin among those of all.
  struct Member {
    int first_port, first_place;
  };
  /// A component of a port that is kept.
  struct Kept {
    int member, component, place;  // here: of the member, in a row of G D
    int up;                        // number among six a port further up
  };
  /// Rows on the same ports, one after the other. What belongs to them stands column by column: for each component of their
  /// ports, and for each place in a row of G D, numbers of all rows that anything answers to.
  struct Block {
    int first_row, last_row;
    int first_stretch, last_stretch;  // one for each end of its rows, member by member
    int stride;
    int G, GD;                      // where columns begin
    int first_live, live, vectors;  // rows that anything answers to, in so many vectors of four
  };
  /// The components of a port that answer.
  struct Stretch {
    int end;                  // of the rows
    int first, count;         // in answering_
    int first_place, places;  // of its member, in a row of G D
    int first_own_place;      // its own
    bool adds;                // to what others of the member have put there
    const double* D;          // its rows
    int D_stride;
  };
  /// A row that anything answers to: where its first number of G D stands, and how far it is to the next.
  struct Live {
    int row, GD, stride;
  };

  void list_blocks();
  void list_components();
  void take_rows(Block& block);
  void multiply();
  void invert(int& usual_rank);
  void invert_by(double scale_of_scales);
  double GD(const Live& live, int place) const { return GD_[static_cast<std::size_t>(live.GD + place * live.stride)]; }

  std::vector<const ReducedResponse*> offers_;  // by member
  std::vector<int> versions_;                   // of what they offered when components were listed
  std::vector<Member> members_;
  std::vector<int> member_of_port_;
  std::vector<int> kept_;
  std::vector<Row> rows_;
  std::vector<End> ends_;
  std::vector<Block> blocks_;
  std::vector<Stretch> stretches_;
  int ports_ = 0;

  // What answers.
  int size_ = 0;  // components of all ports: places in a row of G D
  std::vector<Kept> from_;
  std::vector<int> up_components_;
  int up_stride_ = 0;

  std::vector<int> answering_;  // by stretch: which of the port's six

  std::vector<Live> live_;
  AlignedNumbers<double> G_, GD_, W_;
  int W_stride_ = 0;
  // By live row; rows of GDE_ and S_ are as long as those of up.
  std::vector<double> inverse_, V_, live_scale_;
  AlignedNumbers<double> S_, GDE_;
  std::vector<double> Q_;     // of Q_up what counts
  std::vector<int> live_of_;  // by row, -1: nothing answers to it
  std::vector<char> live_dependent_;
};

}  // namespace linkwork
