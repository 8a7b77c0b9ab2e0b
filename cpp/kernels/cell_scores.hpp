// How near the cells around a group of rows are to each row, and which of them a row is compared with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cell_ranking.hpp"
#include "cell_store.hpp"

namespace bvdt {

constexpr int64_t kReach = 8;  // points of the cells near to a cell, over those that a row is compared with

// Points that lists are sought for: those of the cells, or others that were lifted alike.
struct CellRows {
    DensePoints points;
    const double* u;     // (n,)
    const int32_t* own;  // (n,) the centre that a row is, which its list leaves out, or −1; null: row i is i

    // d_ij of row i and kAtOnce centres in double precision; not a number where it overflows. A sum waits for
    // its own last term, not for those of the others.
    void divergences(int64_t i, const CellStore& cells, const int32_t* centre, double* out) const;
};

// Rows that are ranked together, near to one cell.
struct RowGroup {
    const int32_t* items;
    int64_t n_rows, home;
};

class CellScores {
  public:
    const CellStore& cells;
    const CellRows& rows;
    float rounding;
    int64_t count = 0, stride = 0;                      // cells ranked; the same in whole panels
    std::vector<float> x, row_part, row_error;          // (rows, d), (rows,) ×2
    std::vector<float> delta_x;                         // (panels of cells, d, 16)
    std::vector<float> along_h;                         // (rows, stride) ⟨x', ΔH⟩
    std::vector<float> square_dx, square_dh;            // (stride,) ‖ΔX‖², ‖ΔH‖²
    std::vector<float> score;                           // (rows, stride) ⟨x_a − x̄_B, h_a − h̄_B⟩
    std::vector<float> limit;                           // (rows,) of the scores of cells to be compared with
    const double *mean_x = nullptr, *mean_h = nullptr;  // (d,) of the group's home

    CellScores(const CellStore& cells_, const CellRows& rows_)
        : cells(cells_), rows(rows_), rounding(cells_.rounding()), ranking_(cells_) {}

    // Ranks the cells near to a group's home for each of its rows; a row is compared with at least `pairs`.
    void rank(const RowGroup& group, int64_t pairs);

    int64_t cell(int64_t rank) const { return ranking_[rank]; }

  private:
    CellRanking ranking_;
    std::vector<float> h_, delta_h_, distance_;  // (rows, d), as delta_x, (stride,)
    std::vector<int32_t> size_;                  // (stride,)

    bool is_self_dual() const { return rows.points.h == rows.points.x && cells.points.h == cells.points.x; }
    void center_rows(const RowGroup& group);
    void measure_cells();
    void score_rows(int64_t n_rows, int64_t pairs);
};

}  // namespace bvdt
