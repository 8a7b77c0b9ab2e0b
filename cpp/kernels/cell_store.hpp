// Dense points packed cell by cell, for the nearest centres by cells, an inverted file: a point is compared
// with those of the cells whose means are nearest to it. docs/theory.md, "Neighbour search by cells".
//
// With cell means x̄, h̄, a row a near to cell A and a centre b of cell B, x' = x_a − x̄_A, h' = h_b − h̄_B,
// ΔX = x̄_B − x̄_A and ΔH = h̄_B − h̄_A, the divergence falls into parts as small as the cells and their
// distance, so single precision is enough to rank:
//
//     d_ab = (u_a − ⟨x_a, h̄_A⟩ + c_A) − ⟨x', ΔH⟩                    a row's part, once per cell
//          + (c_B − c_A − ⟨x̄_A, ΔH⟩)                                once per pair of cells
//          + (w_b − ⟨x̄_B, h'⟩ − c_B)                                a centre's part, once
//          − ⟨x' − ΔX, h'⟩                                          the product
//
// with c the mean of w − ⟨x̄, h'⟩ over a cell. Centres are packed in panels of 16 lanes: panel t of cell B
// holds h' as (d, 16). x is multiplied by scale_x and h by scale_h, so that neither overflow nor underflow is
// near.
//
// A point far from its cell must not cost the others their digits: the means are taken without it, and the
// search passes over a centre only if its divergence less its rounding error is above the row's worst. Where
// that error counts, the divergence is taken in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "lanes.hpp"
#include "points.hpp"

namespace bvdt {

constexpr int64_t kAtOnce = kFour;  // divergences in double precision
constexpr int64_t kRun = 32;  // cells, near to each other by the order of the cutting, ranked as one first

class CellStore {
  public:
    DensePoints points;                  // not owned, nor are u and w
    const double *u, *w;                 // (N,)
    int64_t n;                           // cells
    std::vector<double> mean_x, mean_h;  // (n, d)
    std::vector<double> turned;          // (2d, n): h̄ above x̄
    std::vector<double> mean_level;      // (n,) c
    std::vector<double> self;            // (n,) ⟨x̄, h̄⟩
    int64_t n_runs;                      // of kRun cells each
    std::vector<double> run_turned;      // (2d, n_runs) means of the runs, as `turned`
    std::vector<double> run_self;        // (n_runs,)
    std::vector<int64_t> run_size;       // (n_runs,) points
    std::vector<int64_t> first_panel;    // (n + 1,) of a cell
    std::vector<float> panels;           // (n_panels, d, 16) h'
    std::vector<float> level;          // (n_panels, 16) w − ⟨x̄, h'⟩ − c − error, +∞ after a cell's last point
    std::vector<float> error;          // (n_panels, 16) a centre's share of the rounding error
    std::vector<float> largest_error;  // (n,) of a cell's
    double scale_x = 1, scale_h = 1;

    // Cell c is order[bounds[c] : bounds[c + 1]], not empty; order and bounds are copied.
    CellStore(const DensePoints& points_, const double* u_, const double* w_, const int32_t* order,
              const int64_t* bounds, int64_t n_cells, int threads);

    int64_t size(int64_t cell) const { return bounds_[cell + 1] - bounds_[cell]; }
    const int32_t* items(int64_t cell) const { return order_.data() + bounds_[cell]; }
    const int32_t* order() const { return order_.data(); }
    const int64_t* bounds() const { return bounds_.data(); }
    int64_t n_panels(int64_t cell) const { return first_panel[cell + 1] - first_panel[cell]; }
    const float* panels_of(int64_t cell) const {
        return panels.data() + first_panel[cell] * points.d * kLanes;
    }
    double scale() const { return scale_x * scale_h; }

    // Relative, of a sum of d products in single precision. A product errs in proportion to
    // ‖x‖‖h‖ ≤ (‖x‖² + ‖h‖²)/2, so a pair's error is a row's and a centre's.
    float rounding() const {
        return std::numeric_limits<float>::epsilon() * (2.0f + std::sqrt(static_cast<float>(points.d)));
    }

  private:
    std::vector<int32_t> order_;   // (N,)
    std::vector<int64_t> bounds_;  // (n + 1,)

    // (size,) which of a cell's points are not far from the others; the means are over these.
    std::vector<char> average(int64_t cell);
    void pack(int64_t cell, const std::vector<char>& ordinary);
    void average_runs();
};

}  // namespace bvdt
