// The nearest cells of a point by ⟨x − x̄_B, h − h̄_B⟩: first runs of cells are ranked by their means, then
// the cells of the nearest runs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cell_store.hpp"

namespace bvdt {

struct Middle {
    const double *x, *h;  // (d,) where cells are ranked from
};

class CellRanking {
  public:
    explicit CellRanking(const CellStore& cells);

    // Ranks the `count` nearest cells of a point, or as many more as hold `least` points;
    // returns how many. Cells of far runs are not looked at.
    int64_t nearest(const Middle& from, int64_t count, int64_t least);

    int64_t operator[](int64_t rank) const { return ranked_[rank].second; }

  private:
    const CellStore& cells_;
    using Scored = std::pair<double, int32_t>;
    std::vector<double> score_;   // of cells, or of runs
    std::vector<Scored> ranked_;  // cells whose runs are near
    std::vector<Scored> runs_;    // (n_runs,)

    void rank_runs(const Middle& from, int64_t least);
    void score_run(const Middle& from, int64_t run);
};

}  // namespace bvdt
