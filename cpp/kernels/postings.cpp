#include "postings.hpp"

#include <algorithm>
#include <utility>

#include "gram.hpp"
#include "parallel.hpp"

namespace bvdt {

struct Postings::Scratch {
    std::vector<float> sum;                         // (N,) 0 where no posting was read
    std::vector<int32_t> met;                       // points whose sum is not 0, or was
    std::vector<std::pair<int64_t, int64_t>> rare;  // postings of a feature, and its place in the row
    std::vector<std::pair<float, int32_t>> best;    // a heap, the worst first
    SpreadRow row;
};

Postings::Postings(const SparsePoints& points, const double* w)
    : points_(points),
      w_(w),
      first_(static_cast<size_t>(points.d + 1), 0),
      point_(static_cast<size_t>(points.indptr[points.n])),
      h_(point_.size()) {
    const int64_t nnz = points.indptr[points.n];
    for (int64_t e = 0; e < nnz; ++e) ++first_[points.indices[e] + 1];
    for (int64_t t = 0; t < points.d; ++t) first_[t + 1] += first_[t];
    std::vector<int64_t> next(first_.begin(), first_.end() - 1);
    for (int64_t j = 0; j < points.n; ++j)
        for (int64_t e = points.indptr[j]; e < points.indptr[j + 1]; ++e) {
            const int64_t place = next[points.indices[e]]++;
            point_[place] = static_cast<int32_t>(j), h_[place] = static_cast<float>(points.h[e]);
        }
}

// Adds up the products of the rarest features.
void Postings::read(const SparseRows& x, int64_t i, int64_t n_postings, Scratch& scratch) const {
    scratch.rare.clear(), scratch.met.clear();
    for (int64_t e = x.indptr[i]; e < x.indptr[i + 1]; ++e)
        if (count(x.indices[e]) > 0) scratch.rare.emplace_back(count(x.indices[e]), e);
    std::sort(scratch.rare.begin(), scratch.rare.end());
    for (const auto& [postings, e] : scratch.rare) {
        if (n_postings <= 0) break;
        n_postings -= postings;
        const int64_t begin = first_[x.indices[e]];
        const float value = static_cast<float>(x.value[e]);
        for (int64_t place = begin; place < begin + postings; ++place) {
            float& sum = scratch.sum[point_[place]];
            if (sum == 0) scratch.met.push_back(point_[place]);
            sum += value * h_[place];
        }
    }
}

// Leaves the best candidates in `best`, and all sums 0.
void Postings::choose(int32_t own, int64_t rerank, Scratch& scratch) const {
    auto& best = scratch.best;
    best.clear();
    for (const int32_t j : scratch.met) {
        const float sum = std::exchange(scratch.sum[j], 0.0f);
        if (sum == 0 || j == own) continue;  // met twice, since its products had cancelled
        const std::pair<float, int32_t> now{static_cast<float>(w_[j]) - sum, j};
        if (static_cast<int64_t>(best.size()) < rerank) {
            best.push_back(now), std::push_heap(best.begin(), best.end());
        } else if (now < best.front()) {
            std::pop_heap(best.begin(), best.end());
            best.back() = now, std::push_heap(best.begin(), best.end());
        }
    }
}

void Postings::search(const SparseQueries& queries, int64_t n_postings, int64_t rerank,
                      const NeighborLists& lists, int threads) const {
    const SparseRows h = points_.h_rows();
    parallel_for(
        queries.n_chosen, 16, threads,
        [&] {
            return Scratch{
                std::vector<float>(static_cast<size_t>(points_.n), 0.0f), {}, {}, {}, SpreadRow(points_.d)};
        },
        [&](int64_t place, Scratch& scratch) {
            const int64_t i = queries.chosen[place];
            read(queries.x, i, n_postings, scratch);
            choose(queries.own[i], rerank, scratch);
            scratch.row.put(queries.x, i);
            for (const auto& [_, j] : scratch.best) {
                const double d = queries.u[i] + w_[j] - scratch.row.dot_with(h, j);
                lists.row(i).offer(j, std::max(d, 0.0));
            }
            scratch.row.clear(queries.x, i);
        });
}

void compare_chunks(const SparsePoints& points, const double* u, const double* w, const PointChunks& chunks,
                    const NeighborLists& lists, int threads) {
    parallel_for(
        chunks.count, 1, threads, [] { return SparseGram{}; },
        [&](int64_t c, SparseGram& gram) {
            const int32_t* item = chunks.order + chunks.bounds[c];
            const int64_t size = chunks.bounds[c + 1] - chunks.bounds[c];
            gram.compute(points, item, size);
            for (int64_t a = 0; a < size; ++a) {
                const double* inner = gram.value.data() + a * gram.stride;
                const TopList<double> list = lists.row(item[a]);
                for (int64_t b = 0; b < size; ++b) {
                    const double d = u[item[a]] + w[item[b]] - inner[b];
                    if (d <= list.worst() && b != a) list.offer(item[b], std::max(d, 0.0));
                }
            }
        });
}

}  // namespace bvdt
