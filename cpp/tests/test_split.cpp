#include "../kernels/split.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

// One level of cuts.
template <typename AnyPoints>
std::vector<int64_t> split_level(const AnyPoints& points, const SplitSegments& segments, int64_t cap,
                                 double smallest_side, int64_t seed, int threads) {
    return split_levels(points, segments, {cap, &smallest_side, &seed, 1}, threads).bounds;
}

bool in_order_of(const std::vector<int32_t>& part, const std::vector<int32_t>& whole) {
    size_t at = 0;
    for (int32_t point : whole) at += at < part.size() && part[at] == point;
    return at == part.size();
}

template <typename AnyPoints>
std::vector<int64_t> check_split(const Points& p, const AnyPoints& points, Generator& rng, int threads) {
    const auto weight = uniforms(rng, p.n, 0.5, 3);
    const auto before = permutation(rng, p.n);
    auto order = before;
    const std::vector<int64_t> bounds{0, 4, 30, p.n};
    const auto cut =
        split_level(points, {weight.data(), order.data(), bounds.data(), 3}, 5, 0.1, 99, threads);
    CHECK(cut.size() == 6);  // the first segment is small enough
    for (int64_t b : bounds) CHECK(std::find(cut.begin(), cut.end(), b) != cut.end());
    for (size_t s = 0; s + 1 < cut.size(); ++s) {
        CHECK(cut[s] < cut[s + 1]);
        CHECK(in_order_of({order.begin() + cut[s], order.begin() + cut[s + 1]}, before));
    }
    for (size_t s = 0; s + 1 < bounds.size(); ++s) {
        std::vector<int32_t> a(before.begin() + bounds[s], before.begin() + bounds[s + 1]);
        std::vector<int32_t> b(order.begin() + bounds[s], order.begin() + bounds[s + 1]);
        std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
        CHECK(a == b);
        for (size_t c = 0; c + 1 < cut.size();
             ++c)  // no side below a tenth, but for the one that stays whole
            if (s > 0 && cut[c] >= bounds[s] && cut[c + 1] <= bounds[s + 1])
                CHECK(double(cut[c + 1] - cut[c]) >= 0.1 * double(bounds[s + 1] - bounds[s]) - 1);
    }
    order.insert(order.end(), cut.begin(), cut.end());
    return {order.begin(), order.end()};
}

}  // namespace

TEST_CASE("a level of splits cuts large segments in two and keeps the order inside") {
    for (const uint64_t seed : {18, 19, 20}) {
        Generator one(seed), two(seed), other(seed);
        const Points points(other, 80, 12, 0.5);
        CHECK(check_split(points, points.dense(), one, 1) == check_split(points, points.dense(), two, 2));
        check_split(points, points.sparse(), other, 2);
    }
}

TEST_CASE("a few far points do not draw the border") {
    Generator rng(22);
    Points points(rng, 300, 3);
    for (int64_t i = 0; i < 300; ++i)
        for (int64_t j = 0; j < 3; ++j) points.x[i * 3 + j] += i < 3 ? -1e12 : i % 2 ? 100 : 0;
    const std::vector<double> weight(300, 1.0);
    std::vector<int32_t> order = permutation(rng, 300);
    const std::vector<int64_t> bounds{0, 300};
    const DensePoints same{points.x.data(), points.x.data(), 300, 3};
    const auto cut = split_level(same, {weight.data(), order.data(), bounds.data(), 1}, 10, 0.05, 1, 2);
    CHECK(cut.size() == 3);
    for (int64_t s = 0; s < 300; ++s) {
        if (order[s] < 3) continue;
        const bool above = order[s] % 2 == 1, left = s < cut[1];
        int64_t other = 0;  // of the same cluster, on the other side of the cut
        for (int64_t t = left ? cut[1] : 0; t < (left ? 300 : cut[1]); ++t)
            other += order[t] >= 3 && (order[t] % 2 == 1) == above;
        CHECK(other == 0);
    }
}

TEST_CASE("two clusters far apart are separated") {
    Generator rng(21);
    Points points(rng, 60, 3);
    for (int64_t i = 0; i < 60; ++i)
        for (int64_t j = 0; j < 3; ++j) points.x[i * 3 + j] += i % 2 ? 100 : 0;
    const std::vector<double> weight(60, 1.0);
    std::vector<int32_t> order = permutation(rng, 60);
    const std::vector<int64_t> bounds{0, 60};
    const DensePoints same{points.x.data(), points.x.data(), 60, 3};
    const auto cut = split_level(same, {weight.data(), order.data(), bounds.data(), 1}, 10, 0.05, 1, 2);
    CHECK(cut == std::vector<int64_t>{0, 30, 60});
    for (int64_t s = 0; s < 60; ++s) CHECK(order[s] % 2 == order[s < 30 ? 0 : 30] % 2);
    CHECK(order[0] % 2 != order[30] % 2);
}

TEST_CASE("where every cut leaves too few on a side, the smallest share that is allowed is cut off") {
    Generator rng(35);
    for (const double sign : {1.0, -1.0}) {
        std::vector<double> x(40);  // without the farthest points, the next ones are as far
        for (int i = 0; i < 40; ++i) x[(i * 17) % 40] = sign * std::pow(10.0, i);
        const std::vector<double> weight(40, 1.0);
        std::vector<int32_t> order = permutation(rng, 40);
        const std::vector<int64_t> bounds{0, 40};
        const DensePoints line{x.data(), x.data(), 40, 1};
        const auto cut = split_level(line, {weight.data(), order.data(), bounds.data(), 1}, 10, 0.25, 5, 1);
        REQUIRE(cut.size() == 3);
        CHECK(std::min(cut[1], 40 - cut[1]) == 10);
        const auto farthest = std::find(order.begin(), order.end(), (39 * 17) % 40) - order.begin();
        CHECK((farthest >= cut[1] ? 40 - cut[1] : cut[1]) == 10);  // it is on the smaller side
        for (int64_t a = 0; a < cut[1]; ++a)                       // and the sides do not overlap
            for (int64_t b = cut[1]; b < 40; ++b)
                CHECK((x[order[a]] < x[order[b]]) == (x[order[0]] < x[order[39]]));
    }
}
