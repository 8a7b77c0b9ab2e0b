#include "neighbors.hpp"

#include <algorithm>

#include "gram.hpp"
#include "parallel.hpp"
#include "top_list.hpp"

namespace bvdt {
template <typename Points>
void chunk_neighbors(const Points& points, const Levels& levels, const PointChunks& chunks,
                     const NeighborLists& lists, int threads) {
    parallel_for(
        chunks.count, 1, threads, [&] { return gram_for(points); },
        [&](int64_t c, auto& gram) {
            const int32_t* item = chunks.order + chunks.bounds[c];
            const int64_t size = chunks.bounds[c + 1] - chunks.bounds[c];
            gram.compute(points, item, size);
            for (int64_t a = 0; a < size; ++a) {
                const double* inner = gram.value.data() + a * gram.stride;
                const double ua = levels.u[item[a]];
                const TopList<double> list = list_of(lists, item[a]);
                for (int64_t b = 0; b < size; ++b) {
                    const double d = ua + levels.w[item[b]] - inner[b];
                    if (d <= list.worst() && b != a) offer(list, item[b], std::max(d, 0.0));
                }
            }
        });
}

template void chunk_neighbors(const DensePoints&, const Levels&, const PointChunks&, const NeighborLists&,
                              int);
template void chunk_neighbors(const SparsePoints&, const Levels&, const PointChunks&, const NeighborLists&,
                              int);

}  // namespace bvdt
