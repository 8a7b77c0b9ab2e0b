#include "postings.hpp"

#include <algorithm>
#include <utility>

#include "parallel.hpp"

namespace bvdt {

struct Postings::Scratch {
    std::vector<float> sum;                         // (N,) 0 where no posting was read
    std::vector<int32_t> met;                       // centres whose sum is not 0, or was
    std::vector<std::pair<int64_t, int64_t>> rare;  // postings of a feature, and its place in the row
    std::vector<std::pair<float, int32_t>> best;    // a heap, the worst first
    SpreadRow row;
};

Postings::Postings(const SparsePoints& points)
    : points_(points),
      first_(static_cast<size_t>(points.d + 1), 0),
      centre_(static_cast<size_t>(points.indptr[points.n])),
      h_(centre_.size()) {
    const int64_t nnz = points.indptr[points.n];
    for (int64_t e = 0; e < nnz; ++e) ++first_[points.indices[e] + 1];
    for (int64_t t = 0; t < points.d; ++t) first_[t + 1] += first_[t];
    std::vector<int64_t> next(first_.begin(), first_.end() - 1);
    for (int64_t j = 0; j < points.n; ++j)
        for (int64_t e = points.indptr[j]; e < points.indptr[j + 1]; ++e) {
            const int64_t place = next[points.indices[e]]++;
            centre_[place] = static_cast<int32_t>(j), h_[place] = static_cast<float>(points.h[e]);
        }
}

// Adds up the products of the rarest features.
void Postings::read(int64_t i, int64_t budget, Scratch& scratch) const {
    scratch.rare.clear(), scratch.met.clear();
    for (int64_t e = points_.indptr[i]; e < points_.indptr[i + 1]; ++e)
        if (count(points_.indices[e]) > 1) scratch.rare.emplace_back(count(points_.indices[e]), e);
    std::sort(scratch.rare.begin(), scratch.rare.end());
    int64_t left = budget;
    for (const auto& [postings, e] : scratch.rare) {
        if (left <= 0) break;
        left -= postings;
        const int64_t begin = first_[points_.indices[e]];
        const float x = static_cast<float>(points_.x[e]);
        for (int64_t place = begin; place < begin + postings; ++place) {
            float& sum = scratch.sum[centre_[place]];
            if (sum == 0) scratch.met.push_back(centre_[place]);
            sum += x * h_[place];
        }
    }
}

// Leaves the best candidates in `best`, and all sums 0.
void Postings::choose(int64_t i, const Levels& levels, int64_t candidates, Scratch& scratch) const {
    auto& best = scratch.best;
    best.clear();
    for (const int32_t j : scratch.met) {
        const float sum = std::exchange(scratch.sum[j], 0.0f);
        if (sum == 0 || j == i) continue;  // met twice, since its products had cancelled
        const std::pair<float, int32_t> now{static_cast<float>(levels.w[j]) - sum, j};
        if (static_cast<int64_t>(best.size()) < candidates) {
            best.push_back(now), std::push_heap(best.begin(), best.end());
        } else if (now < best.front()) {
            std::pop_heap(best.begin(), best.end());
            best.back() = now, std::push_heap(best.begin(), best.end());
        }
    }
}

void Postings::search(const Levels& levels, const int32_t* visited, int64_t n_visited,
                      const PostingEffort& effort, const NeighborLists& lists, int threads) const {
    const SparseRows x = points_.x_rows(), h = points_.h_rows();
    parallel_for(
        n_visited, 16, threads,
        [&] {
            return Scratch{
                std::vector<float>(static_cast<size_t>(points_.n), 0.0f), {}, {}, {}, SpreadRow(points_.d)};
        },
        [&](int64_t place, Scratch& scratch) {
            const int64_t i = visited[place];
            read(i, effort.budget, scratch);
            choose(i, levels, effort.candidates, scratch);
            scratch.row.put(x, i);
            const TopList<double> list = list_of(lists, i);
            for (const auto& [_, j] : scratch.best) {
                const double d = std::max(levels.u[i] + levels.w[j] - scratch.row.dot_with(h, j), 0.0);
                if (d <= list.worst()) offer(list, j, d);
            }
            scratch.row.clear(x, i);
        });
}

}  // namespace bvdt
