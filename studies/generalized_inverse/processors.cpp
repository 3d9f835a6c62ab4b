#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <thread>

#include "linkwork/transport/gram_schmidt_timing.h"
#include "linkwork/transport/mpi_world.h"
#include "linkwork/transport/row_gram_schmidt.h"
#include "linkwork/transport/thread_team.h"
#include "studies/free_cores.h"
#include "studies/generalized_inverse/driver.h"
#include "studies/generalized_inverse/parts.h"
#include "studies/generalized_inverse/plain_loops.h"

namespace linkwork::studies::generalized_inverse {
namespace {

/// What the thesis calls processors: the processes that mpirun started, or else threads of this one.
class Processors {
 public:
  explicit Processors(Transport* world)
      : world_(world), most_(world ? world->size() : std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 2, 4)) {}

  int most() const { return most_; }
  std::string name() const { return world_ ? "MPI ranks" : "threads"; }
  FreeCores free_cores() const { return world_ ? FreeCores(*world_) : FreeCores(most_); }
  /// The job on the first `count`. All ranks call it.
  void run(int count, const std::function<void(Transport&)>& job) const {
    if (!world_) return ThreadTeam(count).run(job);
    if (const std::unique_ptr<Transport> group = first_ranks(count)) job(*group);
    world_->wait_for_all();
  }

 private:
  Transport* world_;
  int most_;
};

// Tables 4.3 and 4.4
// -----------------------------------------------------------------------------------------------------------------------------

struct Phases {
  double update = 1e300, optimized = 1e300, unoptimized = 1e300, integration = 1e300;  // s per evaluation
};

/// The shortest of several rounds of 20 evaluations, as in the thesis.
Phases phases_of(Driver& driver, int rounds) {
  constexpr int kEvaluations = 20;
  const int n = driver.n(), m = driver.m();
  std::vector<double> a(static_cast<std::size_t>(n)), work(static_cast<std::size_t>(n * n + m * n + m));
  const auto mean = [](const std::function<void()>& job) {
    const Stopwatch stopwatch;
    for (int i = 0; i < kEvaluations; ++i) job();
    return stopwatch.seconds() / kEvaluations;
  };
  const auto solve = [&](GigspInLoops* gigsp) {
    gigsp(n, m, driver.M().data(), driver.A().data(), driver.b().data(), driver.f().data(), work.data(), a.data());
  };
  Phases shortest;
  for (int round = 0; round < rounds; ++round) {
    shortest.update = std::min(shortest.update, mean([&] { driver.update(); }));
    shortest.optimized = std::min(shortest.optimized, mean([&] { solve(gigsp_optimized); }));
    shortest.unoptimized = std::min(shortest.unoptimized, mean([&] { solve(gigsp_unoptimized); }));
    shortest.integration = std::min(shortest.integration, mean([&] { driver.integrate(a, 1e-9); }));
  }
  return shortest;
}

void phases(StudyContext& context, Part& part) {
  context.progress("tables 4.3 and 4.4: the phases of an evaluation");
  FreeCores cores(1);
  Table table{"Time of an evaluation by its phases (tables 4.3 and 4.4), the constant speed driver",
              {"coordinates", "matrix/vector update (us)", "GIGSP (us)", "integration (us)", "GIGSP, share",
               "GIGSP without compiler optimizations (us)", "without / with"}};
  double share = 0.0, gain = 0.0;
  for (const bool free_bodies : {false, true}) {
    Driver driver(context, free_bodies);
    const Phases p = phases_of(driver, context.quick ? 20 : 500);
    share = p.optimized / (p.update + p.optimized + p.integration);
    gain = p.unoptimized / p.optimized;
    table.rows.push_back({fmt::format("{}, {} rows", driver.n(), driver.m()), 1e6 * p.update, 1e6 * p.optimized,
                          1e6 * p.integration, share, 1e6 * p.unoptimized, gain});
  }
  cores.look();
  table.caption =
      "In the coordinates of its joints, and with every body free. The loops of GIGSP are compiled twice; update and integration "
      "are this program's, compiled once. " +
      cores.in_words() + ".";
  part.tables.push_back(std::move(table));
  part.tables.push_back({"Tables 4.3 and 4.4 as published: times of GIGSP, and its share of an evaluation",
                         {"computer", "not optimized (ms)", "share (%)", "optimized (ms)", "share (%)", "without / with"},
                         {{"HP Visualize B132L", 1.859, 88.9, 0.532, 84.2, 1.859 / 0.532},
                          {"IBM RS/6000-SP", 1.799, 92.6, 0.527, 88.7, 1.799 / 0.527},
                          {"SGI Origin 2000", 0.793, 86.6, 0.189, 79.4, 0.793 / 0.189},
                          {"Sun Sparc 5", 6.471, 81.7, 3.351, 77.0, 6.471 / 3.351},
                          {"Sun Sparc 1000", 3.932, 76.8, 1.874, 69.4, 3.932 / 1.874}}});
  part.claims.push_back(
      cores.judged({"driver-phases", "Most of an evaluation's time is GIGSP's (table 4.4)", "69 to 89 %",
                    fmt::format("{:.0f} % with every body free", 100.0 * share), share > 0.5 ? Holds::kYes : Holds::kNo,
                    "the thesis does not say how many coordinates its driver has: with few, updates weigh more"}));
  part.claims.push_back(cores.judged(
      {"driver-optimized", "Compiler optimizations make the matrix operations several times faster", "1.9 to 4.2 times",
       fmt::format("{:.1f} times", gain), gain > 1.5 ? Holds::kYes : Holds::kNo, "short loops leave little to gain"}));
}

// Figures 4.22 to 4.26: who computes when
// -----------------------------------------------------------------------------------------------------------------------------

/// Notes when messages begin and end, in seconds since it was made.
class TracedTransport final : public Transport {
 public:
  explicit TracedTransport(Transport& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  void broadcast(std::span<double> data, int root) override {
    trace([&] { inner_.broadcast(data, root); });
  }
  void gather(std::span<double> data, std::span<const int> ends) override {
    trace([&] { inner_.gather(data, ends); });
  }
  void wait_for_all() override {
    trace([&] { inner_.wait_for_all(); });
  }
  void send(std::span<const double> data, int to, int channel) override {
    trace([&] { inner_.send(data, to, channel); });
  }
  void receive(std::span<double> data, int from, int channel) override {
    trace([&] { inner_.receive(data, from, channel); });
  }
  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    trace([&] { inner_.exchange(out, in); });
  }

  /// Begins and ends of messages.
  const std::vector<double>& times() const { return times_; }
  double now() const { return stopwatch_.seconds(); }

 private:
  void trace(const std::function<void()>& message) {
    times_.push_back(now());
    message();
    times_.push_back(now());
  }

  Transport& inner_;
  Stopwatch stopwatch_;
  std::vector<double> times_;
};

struct Timeline {
  std::vector<std::vector<double>> messages;  // by rank
  double end = 0.0, exchanging = 0.0;         // s, and the ranks' mean share of it
};

/// The first rank updates the matrices and sends them, all take part in the Gram-Schmidt process, a message a row.
Timeline traced(const Processors& processors, int count, int steps, const std::function<MatX<double>()>& update) {
  Timeline timeline;
  processors.run(count, [&](Transport& inner) {
    MatX<double> rows = random_rows(1, 1);
    if (inner.rank() == 0) rows = update();
    std::array<double, 2> size{static_cast<double>(rows.rows()), static_cast<double>(rows.cols())};
    inner.broadcast(size, 0);
    rows.conservativeResize(static_cast<Eigen::Index>(size[0]), static_cast<Eigen::Index>(size[1]));
    const std::vector<double> scale(static_cast<std::size_t>(rows.cols()), 1.0);
    Gigsp gigsp;
    inner.wait_for_all();
    TracedTransport transport(inner);
    for (int step = 0; step < steps; ++step) {
      if (inner.rank() == 0) rows = update();
      transport.broadcast({rows.data(), static_cast<std::size_t>(rows.size())}, 0);
      row_gram_schmidt(transport, rows, scale, 1e-12, RowPartition::kCyclic, gigsp.factors());
    }
    double end = transport.now();
    inner.broadcast({&end, 1}, 0);
    // All have sent the same number of messages.
    const int own = static_cast<int>(transport.times().size());
    std::vector<double> all(static_cast<std::size_t>(own * inner.size()));
    std::vector<int> ends;
    for (int r = 1; r <= inner.size(); ++r) ends.push_back(r * own);
    std::ranges::copy(transport.times(), all.begin() + own * inner.rank());
    inner.gather(all, ends);
    if (inner.rank() != 0) return;
    timeline.end = end;
    for (int r = 0; r < inner.size(); ++r) {
      timeline.messages.emplace_back(all.begin() + own * r, all.begin() + own * (r + 1));
      for (std::size_t i = 0; i + 1 < timeline.messages.back().size(); i += 2)
        timeline.exchanging += (timeline.messages.back()[i + 1] - timeline.messages.back()[i]) / (end * inner.size());
    }
  });
  return timeline;
}

Figure drawn(const std::string& title, const Timeline& timeline, double from, double to) {
  Figure figure{title, "time (ms)", "rank"};
  Series computing{"computing"}, exchanging{"exchanging"};
  const auto add = [&](Series& series, double begin, double end, std::size_t rank) {
    if (end <= from || begin >= to) return;
    for (const double t : {std::max(begin, from), std::min(end, to)})
      series.x.push_back(1e3 * t), series.y.push_back(static_cast<double>(rank));
    series.x.push_back(series.x.back()), series.y.push_back(std::numeric_limits<double>::quiet_NaN());
  };
  for (std::size_t rank = 0; rank < timeline.messages.size(); ++rank) {
    double last = 0.0;
    for (std::size_t i = 0; i + 1 < timeline.messages[rank].size(); i += 2) {
      add(computing, last, timeline.messages[rank][i], rank);
      add(exchanging, timeline.messages[rank][i], timeline.messages[rank][i + 1], rank);
      last = timeline.messages[rank][i + 1];
    }
    add(computing, last, timeline.end, rank);
  }
  figure.series = {std::move(computing), std::move(exchanging)};
  return figure;
}

void timelines(StudyContext& context, Part& part, const Processors& processors, const FreeCores& cores) {
  constexpr int kSteps = 20, kExperimentSteps = 2;
  context.progress("figures 4.22 to 4.26: who computes when");
  Driver driver(context, true);
  const std::vector<double> rest(static_cast<std::size_t>(driver.n()), 0.0);
  const Timeline of_driver = traced(processors, processors.most(), kSteps, [&] {
    driver.integrate(rest, 1e-3);
    driver.update();
    return driver.weighted_rows();
  });
  const int m = context.quick ? 100 : 420, n = context.quick ? 140 : 480;
  const MatX<double> matrix = random_rows(m, n);
  const Timeline experiment = traced(processors, processors.most(), kExperimentSteps, [&] { return matrix; });
  if (of_driver.messages.empty()) return;  // not the first rank
  part.figures.push_back(drawn("Fig. 4.22: the driver, 20 steps", of_driver, 0.0, of_driver.end));
  part.figures.push_back(
      drawn("Fig. 4.23: one of these steps", of_driver, 0.5 * of_driver.end, (0.5 + 1.0 / kSteps) * of_driver.end));
  part.figures.push_back(drawn(fmt::format("Fig. 4.24: a matrix of {} × {}, 2 steps", m, n), experiment, 0.0, experiment.end));
  part.figures.push_back(drawn("Fig. 4.25: its first part, the matrix made and sent", experiment, 0.0, 0.1 * experiment.end));
  part.figures.push_back(
      drawn("Fig. 4.26: in the midst of the Gram-Schmidt process", experiment, 0.3 * experiment.end, 0.32 * experiment.end));
  part.claims.push_back(cores.judged(
      {"driver-overhead", "For the driver communication is a large part of the time (fig. 4.22)", "large, and not uniform",
       fmt::format("{:.0f} % of the ranks' time goes into messages", 100.0 * of_driver.exchanging),
       of_driver.exchanging > 0.5 ? Holds::kYes : Holds::kNo, "messages within one machine are quick"}));
  part.claims.push_back(cores.judged(
      {"experiment-overhead", "For the larger numerical experiment it is relatively smaller (fig. 4.24)", "relatively smaller",
       fmt::format("{:.0f} % against {:.0f} %", 100.0 * experiment.exchanging, 100.0 * of_driver.exchanging),
       experiment.exchanging < of_driver.exchanging ? Holds::kYes : Holds::kNo,
       "what waits for the first rank counts as communication"}));
}

// Figures 4.27 to 4.34, table 4.8
// -----------------------------------------------------------------------------------------------------------------------------

double timed(const Processors& processors, int count, GramSchmidt algorithm, int m, int n, int repetitions) {
  double seconds = 0.0;
  const MatX<double> rows = random_rows(m, n);
  processors.run(count, [&](Transport& transport) {
    const double shortest = time_gram_schmidt(transport, algorithm, rows, repetitions).seconds;
    if (transport.rank() == 0) seconds = shortest;
  });
  return seconds;
}

void partitions(StudyContext& context, Part& part, const Processors& processors, const FreeCores& cores) {
  Figure figure{fmt::format("Fig. 4.27: two ways to part the rows, {} {}", processors.most(), processors.name()), "rows of A",
                "time (ms)", true, true};
  Series strip{"neighbouring rows together", {}, {}, SeriesStyle::kLinePoints},
      cyclic{"every n-th row", {}, {}, SeriesStyle::kLinePoints};
  for (const int m : {10, 50, 100, 200, 400}) {
    if (context.quick && m > 100) break;
    context.progress(fmt::format("figure 4.27: {} rows", m));
    for (const auto& [algorithm, series] : {std::pair{GramSchmidt::kRowsStrip, &strip}, {GramSchmidt::kRowsCyclic, &cyclic}}) {
      series->x.push_back(m);
      series->y.push_back(1e3 * timed(processors, processors.most(), algorithm, m, m, context.quick ? 3 : 10));
    }
  }
  const double ratio = strip.y.back() / cyclic.y.back();
  part.claims.push_back(cores.judged(
      {"partition", "How rows are parted among processors makes a difference (fig. 4.27)", "fig. 4.27",
       fmt::format("strips take {:.2f} times as long as cyclic rows at the largest size", ratio),
       std::abs(std::log(ratio)) > 0.1 ? Holds::kYes : Holds::kNo, "with a message for every row both wait for messages"}));
  figure.series = {std::move(strip), std::move(cyclic)};
  part.figures.push_back(std::move(figure));
}

void counts(StudyContext& context, Part& part, const Processors& processors, const FreeCores& cores) {
  struct Line {
    int m;
    std::array<int, 4> published;  // for n = 10, 50, 100, 1000; 0: none
  };
  constexpr std::array kLengths{10, 50, 100, 1000};
  constexpr std::array kLines{Line{10, {2, 2, 4, 3}}, Line{50, {0, 3, 3, 3}}, Line{100, {0, 0, 4, 4}}};
  Table table{
      fmt::format("{} for the shortest time, of 1 to {} (table 4.8: nodes of an IBM SP)", processors.name(), processors.most()),
      {"size of A", "row by row, a message each", "in blocks", "published"}};
  int alone = 0, all = 0;
  for (const Line& line : kLines) {
    Figure figure{fmt::format("Figs. 4.28 to 4.34: elapsed time, m = {}", line.m), processors.name(), "time (ms)", false, true};
    for (std::size_t k = 0; k < kLengths.size(); ++k) {
      if (line.published[k] == 0) continue;
      context.progress(fmt::format("figures 4.28 to 4.34: {} × {}", line.m, kLengths[k]));
      std::vector<Cell> row{fmt::format("{} × {}", line.m, kLengths[k])};
      for (const GramSchmidt algorithm : {GramSchmidt::kRowsCyclic, GramSchmidt::kBlocks}) {
        Series series{fmt::format("n = {}, {}", kLengths[k], algorithm == GramSchmidt::kBlocks ? "in blocks" : "row by row"),
                      {},
                      {},
                      algorithm == GramSchmidt::kBlocks ? SeriesStyle::kDashed : SeriesStyle::kLinePoints};
        for (int count = 1; count <= processors.most(); ++count) {
          series.x.push_back(count);
          series.y.push_back(1e3 * timed(processors, count, algorithm, line.m, kLengths[k], context.quick ? 3 : 30));
        }
        const auto best = 1 + std::distance(series.y.begin(), std::ranges::min_element(series.y));
        row.emplace_back(static_cast<double>(best));
        alone += best == 1;
        ++all;
        figure.series.push_back(std::move(series));
      }
      row.emplace_back(static_cast<double>(line.published[k]));
      table.rows.push_back(std::move(row));
    }
    part.figures.push_back(std::move(figure));
  }
  table.caption = cores.in_words() + ".";
  part.tables.push_back(std::move(table));
  part.claims.push_back(cores.judged(
      {"parallel-best-count", "There is a best number of processors, more than one, for each of these small sizes", "2 to 4",
       fmt::format("one of the {} is best for {} of {} sizes and programs", processors.name(), alone, all),
       alone == 0 ? Holds::kYes : Holds::kNo,
       "one processor does a 10 × 10 process in microseconds, less than a message takes; sizes have to be tens of times "
       "larger than in 1997 before sharing them pays"}));
}

}  // namespace

void processors(StudyContext& context, StudyResult& result) {
  const Processors all(context.world);
  Part& part = result.add_part(
      "Tables 4.3, 4.4 and 4.8, figures 4.22 to 4.34: processors that send messages",
      fmt::format(
          "The process with one message per row, as in the thesis, and in blocks, on {} {}. {} The thesis has a cluster of "
          "seven workstations, six processors of a Sun, and nodes of an IBM SP.",
          all.most(), all.name(),
          context.world ? "They are processes that mpirun started."
                        : "Under mpirun (mpirun -n 4 linkwork study generalized-inverse) they are processes."));
  if (!context.world || context.world->rank() == 0) phases(context, part);
  FreeCores cores = all.free_cores();
  Part measured;
  timelines(context, measured, all, cores);
  partitions(context, measured, all, cores);
  counts(context, measured, all, cores);
  cores.look();
  for (Claim& claim : measured.claims) part.claims.push_back(cores.judged(std::move(claim)));
  std::ranges::move(measured.tables, std::back_inserter(part.tables));
  std::ranges::move(measured.figures, std::back_inserter(part.figures));
}

}  // namespace linkwork::studies::generalized_inverse
