#include <doctest/doctest.h>

#include "../kernels/cell_ranking.hpp"
#include "../kernels/cell_search.hpp"
#include "lists.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

std::vector<int64_t> cells_of(int64_t n, int64_t size) {
    std::vector<int64_t> bounds;
    for (int64_t b = 0; b < n; b += size) bounds.push_back(b);
    bounds.push_back(n);
    return bounds;
}

CellStore store(const Points& p, const std::vector<int32_t>& order, const std::vector<int64_t>& bounds) {
    return {p.dense(),
            p.u.data(),
            p.w.data(),
            order.data(),
            bounds.data(),
            static_cast<int64_t>(bounds.size()) - 1,
            2};
}

}  // namespace

TEST_CASE("a search through all cells finds the nearest centres") {
    Generator rng(29);
    for (const int64_t d : {1, 3, 20}) {
        const Points p(rng, 130, d);
        const auto order = permutation(rng, p.n);
        for (const int64_t size : {1, 15, 16, 47, 130}) {
            const CellStore cells = store(p, order, cells_of(p.n, size));
            Lists lists(p.n, 4);
            search_cells(cells, {0, cells.n}, p.n, lists.view(), 2);
            for (int64_t i = 0; i < p.n; ++i) {
                const auto expected = nearest(p, i, order, 4);
                for (int64_t s = 0; s < 4; ++s)
                    CHECK(near(lists.divergence[i * 4 + s], expected[s].first, 1e-5));
                CHECK(
                    std::is_sorted(lists.divergence.begin() + i * 4, lists.divergence.begin() + (i + 1) * 4));
            }
        }
    }
}

TEST_CASE("a part of the cells fills its own lists only, with at least so many compared") {
    Generator rng(30);
    const Points p(rng, 100, 4);
    const auto order = permutation(rng, p.n);
    const CellStore cells = store(p, order, cells_of(p.n, 10));
    Lists lists(p.n, 3);
    search_cells(cells, {2, 5}, 30, lists.view(), 1);
    for (int64_t place = 0; place < p.n; ++place) {
        const bool filled = place >= 20 && place < 50;
        for (int64_t s = 0; s < 3; ++s) {
            const int32_t j = lists.index[order[place] * 3 + s];
            CHECK((j >= 0) == filled);
            if (filled)
                CHECK(near(lists.divergence[order[place] * 3 + s], p.divergence(order[place], j), 1e-10));
        }
    }
}

TEST_CASE("other rows find their nearest centres, whatever cell is called their home") {
    Generator rng(34);
    for (const int64_t d : {2, 20}) {
        const Points p(rng, 130, d);
        const auto order = permutation(rng, p.n);
        const CellStore cells = store(p, order, cells_of(p.n, 30));
        const std::vector<int32_t> rows{5, 0, 7, 100, 64}, home{3, 0}, nobody(130, -1);
        const std::vector<int64_t> bounds{0, 2, 5};
        Lists lists(p.n, 4), own(p.n, 4);
        const RowGroups groups{rows.data(), bounds.data(), home.data(), 2};
        search_cells(cells, {p.dense(), p.u.data(), nobody.data()}, groups, p.n, lists.view(), 2);
        search_cells(cells, {p.dense(), p.u.data(), nullptr}, groups, p.n, own.view(), 2);
        for (const int32_t i : rows) {
            const auto others = nearest(p, i, order, 4);
            for (int64_t s = 0; s < 4; ++s) CHECK(near(own.divergence[i * 4 + s], others[s].first, 1e-5));
            std::vector<double> all{p.divergence(i, i)};  // a row that is no centre may list them all
            for (const auto& other : others) all.push_back(other.first);
            std::sort(all.begin(), all.end());
            for (int64_t s = 0; s < 4; ++s) CHECK(near(lists.divergence[i * 4 + s], all[s], 1e-5));
        }
        CHECK(lists.index[1 * 4] == -1);
    }
}

TEST_CASE("cells are ranked by the divergence of their means") {
    Generator rng(31);
    const Points p(rng, 90, 5);
    const CellStore cells = store(p, permutation(rng, p.n), cells_of(p.n, 9));
    CellRanking ranking(cells);
    for (int64_t cell = 0; cell < cells.n; ++cell) {
        const double *x = cells.mean_x.data() + cell * 5, *h = cells.mean_h.data() + cell * 5;
        const auto distance = [&](int64_t to) {
            double sum = 0;
            for (int64_t j = 0; j < 5; ++j)
                sum += (x[j] - cells.mean_x[to * 5 + j]) * (h[j] - cells.mean_h[to * 5 + j]);
            return sum;
        };
        const int64_t count = ranking.nearest({x, h}, 3, 40);  // 40 points: five cells, so three are doubled
        CHECK(count == 6);
        for (int64_t c = 1; c < count; ++c) CHECK(distance(ranking[c - 1]) <= distance(ranking[c]) + 1e-12);
        for (int64_t to = 0; to < cells.n; ++to) {
            bool ranked = false;
            for (int64_t c = 0; c < count; ++c) ranked |= ranking[c] == to;
            if (!ranked) CHECK(distance(to) >= distance(ranking[count - 1]) - 1e-12);
        }
    }
}

TEST_CASE("of many cells, those of far runs are passed over") {
    Generator rng(35);
    Points p(rng, 4 * kRun * 2, 3);
    for (int64_t i = 0; i < p.n; ++i)  // four far groups, each a run of cells of two points
        for (int64_t j = 0; j < 3; ++j) p.x[i * 3 + j] += 1e3 * static_cast<double>(i / (2 * kRun));
    p.h = p.x;
    std::vector<int32_t> order(static_cast<size_t>(p.n));
    std::iota(order.begin(), order.end(), 0);
    const CellStore cells = store(p, order, cells_of(p.n, 2));
    CHECK(cells.n_runs == 4);
    CellRanking ranking(cells);
    for (const int64_t cell : {int64_t{3}, 2 * kRun + 1}) {
        const int64_t count =
            ranking.nearest({cells.mean_x.data() + cell * 3, cells.mean_h.data() + cell * 3}, 4, 8);
        CHECK(count == 4);
        for (int64_t c = 0; c < count; ++c) CHECK(ranking[c] / kRun == cell / kRun);
    }
}

TEST_CASE("a far point in every cell costs the others no neighbour") {
    Generator rng(33);
    Points p(rng, 400, 5);
    p.h = p.x;
    for (int64_t i = 0; i < p.n; i += 40)
        for (int64_t j = 0; j < p.d; ++j) p.x[i * p.d + j] = p.h[i * p.d + j] = i % 80 ? 1e9 : -1e6;
    for (int64_t i = 0; i < p.n; ++i) {
        double square = 0;
        for (int64_t j = 0; j < p.d; ++j) square += p.x[i * p.d + j] * p.x[i * p.d + j];
        p.u[i] = p.w[i] = square / 2;
    }
    std::vector<int32_t> order(static_cast<size_t>(p.n));
    std::iota(order.begin(), order.end(), 0);
    const CellStore cells = store(p, order, cells_of(p.n, 40));
    Lists lists(p.n, 6);
    search_cells(cells, {0, cells.n}, p.n, lists.view(), 2);
    for (int64_t i = 0; i < p.n; ++i) {
        if (i % 40 == 0) continue;
        const auto expected = nearest(p, i, order, 6);
        for (int64_t s = 0; s < 6; ++s) CHECK(near(lists.divergence[i * 6 + s], expected[s].first, 1e-5));
    }
}

TEST_CASE("values that overflow do not lead the search astray") {
    Generator rng(32);
    Points p(rng, 40, 3);
    for (double& value : p.x) value *= 1e300;
    for (double& value : p.h) value *= -1e300;
    Lists lists(p.n, 3);
    const CellStore cells = store(p, permutation(rng, p.n), cells_of(p.n, 10));
    search_cells(cells, {0, cells.n}, p.n, lists.view(), 1);
    for (int32_t j : lists.index) CHECK((j >= -1 && j < p.n));
}
