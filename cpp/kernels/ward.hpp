// Ward's agglomeration inside chunks, in the lifted form; docs/beyond.md, "Ward trees".
//
// Merging clusters A and B costs |A||B|/(|A|+|B|)·⟨x̄_A − x̄_B, h̄_A − h̄_B⟩: the growth of the within-cluster
// sum of the symmetrised divergence, for squared Euclidean data exactly Ward's. Lance and Williams' update
// holds for it, so after the first matrix of costs no coordinates are needed. Where they are few, costs are
// found from the means instead, without a matrix (ward_means.hpp).
#pragma once

#include <cstdint>

#include "points.hpp"
#include "ward_candidates.hpp"

namespace bvdt {

struct WardChunks {
    const double*
        weight;  // (N,) > 0, neither so small nor so large that products of two leave a float's range
    const int32_t* order;   // points
    const int64_t* bounds;  // (count + 1,) chunk c is order[bounds[c] : bounds[c + 1]], not empty
    int64_t count;
    WardNear near = {};  // of all points, for points with x = h of one weight, if it is known
};

struct WardMerges {
    int32_t* pairs;  // (n_merges, 2) places in the order of points that stand for the merged clusters; the
                     // first does so from then on
    double* costs;   // (n_merges,) ascending from child to parent
};

// Merges of every chunk, children before parents: chunk c's stand at bounds[c] − bounds[0] − c.
void ward_chunks(const DensePoints& points, const WardChunks& chunks, const WardMerges& merges, int threads);
void ward_chunks(const SparsePoints& points, const WardChunks& chunks, const WardMerges& merges, int threads);

}  // namespace bvdt
