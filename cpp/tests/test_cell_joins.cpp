#include <doctest/doctest.h>

#include <set>

#include "../kernels/cell_joins.hpp"
#include "lists.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

// A point's links by their definition: its list, and those who list it, the first k by rank, then by place.
std::vector<std::set<int32_t>> slow_links(const std::vector<int32_t>& listed,
                                          const std::vector<int32_t>& order, int64_t n, int64_t k) {
    std::vector<std::set<int32_t>> links(static_cast<size_t>(n)), own;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t s = 0; s < k; ++s)
            if (listed[i * k + s] >= 0) links[i].insert(listed[i * k + s]);
    own = links;
    std::vector<int64_t> taken(static_cast<size_t>(n), 0);
    for (int64_t s = 0; s < k; ++s)
        for (const int32_t i : order) {
            const int32_t j = listed[i * k + s];
            if (j >= 0 && !own[j].count(i) && taken[j]++ < k) links[j].insert(i);
        }
    return links;
}

std::vector<int64_t> cells_of(int64_t n, int64_t size) {
    std::vector<int64_t> bounds;
    for (int64_t b = 0; b < n; b += size) bounds.push_back(b);
    bounds.push_back(n);
    return bounds;
}

}  // namespace

TEST_CASE("joining cells leaves the best of a list and of the links of its links") {
    Generator rng(41);
    for (const int64_t d : {1, 5, 20}) {
        const Points p(rng, 400, d);
        const auto order = permutation(rng, p.n);
        const auto bounds = cells_of(p.n, 10);
        const CellStore cells(p.dense(), p.u.data(), p.w.data(), order.data(), bounds.data(), 40, 2);
        const int64_t k = 4;
        Lists lists(p.n, k);
        search_cells(cells, {0, cells.n}, 30, lists.view(), 2);
        const Lists found = lists;
        const CellLinks links(cells, found.index.data(), nullptr, k, 2);
        join_cells(cells, links, PlacedPoints(cells, 2), {0, cells.n}, 30, lists.view(), 2);
        const auto slow = slow_links(found.index, order, p.n, k);
        int64_t improved = 0;
        for (int32_t i = 0; i < p.n; ++i) {
            std::set<int32_t> met = slow[i];
            for (const int32_t via : slow[i]) met.insert(slow[via].begin(), slow[via].end());
            met.erase(i);
            const auto expected = nearest(p, i, {met.begin(), met.end()}, k);
            for (int64_t s = 0; s < k; ++s) {
                CHECK(near(lists.divergence[i * k + s], expected[s].first, 1e-10));
                CHECK(near(p.divergence(i, lists.index[i * k + s]), expected[s].first, 1e-10));
                improved += lists.divergence[i * k + s] < found.divergence[i * k + s];
            }
        }
        CHECK(improved > 0);
    }
}

TEST_CASE("after a pass only fresh links lead on, the same for any number of threads") {
    Generator rng(42);
    const Points p(rng, 300, 3);
    const auto order = permutation(rng, p.n);
    const auto bounds = cells_of(p.n, 7);
    const CellStore cells(p.dense(), p.u.data(), p.w.data(), order.data(), bounds.data(),
                          static_cast<int64_t>(bounds.size()) - 1, 2);
    Lists lists(p.n, 5);
    search_cells(cells, {0, cells.n}, 20, lists.view(), 2);
    const Lists found = lists;
    const PlacedPoints points(cells, 1);
    const CellLinks old(cells, found.index.data(), found.index.data(), 5, 2);
    join_cells(cells, old, points, {0, cells.n}, 20, lists.view(), 2);
    for (size_t s = 0; s < found.index.size();
         ++s)  // links themselves are offered, no ways over two old ones
        CHECK(lists.divergence[s] <= found.divergence[s]);
    Lists once = found, twice = found;
    const CellLinks one(cells, found.index.data(), nullptr, 5, 1),
        two(cells, found.index.data(), nullptr, 5, 2);
    join_cells(cells, one, points, {0, cells.n}, 20, once.view(), 1);
    join_cells(cells, two, points, {0, cells.n}, 20, twice.view(), 2);
    CHECK(once.index == twice.index);
    CHECK(once.divergence == twice.divergence);
    const CellLinks later(cells, once.index.data(), found.index.data(), 5, 2);
    for (int64_t place = 0; place < p.n; ++place)
        for (const int32_t* to = later.begin(place); to != later.end(place); ++to) {
            const auto holds = [&](const Lists& l, int64_t i, int64_t j) {
                return std::count(l.index.begin() + i * 5, l.index.begin() + (i + 1) * 5, j) > 0;
            };
            const int32_t i = order[place], j = order[*to];
            const bool forward = holds(once, i, j);
            const bool is_old = forward ? holds(found, i, j) : holds(found, j, i);
            CHECK((to >= later.end_of_fresh(place)) == is_old);
        }
}
