// Neighbours of neighbours of dense points, after a search by cells (steps of NN-descent, Dong et al. 2011).
//
// A point's links are its list's centres and those points, at most as many, whose lists hold it, nearest
// first. A pass offers every point the links of its links. Most of those lie in cells that the point was
// compared with, and are passed over without a product: what a pass costs is what it can find.
//
// Everything is in places, the order of the cells: place p is point order[p], and links lead to near memory.
// There the points are kept once more in single precision, in which most of those met are told to be too far.
#pragma once

#include <cstdint>
#include <vector>

#include "cell_scores.hpp"
#include "cell_search.hpp"
#include "neighbors.hpp"

namespace bvdt {

constexpr int64_t kLongestList = 1 << 16;  // ranks are kept in 16 bits

// Links of lists (N, k), in places. A link is fresh if the lists `before`, those that the pass before took
// its links from, did not have it: a way over two links that are both old was taken then.
class CellLinks {
  public:
    // before: null on the first pass.
    CellLinks(const CellStore& cells, const int32_t* listed, const int32_t* before, int64_t k, int threads);

    int64_t n() const { return static_cast<int64_t>(place_.size()); }
    int64_t n_cells() const { return cell_.empty() ? 0 : cell_.back() + 1; }
    int32_t place(int32_t point) const { return place_[point]; }
    const int32_t* cells() const { return cell_.data(); }  // (N,) of the places
    const int32_t* begin(int64_t p) const { return to_.data() + first_[p]; }
    const int32_t* end_of_fresh(int64_t p) const { return begin(p) + n_fresh_[p]; }
    const int32_t* end(int64_t p) const { return to_.data() + first_[p + 1]; }

  private:
    std::vector<int32_t> place_, cell_;  // (N,) of a point; of a place
    std::vector<int64_t> first_;         // (N + 1,) of a place's links
    std::vector<int32_t> to_;            // places; the fresh ones of a row first
    std::vector<int32_t> n_fresh_;       // (N,)
};

// Points in places and single precision: scale·d_ij = part_i + level_j − ⟨x_i, h_j⟩, less the two errors at
// most. Coordinates are counted from the means of all; after them comes the level, so that one place in
// memory has all of a centre, and zeros up to whole lanes.
class PlacedPoints {
  public:
    PlacedPoints(const CellStore& cells, int threads);

    int64_t width() const { return width_; }
    const float* centres() const { return h_.data(); }  // (N, width)
    float part(int64_t p) const { return part_[p]; }    // less its error
    void copy_row(int64_t p, float* out) const;         // (width,) with −x and 1, for products with centres

  private:
    int64_t d_, width_;
    std::vector<float> x_, h_;  // (N, width) ×2; x empty if it is h
    std::vector<float> part_;   // (N,)
};

// Offers the points of the cells in `range` the links of their links. `pairs` is what they were compared with
// before, by search_cells.
void join_cells(const CellStore& cells, const CellLinks& links, const PlacedPoints& points,
                const CellRange& range, int64_t pairs, const NeighborLists& lists, int threads);

}  // namespace bvdt
