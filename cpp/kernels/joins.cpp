#include "joins.hpp"

#include <algorithm>
#include <utility>

#include "parallel.hpp"
#include "top_list.hpp"

namespace bvdt {
namespace {

// One row's products with centres of its choice.
struct SparseRow {
    const SparseRows x, h;
    SpreadRow row;

    explicit SparseRow(const SparsePoints& points) : x(points.x_rows()), h(points.h_rows()), row(points.d) {}

    void multiply(int64_t i, const std::vector<int32_t>& ids, double* out) {
        row.put(x, i);
        for (size_t c = 0; c < ids.size(); ++c) out[c] = row.dot_with(h, ids[c]);
        row.clear(x, i);
    }
};

struct Scratch {
    SparseRow row;
    std::vector<int32_t> seen;  // (N,) the last point that met this centre
    std::vector<int32_t> met;   // new centres of a point
    std::vector<double> inner;
};

bool holds(const int32_t* list, int64_t k, int32_t j) { return std::find(list, list + k, j) != list + k; }

}  // namespace

ListLinks links_of(const int32_t* listed, const int32_t* before, int64_t n, int64_t k, int threads,
                   bool both_ways) {
    ListLinks links{std::vector<int32_t>(static_cast<size_t>(2 * n * k), -1),
                    std::vector<uint8_t>(static_cast<size_t>(2 * n * k), 0), 2 * k};
    std::vector<int32_t> filled(static_cast<size_t>(n));
    parallel_stretches(n, 4096, threads, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
            int32_t count = 0;
            for (int64_t s = 0; s < k && listed[i * k + s] >= 0; ++s, ++count) {
                links.to[i * 2 * k + s] = listed[i * k + s];
                links.fresh[i * 2 * k + s] = !before || !holds(before + i * k, k, listed[i * k + s]);
            }
            filled[i] = count;
        }
    });
    if (!both_ways) return links;
    const std::vector<int32_t> own = filled;
    for (int64_t s = 0; s < k; ++s)  // nearest first
        for (int64_t i = 0; i < n; ++i) {
            const int64_t j = s < own[i] ? listed[i * k + s] : -1;
            if (j < 0 || filled[j] >= own[j] + k) continue;
            if (holds(links.to.data() + j * 2 * k, own[j], static_cast<int32_t>(i))) continue;
            const int64_t place = j * 2 * k + filled[j]++;
            links.to[place] = static_cast<int32_t>(i), links.fresh[place] = links.fresh[i * 2 * k + s];
        }
    return links;
}

void join_links(const SparsePoints& points, const Levels& levels, const ListLinks& links,
                const int32_t* visited, int64_t n_visited, const NeighborLists& lists, int threads) {
    const int64_t width = links.width;
    parallel_for(
        n_visited, 64, threads,
        [&] {
            return Scratch{
                SparseRow(points), std::vector<int32_t>(static_cast<size_t>(points.n), -1), {}, {}};
        },
        [&](int64_t place, Scratch& scratch) {
            const int32_t i = visited[place];
            const TopList<double> list = list_of(lists, i);
            const auto is_new = [&](int32_t j) { return std::exchange(scratch.seen[j], i) != i; };
            is_new(i);
            for (int64_t s = 0; s < lists.k && list.index[s] >= 0; ++s) is_new(list.index[s]);
            scratch.met.clear();
            for (int64_t s = 0; s < width; ++s) {
                const int64_t via = links.to[i * width + s];
                if (via < 0) break;
                if (is_new(static_cast<int32_t>(via))) scratch.met.push_back(static_cast<int32_t>(via));
                const bool fresh = links.fresh[i * width + s];
                for (int64_t t = via * width; t < (via + 1) * width && links.to[t] >= 0; ++t)
                    if ((fresh || links.fresh[t]) && is_new(links.to[t])) scratch.met.push_back(links.to[t]);
            }
            scratch.inner.resize(scratch.met.size());
            scratch.row.multiply(i, scratch.met, scratch.inner.data());
            for (size_t c = 0; c < scratch.met.size(); ++c) {
                const int32_t j = scratch.met[c];
                const double d = std::max(levels.u[i] + levels.w[j] - scratch.inner[c], 0.0);
                if (d <= list.worst()) offer(list, j, d);
            }
        });
}

}  // namespace bvdt
