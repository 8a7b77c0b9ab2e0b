#include <doctest/doctest.h>

#include <set>

#include "../kernels/nn_descent.hpp"
#include "lists.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

// Points, dense and sparse, and lists to begin with: some others of each, one of them twice, and itself.
struct Case {
    Points p;
    std::vector<int32_t> order;
    InvertedLists lists;
    Places places;
    DenseRows dense;
    SparsePlaces sparse;
    std::vector<int32_t> given;  // (N, k) points
    int64_t k;

    Case(Generator& rng, int64_t n, int64_t d, int64_t k_, double density = 0.6)
        : p(rng, n, d, density),
          order(permutation(rng, n)),
          lists(inverted(p, p.dense(), order, parts_of(n, 7))),
          places(order.data(), n),
          dense(lists, 2),
          sparse(p.sparse(), p.u.data(), p.w.data(), order.data()),
          given(static_cast<size_t>(n * k_), -1),
          k(k_) {
        for (int64_t i = 0; i < n; ++i)
            for (int64_t s = 0; s < k - i % 2; ++s)
                given[i * k + s] = static_cast<int32_t>(s == 1 && i % 5 == 0 ? i : below(rng, n));
    }
    double divergence(int64_t from, int64_t to) const { return p.divergence(order[from], order[to]); }
};

template <typename Rows>
GrowingLists begun(const Case& c, const Rows& rows, int64_t n_forward, int threads) {
    GrowingLists lists(c.p.n, c.k, n_forward);
    begin_lists(rows, lists, c.places, c.given.data(), threads);
    return lists;
}

// Lists as they stand: places and estimates, (N, k) ×2.
struct Snapshot {
    std::vector<int32_t> place;
    std::vector<float> estimate;

    explicit Snapshot(const GrowingLists& lists)
        : place(static_cast<size_t>(lists.n() * lists.k())), estimate(place.size()) {
        for (int64_t p = 0; p < lists.n(); ++p)
            lists.read(p, place.data() + p * lists.k(), estimate.data() + p * lists.k());
    }
    std::set<int32_t> first(int64_t p, int64_t k, int64_t count) const {
        std::set<int32_t> out(place.begin() + p * k, place.begin() + p * k + count);
        out.erase(-1);
        return out;
    }
    bool operator==(const Snapshot&) const = default;
};

// Forward and reverse neighbors by their definition: the first of a list, and those whose lists hold the
// place among their first, fewer than so many, by rank, then by place.
std::vector<std::set<int32_t>> slow_neighbors(const Snapshot& lists, int64_t n, int64_t k,
                                              int64_t n_forward) {
    std::vector<std::set<int32_t>> neighbors, forward;
    for (int64_t p = 0; p < n; ++p) neighbors.push_back(lists.first(p, k, n_forward));
    forward = neighbors;
    std::vector<int64_t> taken(static_cast<size_t>(n), 0);
    for (int64_t s = 0; s < n_forward; ++s)
        for (int32_t p = 0; p < n; ++p) {
            const int32_t to = lists.place[p * k + s];
            if (to >= 0 && !forward[to].count(p) && taken[to]++ < n_forward - 1) neighbors[to].insert(p);
        }
    return neighbors;
}

std::set<int32_t> neighbors_of(const GrowingLists& lists, int64_t p) {
    return {lists.neighbors(p), lists.neighbors(p) + lists.n_neighbors(p)};
}

std::set<int32_t> new_neighbors_of(const GrowingLists& lists, int64_t p) {
    return {lists.neighbors(p), lists.neighbors(p) + lists.n_new(p)};
}

// The pairs that a local join of each place compares: new neighbors with all, and with the place itself.
std::vector<std::set<int32_t>> met_in_joins(const GrowingLists& lists) {
    std::vector<std::set<int32_t>> met(static_cast<size_t>(lists.n()));
    for (int32_t p = 0; p < lists.n(); ++p) {
        std::set<int32_t> all = neighbors_of(lists, p);
        all.insert(p);
        for (const int32_t one : new_neighbors_of(lists, p))
            for (const int32_t other : all)
                if (one != other) met[one].insert(other), met[other].insert(one);
    }
    return met;
}

// Whether each list holds the best of what it held and of what it met; better ones are let pass if there may
// be others. Returns how many places changed.
int64_t check_joined(const Case& c, const Snapshot& before, const Snapshot& after,
                     const std::vector<std::set<int32_t>>& met, bool exactly) {
    int64_t changed = 0;
    for (int32_t p = 0; p < c.p.n; ++p) {
        std::set<int32_t> all = before.first(p, c.k, c.k), distinct;
        all.insert(met[p].begin(), met[p].end());
        all.erase(p);
        std::vector<double> expected;
        for (const int32_t other : all) expected.push_back(c.divergence(p, other));
        std::sort(expected.begin(), expected.end());
        for (int64_t s = 0; s < c.k; ++s) {
            const int32_t found = after.place[p * c.k + s];
            changed += found != before.place[p * c.k + s];
            if (s >= static_cast<int64_t>(expected.size()) && exactly) CHECK(found == -1);
            if (s >= static_cast<int64_t>(expected.size())) continue;
            CHECK((found >= 0 && found != p && distinct.insert(found).second));
            CHECK(c.divergence(p, found) < expected[s] + 1e-4);
            if (exactly) CHECK(c.divergence(p, found) > expected[s] - 1e-4);
        }
    }
    return changed;
}

template <typename Rows>
void check_begun(const Case& c, const Rows& rows) {
    const Snapshot lists(begun(c, rows, 4, 2));
    for (int64_t p = 0; p < c.p.n; ++p) {
        std::set<int32_t> expected;
        const int32_t* const given = c.given.data() + c.order[p] * c.k;
        for (int64_t s = 0; s < c.k && given[s] >= 0; ++s) expected.insert(c.places.place[given[s]]);
        expected.erase(static_cast<int32_t>(p));
        CHECK(lists.first(p, c.k, c.k) == expected);
        for (int64_t s = 0; s < c.k; ++s) {
            const float estimate = lists.estimate[p * c.k + s];
            CHECK((lists.place[p * c.k + s] >= 0) == (s < static_cast<int64_t>(expected.size())));
            if (s >= static_cast<int64_t>(expected.size())) continue;
            CHECK(near(rows.divergence(p, estimate), c.divergence(p, lists.place[p * c.k + s]), 1e-4));
            if (s > 0) CHECK(lists.estimate[p * c.k + s - 1] <= estimate);
        }
    }
}

template <typename Rows>
void check_iteration(const Case& c, const Rows& rows, int64_t n_forward) {
    GrowingLists lists = begun(c, rows, n_forward, 2);
    const Snapshot before(lists);
    join_lists(rows, lists, 0, c.p.n, 2);
    CHECK(Snapshot(lists) == before);  // there are no neighbors yet
    lists.link(2);
    const auto neighbors = slow_neighbors(before, c.p.n, c.k, n_forward);
    for (int64_t p = 0; p < c.p.n; ++p) {
        CHECK(neighbors_of(lists, p) == neighbors[p]);
        CHECK(lists.n_neighbors(p) == static_cast<int64_t>(neighbors[p].size()));
        CHECK(lists.n_new(p) == lists.n_neighbors(p));
    }
    join_lists(rows, lists, 0, c.p.n, 2);
    CHECK(check_joined(c, before, Snapshot(lists), met_in_joins(lists), true) > 0);
}

// A neighbor is old if its list's place was among the first before, or the place among the neighbor's.
template <typename Rows>
void check_later_iterations(const Case& c, const Rows& rows, int64_t n_forward, bool exactly) {
    GrowingLists lists = begun(c, rows, n_forward, 2);
    std::vector<std::set<int32_t>> old(static_cast<size_t>(c.p.n));
    for (int iteration = 0; iteration < 3; ++iteration) {
        const Snapshot before(lists);
        lists.link(2);
        const auto neighbors = slow_neighbors(before, c.p.n, c.k, n_forward);
        for (int32_t p = 0; p < c.p.n; ++p) {
            CHECK(neighbors_of(lists, p) == neighbors[p]);
            const auto forward = before.first(p, c.k, n_forward), fresh = new_neighbors_of(lists, p);
            for (const int32_t to : neighbors[p]) {
                const bool is_old = forward.count(to) ? old[p].count(to) : old[to].count(p);
                CHECK(fresh.count(to) != is_old);
            }
        }
        for (int32_t p = 0; p < c.p.n; ++p) old[p] = before.first(p, c.k, n_forward);  // no place comes back
        const auto met = met_in_joins(lists);
        join_lists(rows, lists, 0, c.p.n, 2);
        check_joined(c, before, Snapshot(lists), met, exactly);
    }
}

template <typename Rows>
void check_old_neighbors(const Case& c, const Rows& rows) {
    GrowingLists lists = begun(c, rows, 4, 2);
    const Snapshot before(lists);
    lists.link(2), lists.link(2);
    for (int64_t p = 0; p < c.p.n; ++p) CHECK(lists.n_new(p) == 0);
    join_lists(rows, lists, 0, c.p.n, 2);
    CHECK(Snapshot(lists) == before);
}

template <typename Rows>
void check_threads(const Case& c, const Rows& rows, int64_t n_forward) {
    GrowingLists one = begun(c, rows, n_forward, 1), two = begun(c, rows, n_forward, 2);
    CHECK(Snapshot(one) == Snapshot(two));
    for (int iteration = 0; iteration < 4; ++iteration) {
        one.link(1), two.link(2);
        for (int64_t p = 0; p < c.p.n; ++p) {
            CHECK(neighbors_of(one, p) == neighbors_of(two, p));
            CHECK(new_neighbors_of(one, p) == new_neighbors_of(two, p));
        }
        join_lists(rows, one, 0, c.p.n, 1);
        join_lists(rows, two, 0, 1000, 2), join_lists(rows, two, 1000, c.p.n, 2);
        CHECK(Snapshot(one) == Snapshot(two));
    }
}

}  // namespace

TEST_CASE("places and points lead to each other") {
    const std::vector<int32_t> order{2, 0, 3, 1};
    const Places places(order.data(), 4);
    CHECK(places.order == order);
    CHECK(places.place == std::vector<int32_t>{1, 3, 0, 2});
}

TEST_CASE("lists begin with what they are given, once each and without themselves, the nearest first") {
    Generator rng(40);
    for (const int64_t d : {1, 5, 30}) {
        const Case c(rng, 200, d, 6);
        check_begun(c, c.dense), check_begun(c, c.sparse);
    }
}

TEST_CASE("an iteration leaves the best of a list and of the pairs of its local joins") {
    Generator rng(41);
    for (const int64_t d : {1, 5, 20})
        for (const int64_t n_forward : {1, 3, 5, 9}) {
            const Case c(rng, 300, d, 5);
            const int64_t links = std::min(n_forward, c.k);  // more than a list holds are no more
            check_iteration(c, c.dense, links), check_iteration(c, c.sparse, links);
            CHECK(GrowingLists(10, 5, n_forward).k() == 5);
        }
}

TEST_CASE("later iterations compare what is new") {
    Generator rng(42);
    for (const int64_t n_forward : {2, 4, 12}) {
        const Case c(rng, 400, 6, 12);
        check_later_iterations(c, c.dense, n_forward, false);  // old ones may lie beside new ones in a panel
        check_later_iterations(c, c.sparse, n_forward, true);
    }
}

TEST_CASE("what was linked before is not compared again") {
    Generator rng(43);
    const Case c(rng, 300, 4, 6);
    check_old_neighbors(c, c.dense), check_old_neighbors(c, c.sparse);
}

TEST_CASE("a part of the places offers only what its neighbors bring together") {
    Generator rng(44);
    const Case c(rng, 200, 4, 5);
    GrowingLists lists = begun(c, c.dense, 3, 1);
    const Snapshot before(lists);
    lists.link(1);
    std::set<int32_t> touched;
    for (int64_t p = 20; p < 25; ++p)
        for (const int32_t one : neighbors_of(lists, p))
            touched.insert(one), touched.insert(static_cast<int32_t>(p));
    join_lists(c.dense, lists, 20, 25, 2);
    const Snapshot after(lists);
    for (int32_t p = 0; p < c.p.n; ++p)
        if (!touched.count(p)) CHECK(after.first(p, 5, 5) == before.first(p, 5, 5));
    CHECK_FALSE(after == before);
}

TEST_CASE("lists are the same for any number of threads") {
    Generator rng(45);
    for (const int64_t n_forward : {4, 20}) {
        const Case c(rng, 3000, 8, 20);
        check_threads(c, c.dense, n_forward), check_threads(c, c.sparse, n_forward);
    }
}

TEST_CASE("estimates of dense points are never above their divergences") {
    Generator rng(46);
    for (const int64_t d : {1, 3, 20, 200})
        for (const double offset : {0.0, 100.0})
            for (const bool is_self_dual : {false, true}) {
                Points p(rng, 300, d);
                for (double& x : p.x) x += offset;
                if (is_self_dual) make_self_dual(p);
                const auto order = permutation(rng, p.n);
                const InvertedLists inverse =
                    inverted(p, is_self_dual ? self_dual(p) : p.dense(), order, parts_of(p.n, 25));
                const DenseRows rows(inverse, 2);
                std::vector<int32_t> given;
                for (int32_t i = 0; i < p.n; ++i)
                    for (int32_t s = 1; s <= 10; ++s)
                        given.push_back(static_cast<int32_t>((i + 7 * s) % p.n));
                GrowingLists lists(p.n, 10, 10);
                begin_lists(rows, lists, Places(order.data(), p.n), given.data(), 2);
                lists.link(2);
                join_lists(rows, lists, 0, p.n, 2);
                const Snapshot found(lists);
                for (int64_t a = 0; a < p.n; ++a)
                    for (int64_t s = 0; s < 10; ++s) {
                        const double estimate = rows.divergence(a, found.estimate[a * 10 + s]);
                        const double exact = p.divergence(order[a], order[found.place[a * 10 + s]]);
                        const double size = std::abs(p.u[order[a]]) + 1;
                        CHECK(estimate <= exact + 1e-12 * size);
                        CHECK(estimate >= exact - 1e-4 * size * static_cast<double>(d));
                    }
            }
}

TEST_CASE("iterations find the nearest of all") {
    Generator rng(47);
    const Case c(rng, 600, 3, 15, 1.0);
    const auto recall = [&](const auto& rows) {
        GrowingLists lists = begun(c, rows, 15, 2);
        for (int iteration = 0; iteration < 8; ++iteration)
            lists.link(2), join_lists(rows, lists, 0, c.p.n, 2);
        const Snapshot found(lists);
        int64_t hits = 0;
        for (int64_t p = 0; p < c.p.n; ++p) {
            const auto listed = found.first(p, c.k, c.k);
            for (const auto& [_, j] : nearest(c.p, c.order[p], c.order, 10))
                hits += listed.count(c.places.place[j]);
        }
        return static_cast<double>(hits) / static_cast<double>(10 * c.p.n);
    };
    CHECK(recall(c.dense) > 0.9);
    CHECK(recall(c.sparse) > 0.9);
}
