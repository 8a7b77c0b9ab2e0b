// The near field's sparse matrix with its points numbered in the tree's order, so that a row's neighbors are
// near in memory. An entry takes eight bytes: an int32 column, and its weight as a whole number of units, so
// that rows sum to their share exactly and the mean of two entries is one again, of half the unit.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "large.hpp"

namespace bvdt {

// Of N lists of k divergences each, +∞ where the list is shorter: S_ij = exp(−fall·d_ij/d_ik) / Σ_j
// exp(−fall·d_ij/d_ik).
struct ListWeights {
    int32_t* weight;  // (N, k) total·S_ij in whole numbers that sum to the total; 0 where the list is shorter
    double* cost;     // (N,) Σ_j S_ij·d_ij
    double* logs;     // (N,) Σ_j S_ij·log S_ij
};
void weigh_lists(const double* divergences, int64_t n, int64_t k, double fall, int32_t total,
                 const ListWeights& out, int threads);

// part[i] ← number of point i's connected part, where lists (n, k), −1 for none, link points both ways;
// parts are numbered by their first points. Their number.
int64_t linked_parts(const int32_t* listed, int64_t n, int64_t k, int32_t* part);

class Links {
  public:
    // From lists in the points' own numbers, −1 for none: row i is the list of point order[i]. Every weight
    // is below 2³⁰.
    Links(const int32_t* indices, const int32_t* weight, double unit, int64_t k, const int32_t* order,
          int64_t n, int threads);

    Links transposed() const;

    // The mean with its transpose: a row has its own entries first, then those that come from rows which it
    // does not list.
    Links mean(int threads) const;

    int64_t n_points() const { return static_cast<int64_t>(order_->size()); }
    int64_t n_entries() const { return first_.back(); }
    const std::vector<int32_t>& order() const { return *order_; }
    const std::vector<int64_t>& first() const { return first_; }
    const LargeVector<int32_t>& column() const { return column_; }
    const LargeVector<int32_t>& weight() const { return weight_; }
    double unit() const { return unit_; }

  private:
    Links(std::shared_ptr<const std::vector<int32_t>> order, double unit)
        : unit_(unit), order_(std::move(order)), first_(order_->size() + 1) {}
    void make_room();

    double unit_;
    std::shared_ptr<const std::vector<int32_t>> order_;  // (N,) point of each row
    std::vector<int64_t> first_;                         // (N + 1,)
    LargeVector<int32_t> column_;                        // (n_entries,)
    LargeVector<int32_t> weight_;                        // (n_entries,) in units
};

}  // namespace bvdt
