// The nearest cells of a cell by ⟨x̄_A − x̄_B, h̄_A − h̄_B⟩.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cell_store.hpp"

namespace bvdt {

class CellRanking {
  public:
    explicit CellRanking(const CellStore& cells);

    // Ranks the `count` nearest cells of a cell, its own first, or as many more as hold `least` points;
    // returns how many.
    int64_t nearest(int64_t cell, int64_t count, int64_t least);

    int64_t operator[](int64_t rank) const { return ranked_[rank].second; }

  private:
    const CellStore& cells_;
    std::vector<double> score_;                       // (n,)
    std::vector<std::pair<double, int32_t>> ranked_;  // (n,) score and cell

    void score_all(int64_t cell);
};

}  // namespace bvdt
