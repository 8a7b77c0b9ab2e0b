#include "neighbors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "gram.hpp"
#include "parallel.hpp"
#include "top_list.hpp"

namespace bvdt {
namespace {

TopList<double> list_of(const NeighborLists& lists, int64_t i) {
    return {lists.divergence + i * lists.k, lists.index + i * lists.k, lists.k};
}

// Puts centre j into a list if it belongs there; equal divergences go by index.
void offer(const TopList<double>& list, int32_t j, double d) {
    const int32_t last = list.index[list.k - 1];
    if (d > list.worst() || (d == list.worst() && j > last && last >= 0) || list.holds(j)) return;
    list.insert<Ties::kByIndex>(j, d);
}

}  // namespace

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

void join_neighbors(const SparsePoints& points, const Levels& levels, const int32_t* listed, int64_t n_listed,
                    const NeighborLists& lists, int threads) {
    struct Scratch {
        SpreadRow row;
        std::vector<int64_t> seen;  // (N,) last point that met this centre
    };
    const SparseRows x = points.x_rows(), h = points.h_rows();
    const int64_t k = n_listed;
    parallel_for(
        points.n, 64, threads,
        [&] { return Scratch{SpreadRow(points.d), std::vector<int64_t>(static_cast<size_t>(points.n), -1)}; },
        [&](int64_t i, Scratch& scratch) {
            const auto is_new = [&](int32_t j) { return j >= 0 && std::exchange(scratch.seen[j], i) != i; };
            scratch.seen[i] = i;
            for (int64_t s = 0; s < k; ++s) is_new(listed[i * k + s]);
            scratch.row.put(x, i);
            const TopList<double> list = list_of(lists, i);
            for (int64_t s = 0; s < k; ++s) {
                const int64_t via = listed[i * k + s];
                for (int64_t t = 0; via >= 0 && t < k; ++t) {
                    const int32_t j = listed[via * k + t];
                    if (!is_new(j)) continue;
                    const double d = std::max(levels.u[i] + levels.w[j] - scratch.row.dot_with(h, j), 0.0);
                    if (d <= list.worst()) offer(list, j, d);
                }
            }
            scratch.row.clear(x, i);
        });
}

template void chunk_neighbors(const DensePoints&, const Levels&, const PointChunks&, const NeighborLists&,
                              int);
template void chunk_neighbors(const SparsePoints&, const Levels&, const PointChunks&, const NeighborLists&,
                              int);

}  // namespace bvdt
