#include <doctest/doctest.h>

#include <set>

#include "../kernels/ivf.hpp"
#include "lists.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

ExactPoints exact(const Points& p, const DensePoints& points) {
    return {points.x, points.h, p.u.data(), p.w.data(), points.d};
}

// Lists first … last − 1 as groups of queries.
struct Groups {
    std::vector<int32_t> assigned;

    Groups(int64_t first, int64_t last) {
        for (int64_t list = first; list < last; ++list) assigned.push_back(static_cast<int32_t>(list));
    }
    Queries of(const InvertedLists& lists) const {
        const int64_t n_groups = static_cast<int64_t>(assigned.size());
        return {lists.points,    lists.u, nullptr, lists.order(), lists.bounds() + assigned[0],
                assigned.data(), n_groups};
    }
};

// All points' lists by comparing them with at least so many.
Lists search_all(const Points& p, const InvertedLists& lists, int64_t k, int64_t n_candidates,
                 int threads = 2) {
    Lists found(p.n, k);
    const Groups groups(0, lists.n);
    search_lists(lists, groups.of(lists), {n_candidates, k, true, exact(p, lists.points)}, found.view(),
                 threads);
    return found;
}

void check_exact(const Points& p, const Lists& found, int64_t i) {
    const auto expected = nearest(p, i, numbers(p.n), found.k);
    std::set<int32_t> distinct;
    for (size_t s = 0; s < static_cast<size_t>(found.k); ++s) {
        const size_t at = static_cast<size_t>(i * found.k) + s;
        CHECK((found.index[at] >= 0) == (s < expected.size()));
        if (s >= expected.size()) continue;
        CHECK(near(found.divergence[at], expected[s].first));
        CHECK(near(p.divergence(i, found.index[at]), expected[s].first));
        CHECK(found.index[at] != i);
        CHECK(distinct.insert(found.index[at]).second);
    }
}

}  // namespace

TEST_CASE("a search through all lists finds the nearest") {
    Generator rng(29);
    for (const int64_t d : {1, 3, 8, 20, 70})
        for (const bool is_self_dual : {false, true}) {
            Points p(rng, 130, d);
            if (is_self_dual) make_self_dual(p);
            const auto order = permutation(rng, p.n);
            for (const int64_t size : {1, 15, 16, 47, 130}) {
                const InvertedLists lists =
                    inverted(p, is_self_dual ? self_dual(p) : p.dense(), order, parts_of(p.n, size));
                CHECK(lists.is_self_dual() == is_self_dual);
                const Lists found = search_all(p, lists, 4, p.n);
                for (int64_t i = 0; i < p.n; ++i) check_exact(p, found, i);
                CHECK(search_all(p, lists, 4, p.n, 1).index == found.index);
            }
        }
}

TEST_CASE("lists of more neighbors than there are others end with none") {
    Generator rng(30);
    const Points p(rng, 5, 2);
    const InvertedLists lists = inverted(p, p.dense(), {3, 1, 4, 0, 2}, {0, 2, 5});
    const Lists found = search_all(p, lists, 7, p.n + 9);
    for (int64_t i = 0; i < p.n; ++i) check_exact(p, found, i);
}

TEST_CASE("a part of the lists fills its own rows only, with at least so many compared") {
    Generator rng(30);
    const Points p(rng, 100, 4);
    const auto order = permutation(rng, p.n);
    const InvertedLists lists = inverted(p, p.dense(), order, parts_of(p.n, 10));
    Lists found(p.n, 3);
    search_lists(lists, Groups(2, 5).of(lists), {30, 3, true, exact(p, p.dense())}, found.view(), 1);
    for (int64_t place = 0; place < p.n; ++place) {
        const bool filled = place >= 20 && place < 50;
        for (int64_t s = 0; s < 3; ++s) {
            const int32_t j = found.index[order[place] * 3 + s];
            CHECK((j >= 0) == filled);
            if (filled) CHECK(near(found.divergence[order[place] * 3 + s], p.divergence(order[place], j)));
        }
    }
}

TEST_CASE("queries find their nearest, whatever list they are assigned to, and leave out themselves") {
    Generator rng(34);
    for (const int64_t d : {2, 20}) {
        const Points p(rng, 130, d);
        const auto order = permutation(rng, p.n);
        const InvertedLists lists = inverted(p, p.dense(), order, parts_of(p.n, 30));
        const std::vector<int32_t> rows{5, 0, 7, 100, 64}, assigned{3, 1, 0}, none(130, -1);
        const std::vector<int64_t> bounds{0, 2, 2, 5};  // one group is empty
        const Search search{p.n, 4, true, exact(p, p.dense())};
        Lists found(p.n, 4), own(p.n, 4);
        search_lists(lists,
                     {p.dense(), p.u.data(), none.data(), rows.data(), bounds.data(), assigned.data(), 3},
                     search, found.view(), 2);
        search_lists(lists, {p.dense(), p.u.data(), nullptr, rows.data(), bounds.data(), assigned.data(), 3},
                     search, own.view(), 2);
        for (const int32_t i : rows) {
            check_exact(p, own, i);
            const auto others = nearest(p, i, order, 4);
            std::vector<double> all{p.divergence(i, i)};  // a query that is no point may list them all
            for (const auto& other : others) all.push_back(other.first);
            std::sort(all.begin(), all.end());
            for (int64_t s = 0; s < 4; ++s) CHECK(near(found.divergence[i * 4 + s], all[s]));
        }
        CHECK(found.index[1 * 4] == -1);
    }
}

TEST_CASE("queries from outside, some of them far, are compared with all points") {
    Generator rng(36);
    for (const bool is_self_dual : {false, true}) {
        Points p(rng, 200, 6), q(rng, 40, 6);
        for (int64_t j = 0; j < q.d; ++j) q.x[3 * q.d + j] = 1e4, q.h[3 * q.d + j] = std::log(1 + 1e4);
        if (is_self_dual) make_self_dual(p), make_self_dual(q);
        const InvertedLists lists =
            inverted(p, is_self_dual ? self_dual(p) : p.dense(), permutation(rng, p.n), parts_of(p.n, 20));
        const DensePoints queries = is_self_dual ? self_dual(q) : q.dense();
        std::vector<int32_t> own(40, -1);
        own[7] = 11;
        const auto rows = permutation(rng, q.n);
        const std::vector<int32_t> assigned{0, 4, 9};
        const std::vector<int64_t> bounds{0, 1, 18, 40};
        Lists found(q.n, 5);
        search_lists(lists, {queries, q.u.data(), own.data(), rows.data(), bounds.data(), assigned.data(), 3},
                     {p.n, 5, true, {queries.x, lists.points.h, q.u.data(), p.w.data(), p.d}}, found.view(),
                     2);
        for (int64_t i = 0; i < q.n; ++i) {
            std::vector<double> expected;
            for (int64_t j = 0; j < p.n; ++j) {
                double d = q.u[i] + p.w[j];
                for (int64_t t = 0; t < p.d; ++t) d -= q.x[i * p.d + t] * p.h[j * p.d + t];
                if (j != own[i]) expected.push_back(std::max(d, 0.0));
            }
            std::sort(expected.begin(), expected.end());
            for (int64_t s = 0; s < 5; ++s) {
                CHECK(near(found.divergence[i * 5 + s], expected[s], 1e-10));
                CHECK(found.index[i * 5 + s] != own[i]);
            }
        }
    }
}

TEST_CASE("queries of groups far apart are compared with their own groups") {
    Generator rng(35);
    Points p(rng, 800, 3);
    for (int64_t i = 0; i < p.n; ++i)
        for (int64_t j = 0; j < p.d; ++j)
            p.x[i * p.d + j] += 1e3 * static_cast<double>(below(rng, 2) + 2 * (i / 20));
    for (int64_t i = 0; i < p.n; ++i)  // a group of 20 has one corner
        for (int64_t j = 0; j < p.d; ++j) p.x[i * p.d + j] = p.x[i / 20 * 20 * p.d + j] + uniform(rng, -1, 1);
    make_self_dual(p);
    const InvertedLists lists = inverted(p, self_dual(p), numbers(p.n), parts_of(p.n, 20));
    const Lists found = search_all(p, lists, 4, 20);
    for (int64_t i = 0; i < p.n; ++i) {
        const auto expected = nearest(p, i, numbers(p.n), 4);
        for (int64_t s = 0; s < 4; ++s) {
            CHECK(found.index[i * 4 + s] / 20 == i / 20);
            CHECK(near(found.divergence[i * 4 + s], expected[s].first, 1e-8));
        }
    }
}

TEST_CASE("candidates are re-ranked by the points that they were projected from") {
    Generator rng(37);
    Points whole(rng, 150, 9), part(rng, 150, 4);
    for (int64_t i = 0; i < whole.n; ++i)  // the first four coordinates: no distance grows
        for (int64_t j = 0; j < 4; ++j) part.x[i * 4 + j] = whole.x[i * 9 + j];
    make_self_dual(whole), make_self_dual(part);
    const InvertedLists lists = inverted(part, self_dual(part), permutation(rng, 150), parts_of(150, 16));
    const Groups groups(0, lists.n);
    for (const bool is_bound : {true, false}) {
        Lists all(150, 5), few(150, 5);
        search_lists(lists, groups.of(lists), {150, 149, is_bound, exact(whole, self_dual(whole))},
                     all.view(), 2);
        search_lists(lists, groups.of(lists), {150, 12, is_bound, exact(whole, self_dual(whole))}, few.view(),
                     2);
        for (int64_t i = 0; i < whole.n; ++i) {
            check_exact(whole, all, i);
            std::vector<int32_t> near_in_part;
            for (const auto& [_, j] : nearest(part, i, numbers(150), 12)) near_in_part.push_back(j);
            const auto expected = nearest(whole, i, near_in_part, 5);
            for (int64_t s = 0; s < 5; ++s) CHECK(near(few.divergence[i * 5 + s], expected[s].first));
        }
    }
}

TEST_CASE("candidates are the best by estimates, without the query itself") {
    Generator rng(38);
    for (const int64_t d : {1, 6, 40}) {
        const Points p(rng, 120, d);
        const InvertedLists lists = inverted(p, p.dense(), permutation(rng, p.n), parts_of(p.n, 11));
        const Groups all(0, lists.n), some(3, 5);
        for (const int64_t width : {1, 7, 119}) {
            std::vector<int32_t> found(static_cast<size_t>(p.n * width), -7), part = found;
            list_candidates(lists, all.of(lists), p.n, width, found.data(), 2);
            list_candidates(lists, some.of(lists), p.n, width, part.data(), 1);
            for (int64_t i = 0; i < p.n; ++i) {
                const auto expected = nearest(p, i, numbers(p.n), width);
                std::vector<double> divergences;
                std::set<int32_t> distinct;
                for (int64_t s = 0; s < width; ++s) {
                    const int32_t j = found[i * width + s];
                    CHECK((j >= 0 && j < p.n && j != i && distinct.insert(j).second));
                    divergences.push_back(p.divergence(i, j));
                }
                std::sort(divergences.begin(), divergences.end());
                for (int64_t s = 0; s < width; ++s) CHECK(near(divergences[s], expected[s].first, 1e-5));
            }
            for (int64_t place = 0; place < p.n; ++place)
                for (int64_t s = 0; s < width; ++s) {
                    const int64_t at = lists.order()[place] * width + s;
                    CHECK(part[at] == (place >= 33 && place < 55 ? found[at] : -7));
                }
        }
    }
}

TEST_CASE("a far point costs the others of its list no candidates") {
    Generator rng(41);
    Points p(rng, 2000, 4);
    make_self_dual(p);
    for (const double far : {1e3, 1e12, 1e25}) {
        for (int64_t j = 0; j < 4; ++j) p.x[700 * 4 + j] = far;
        make_self_dual(p);
        const InvertedLists lists = inverted(p, self_dual(p), numbers(2000), parts_of(2000, 100));
        std::vector<int32_t> found(static_cast<size_t>(2000 * 10));
        list_candidates(lists, Groups(0, lists.n).of(lists), 2000, 10, found.data(), 2);
        int64_t hits = 0;
        for (int64_t i = 710; i < 790; ++i)  // of the far point's list
            for (const auto& [_, j] : nearest(p, i, numbers(2000), 10))
                hits += std::count(found.begin() + i * 10, found.begin() + (i + 1) * 10, j);
        CHECK(hits >= 780);
    }
}

TEST_CASE("rows of candidates end with none") {
    Generator rng(39);
    const Points p(rng, 6, 2);
    const InvertedLists lists = inverted(p, p.dense(), numbers(6), {0, 4, 6});
    std::vector<int32_t> found(6 * 8, -7);
    list_candidates(lists, Groups(0, 2).of(lists), 9, 8, found.data(), 1);
    for (int64_t i = 0; i < 6; ++i) {
        CHECK(std::set<int32_t>(found.begin() + i * 8, found.begin() + i * 8 + 5).size() == 5);
        for (int64_t s = 0; s < 8; ++s) CHECK((found[i * 8 + s] == -1) == (s >= 5));
    }
}

TEST_CASE("a far point in every list costs the others no neighbor") {
    Generator rng(33);
    Points p(rng, 400, 5);
    for (int64_t i = 0; i < p.n; i += 40)
        for (int64_t j = 0; j < p.d; ++j) p.x[i * p.d + j] = i % 80 ? 1e9 : -1e6;
    make_self_dual(p);
    const InvertedLists lists = inverted(p, self_dual(p), numbers(p.n), parts_of(p.n, 40));
    const Lists found = search_all(p, lists, 6, p.n);
    for (int64_t i = 0; i < p.n; ++i)
        if (i % 40 != 0) check_exact(p, found, i);
}

TEST_CASE("equal points, in lists of their own or not, are their own nearest") {
    Generator rng(40);
    for (const double spread : {0.0, 1e-9}) {
        Points p(rng, 70, 4);
        for (int64_t i = 0; i < p.n; ++i)
            for (int64_t j = 0; j < p.d; ++j)
                p.x[i * p.d + j] = static_cast<double>(i % 3) + spread * p.x[i * p.d + j];
        make_self_dual(p);
        for (const int64_t size : {7, 70}) {
            const Lists found =
                search_all(p, inverted(p, self_dual(p), permutation(rng, p.n), parts_of(p.n, size)), 6, p.n);
            for (int64_t i = 0; i < p.n; ++i)
                for (int64_t s = 0; s < 6; ++s) {
                    CHECK(found.index[i * 6 + s] % 3 == i % 3);
                    CHECK(near(found.divergence[i * 6 + s], 0.0));
                }
        }
    }
}

TEST_CASE("points without coordinates have lists") {
    Generator rng(41);
    const Points p(rng, 20, 0);
    const InvertedLists lists = inverted(p, p.dense(), numbers(20), {0, 9, 20});
    const Lists found = search_all(p, lists, 3, 20);
    for (int64_t i = 0; i < p.n; ++i) check_exact(p, found, i);
}

TEST_CASE("values that overflow do not lead the search astray") {
    Generator rng(32);
    for (const double size : {1e300, 1e150, 1e19, 1e-170, 1e-310})
        for (const bool some : {true, false}) {
            Points p(rng, 200, 3);
            for (size_t at = 0; at < p.x.size(); ++at)
                if (!some || at % 600 < 300) p.x[at] *= size, p.h[at] *= -size;
            const InvertedLists lists = inverted(p, p.dense(), permutation(rng, p.n), parts_of(p.n, 20));
            std::vector<int32_t> found = search_all(p, lists, 3, p.n).index;
            for (int32_t j : found) CHECK((j >= -1 && j < p.n));
            list_candidates(lists, Groups(0, lists.n).of(lists), p.n, 3, found.data(), 1);
            for (int32_t j : found) CHECK((j >= -1 && j < p.n));
        }
}
