// Nearest centres of sparse points by an inverted index: a row's rare features name the centres that share
// them. docs/theory.md, "Neighbour search on sparse data".
//
// A posting of feature t is a centre j with h_jt ≠ 0. A row reads the postings of its features, the rarest
// first, until it has read `budget` of them, and adds up x_it·h_jt. Of the centres met, those with the least
// w_j − Σ x_it·h_jt are ranked again by the divergence itself.
#pragma once

#include <cstdint>
#include <vector>

#include "neighbors.hpp"
#include "points.hpp"

namespace bvdt {

struct PostingEffort {
    int64_t budget;      // postings read per row, as far as whole features go; one feature at least
    int64_t candidates;  // centres per row that are ranked again
};

class Postings {
  public:
    explicit Postings(const SparsePoints& points);

    // Offers every point of `visited` the candidates of its rare features.
    void search(const Levels& levels, const int32_t* visited, int64_t n_visited, const PostingEffort& effort,
                const NeighborLists& lists, int threads) const;

  private:
    const SparsePoints points_;
    std::vector<int64_t> first_;   // (d + 1,) of a feature
    std::vector<int32_t> centre_;  // (nnz,)
    std::vector<float> h_;         // (nnz,)

    int64_t count(int32_t feature) const { return first_[feature + 1] - first_[feature]; }
    struct Scratch;
    void read(int64_t i, int64_t budget, Scratch& scratch) const;
    void choose(int64_t i, const Levels& levels, int64_t candidates, Scratch& scratch) const;
};

}  // namespace bvdt
