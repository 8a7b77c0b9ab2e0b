// An inverted index over the features of sparse points: a query's rare features name the points that share
// them. docs/beyond.md, "Postings".
//
// A posting of feature t is a point j with h_jt ≠ 0. A query reads the postings of its features, the rarest
// first, until it has read as many as asked for, and adds up x_t·h_jt. Of the points met, those with the
// least w_j − Σ x_t·h_jt are re-ranked by the divergence itself.
#pragma once

#include <cstdint>
#include <vector>

#include "points.hpp"
#include "top_k.hpp"

namespace bvdt {

struct SparseQueries {
    SparseRows x;
    const double* u;        // (n,)
    const int32_t* own;     // (n,) the indexed point that a query is, which its list leaves out, or −1
    const int32_t* chosen;  // (n_chosen,) whose lists are sought
    int64_t n_chosen;
};

class Postings {
  public:
    Postings(const SparsePoints& points, const double* w);

    // Offers the chosen queries' lists their `rerank` best candidates by n_postings, as far as whole features
    // go; one feature at least.
    void search(const SparseQueries& queries, int64_t n_postings, int64_t rerank, const NeighborLists& lists,
                int threads) const;

  private:
    const SparsePoints points_;
    const double* w_;             // (N,)
    std::vector<int64_t> first_;  // (d + 1,) of a feature
    std::vector<int32_t> point_;  // (nnz,)
    std::vector<float> h_;        // (nnz,)

    int64_t count(int32_t feature) const { return first_[feature + 1] - first_[feature]; }
    struct Scratch;
    void read(const SparseRows& x, int64_t i, int64_t n_postings, Scratch& scratch) const;
    void choose(int32_t own, int64_t rerank, Scratch& scratch) const;
};

// Chunks of points near to each other: chunk c is order[bounds[c] : bounds[c + 1]].
struct PointChunks {
    const int32_t* order;
    const int64_t* bounds;  // (count + 1,)
    int64_t count;
};

// Offers every point all others of its chunk.
void compare_chunks(const SparsePoints& points, const double* u, const double* w, const PointChunks& chunks,
                    const NeighborLists& lists, int threads);

}  // namespace bvdt
