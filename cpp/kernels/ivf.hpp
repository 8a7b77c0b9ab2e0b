// Inverted lists of dense points (IVF, Jégou et al. 2011): a query is compared with the points of the lists
// whose means are nearest to it, its probes. docs/beyond.md, "Inverted lists".
//
// With the means x̄, h̄ of list B, x' = x − x̄ and h' = h − h̄, a query's divergences from the list's points
//
//     d = (u − ⟨x, h̄⟩ + c)            the query's part, once per list
//       + (w − ⟨x̄, h'⟩ − c)           a point's part, once
//       − ⟨x', h'⟩                    the product
//
// with c the mean of w − ⟨x̄, h'⟩, fall into parts as small as the list and its distance, so that single
// precision is enough to bound them; who may be among the nearest is ranked in double precision. Points are
// packed in panels (distance_tile.hpp); x is multiplied by scale_x and h by scale_h, so that neither overflow
// nor underflow is near.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "distance_tile.hpp"
#include "points.hpp"
#include "top_k.hpp"

namespace bvdt {

class InvertedLists {
  public:
    const DensePoints points;            // not owned, nor are u and w
    const double *u, *w;                 // (N,)
    const int64_t n;                     // lists
    std::vector<double> mean_x, mean_h;  // (n, d), but for points far from the others
    std::vector<double> turned;          // (2d, n): h̄ above x̄
    std::vector<double> self;            // (n,) ⟨x̄, h̄⟩
    std::vector<double> mean_level;      // (n,) c
    std::vector<float> largest_error;    // (n,) of a list's points
    double scale_x = 1, scale_h = 1;

    // List c is order[bounds[c] : bounds[c + 1]], not empty; order and bounds are copied.
    InvertedLists(const DensePoints& points_, const double* u_, const double* w_, const int32_t* order,
                  const int64_t* bounds, int64_t n_lists, int threads);

    int64_t size(int64_t list) const { return bounds_[list + 1] - bounds_[list]; }
    const int32_t* items(int64_t list) const { return order_.data() + bounds_[list]; }
    const int32_t* order() const { return order_.data(); }
    const int64_t* bounds() const { return bounds_.data(); }
    Panels panels(int64_t list) const;
    double scale() const { return scale_x * scale_h; }
    bool is_self_dual() const { return points.x == points.h; }

    // Relative, of a sum of d products in single precision. A product errs in proportion to
    // ‖x‖‖h‖ ≤ (‖x‖² + ‖h‖²)/2, so a pair's error is a query's and a point's.
    float rounding() const {
        return std::numeric_limits<float>::epsilon() * (2.0f + std::sqrt(static_cast<float>(points.d)));
    }

  private:
    std::vector<int32_t> order_;        // (N,)
    std::vector<int64_t> bounds_;       // (n + 1,)
    std::vector<int64_t> first_panel_;  // (n + 1,) of a list
    std::vector<float> values_;         // (n_panels, d, 16) h'
    std::vector<float> level_;          // (n_panels, 16) w − ⟨x̄, h'⟩ − c − error, +∞ after a list's last

    std::vector<char> average(int64_t list);
    void pack(int64_t list, const std::vector<char>& ordinary);
};

constexpr int64_t kReach =
    8;  // points of the lists near to a group's assigned, over those of a query's probes

// Queries near to one list, their coarse assignment, are searched together: group g is
// order[bounds[g] : bounds[g + 1]], assigned to list assigned[g].
struct Queries {
    DensePoints points;  // lifted as the indexed points
    const double* u;     // (n,)
    const int32_t* own;  // (n,) the indexed point that a query is, which its list leaves out, or −1;
                         // null: query i is point i
    const int32_t* order;
    const int64_t* bounds;    // (n_groups + 1,)
    const int32_t* assigned;  // (n_groups,)
    int64_t n_groups;
};

struct Search {
    int64_t n_candidates;  // points that a query is compared with at least, if there are as many
    int64_t rerank;        // candidates that are ranked by the divergence of `exact`
    bool is_bound;         // whether no divergence of `exact` is below that of the indexed points
    ExactPoints exact;
};

// The k nearest of every query; n_candidates > rerank ≥ k.
void search_lists(const InvertedLists& lists, const Queries& queries, const Search& search,
                  const NeighborLists& found, int threads);

// The `width` best by estimates alone, in any order, (n, width); −1 after them.
void list_candidates(const InvertedLists& lists, const Queries& queries, int64_t n_candidates, int64_t width,
                     int32_t* found, int threads);

}  // namespace bvdt
