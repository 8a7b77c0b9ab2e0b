#include <doctest/doctest.h>

#include <set>

#include "../kernels/cell_joins.hpp"
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

// Points in cells of 7 and lists of them that a search by few cells found.
struct Case {
    Points p;
    std::vector<int32_t> order;
    std::vector<int64_t> bounds;
    CellStore cells;
    PlacedPoints points;
    std::vector<int32_t> listed;  // (N, k) in the order of the cells
    int64_t k;

    Case(Generator& rng, int64_t n, int64_t d, int64_t k_)
        : p(rng, n, d),
          order(permutation(rng, n)),
          bounds(cells_of(n, 7)),
          cells(p.dense(), p.u.data(), p.w.data(), order.data(), bounds.data(),
                static_cast<int64_t>(bounds.size()) - 1, 2),
          points(cells, 2),
          k(k_) {
        LikelySearch search(cells, k);
        for (int64_t cell = 0; cell < cells.n; ++cell) {
            const int32_t* found = search.near_cell(cell, 20);
            listed.insert(listed.end(), found, found + cells.size(cell) * k);
        }
    }
    PlacedLists lists(int64_t n_links, int threads) const {
        PlacedLists begun(p.n, k, n_links);
        begin_places(cells, points, begun, {0, cells.n}, 20, threads);
        return begun;
    }
    // Places in the lists, (N, k).
    std::vector<int32_t> read(const PlacedLists& lists) const {
        std::vector<int32_t> place(listed.size());
        std::vector<float> value(static_cast<size_t>(k));
        for (int64_t at = 0; at < p.n; ++at) lists.read(at, place.data() + at * k, value.data());
        return place;
    }
    double divergence(int64_t from, int64_t to) const { return p.divergence(order[from], order[to]); }
};

// A place's links by their definition: the first of its list, and those who list it among their first, fewer
// than so many, by rank, then by place.
std::vector<std::set<int32_t>> slow_links(const std::vector<int32_t>& place, int64_t n, int64_t k,
                                          int64_t n_links) {
    std::vector<std::set<int32_t>> links(static_cast<size_t>(n)), own;
    for (int64_t p = 0; p < n; ++p)
        for (int64_t s = 0; s < n_links; ++s)
            if (place[p * k + s] >= 0) links[p].insert(place[p * k + s]);
    own = links;
    std::vector<int64_t> taken(static_cast<size_t>(n), 0);
    for (int64_t s = 0; s < n_links; ++s)
        for (int32_t p = 0; p < n; ++p) {
            const int32_t to = place[p * k + s];
            if (to >= 0 && !own[to].count(p) && taken[to]++ < n_links - 1) links[to].insert(p);
        }
    return links;
}

std::set<int32_t> links_of(const PlacedLists& lists, int64_t p) {
    return {lists.links(p), lists.links(p) + lists.n_links(p)};
}

}  // namespace

TEST_CASE("lists in places hold whom the points list, the nearest first") {
    Generator rng(40);
    const Case c(rng, 200, 5, 6);
    const auto place = c.read(c.lists(4, 2));
    for (int64_t at = 0; at < c.p.n; ++at) {
        std::set<int32_t> found, expected;
        for (int64_t s = 0; s < c.k; ++s) {
            found.insert(c.order[place[at * c.k + s]]), expected.insert(c.listed[at * c.k + s]);
            if (s > 0)
                CHECK(c.divergence(at, place[at * c.k + s]) >=
                      c.divergence(at, place[at * c.k + s - 1]) - 1e-4);
        }
        CHECK(found == expected);
    }
}

TEST_CASE("a pass leaves the best of a list and of whom its links bring together") {
    Generator rng(41);
    for (const int64_t d : {1, 5, 20})
        for (const int64_t n_links : {3, 5}) {
            const Case c(rng, 400, d, 5);
            PlacedLists lists = c.lists(n_links, 2);
            const auto before = c.read(lists);
            const auto links = slow_links(before, c.p.n, c.k, n_links);
            lists.link(2);
            std::vector<std::set<int32_t>> met(static_cast<size_t>(c.p.n));
            for (int32_t at = 0; at < c.p.n; ++at) {
                CHECK(links_of(lists, at) == links[at]);
                CHECK(lists.n_fresh(at) == lists.n_links(at));
                std::set<int32_t> together = links[at];
                together.insert(at);
                for (const int32_t one : together) met[one].insert(together.begin(), together.end());
            }
            join_places(c.points, lists, 0, c.p.n, 2);
            const auto after = c.read(lists);
            int64_t improved = 0;
            for (int32_t at = 0; at < c.p.n; ++at) {
                std::vector<double> expected;
                met[at].insert(before.begin() + at * c.k, before.begin() + (at + 1) * c.k);
                met[at].erase(at);
                for (const int32_t other : met[at]) expected.push_back(c.divergence(at, other));
                std::sort(expected.begin(), expected.end());
                std::set<int32_t> distinct;
                for (int64_t s = 0; s < c.k; ++s) {
                    const int32_t found = after[at * c.k + s];
                    CHECK(distinct.insert(found).second);
                    CHECK(std::abs(c.divergence(at, found) - expected[s]) < 1e-4);
                    improved += found != before[at * c.k + s];
                }
            }
            CHECK(improved > 0);
        }
}

TEST_CASE("later passes take fresh links, and threads do not matter") {
    Generator rng(42);
    const Case c(rng, 3000, 3, 6);
    PlacedLists one = c.lists(4, 1), two = c.lists(4, 2);
    std::vector<std::set<int32_t>> old(static_cast<size_t>(c.p.n));
    for (int pass = 0; pass < 3; ++pass) {
        const auto listed = c.read(one);
        one.link(1), two.link(2);
        for (int32_t at = 0; at < c.p.n; ++at) {
            CHECK(links_of(one, at) == links_of(two, at));
            for (int64_t s = 0; s < one.n_links(at); ++s) {
                const int32_t to = one.links(at)[s];
                const auto* first = listed.data() + at * c.k;
                const bool forward = std::find(first, first + 4, to) != first + 4;
                const bool is_old = forward ? old[at].count(to) > 0 : old[to].count(at) > 0;
                CHECK((s >= one.n_fresh(at)) == is_old);
            }
        }
        for (int32_t at = 0; at < c.p.n; ++at)  // a list's places only fall back
            old[at] = {listed.begin() + at * c.k, listed.begin() + at * c.k + 4};
        join_places(c.points, one, 0, c.p.n, 1);
        join_places(c.points, two, 0, 1000, 2), join_places(c.points, two, 1000, c.p.n, 2);
        CHECK(c.read(one) == c.read(two));
    }
}
