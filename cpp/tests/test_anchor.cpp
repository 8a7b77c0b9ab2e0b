#include "../kernels/anchor.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct State {
    std::vector<int32_t> points, owner;
    std::vector<double> distance;

    State(std::vector<int32_t> points_)
        : points(std::move(points_)), owner(points.size(), 0), distance(points.size(), kInfinity) {}

    AnchorState of(const Points& p) {
        return {p.u.data(), p.w.data(), points.data(), distance.data(), owner.data()};
    }
};

// Farthest-point traversal as Eq. (7) says: the pivots, one scan each.
std::vector<int32_t> slow_pivots(const Points& p, const std::vector<int32_t>& points, int64_t first,
                                 int64_t wanted) {
    std::vector<double> nearest(points.size(), kInfinity);
    std::vector<int32_t> pivots;
    for (int64_t next = first; static_cast<int64_t>(pivots.size()) < wanted;) {
        pivots.push_back(points[next]);
        for (size_t i = 0; i < points.size(); ++i)
            nearest[i] =
                std::min(nearest[i], points[i] == points[next] ? 0 : p.divergence(points[i], points[next]));
        next = std::max_element(nearest.begin(), nearest.end()) - nearest.begin();
    }
    return pivots;
}

template <typename AnyPoints>
void check_steal(const Points& p, const AnyPoints& points, Generator& rng) {
    State state(permutation(rng, p.n));
    const std::vector<double> no_pruning(2, -kInfinity);
    std::vector<int64_t> pivots;
    for (int32_t anchor = 0; anchor < 3; ++anchor) {
        pivots.push_back(below(rng, p.n));
        const double* threshold = anchor == 2 ? no_pruning.data() : nullptr;
        const Stolen stolen = anchor_steal(points, state.of(p), p.n, {pivots.back(), anchor, threshold}, 2);
        CHECK(stolen.evaluations == p.n);
        CHECK(stolen.position ==
              std::max_element(state.distance.begin(), state.distance.end()) - state.distance.begin());
    }
    for (int64_t i = 0; i < p.n; ++i) {
        double nearest = kInfinity;
        for (int64_t pivot : pivots)
            nearest = std::min(nearest, i == pivot ? 0 : p.divergence(state.points[i], state.points[pivot]));
        CHECK(near(state.distance[i], nearest, 1e-10));
        const int64_t own = pivots[state.owner[i]];
        CHECK(near(i == own ? 0 : p.divergence(state.points[i], state.points[own]), nearest, 1e-10));
    }
}

template <typename AnyPoints>
void check_grow(const Points& p, const AnyPoints& points, Generator& rng) {
    State state(permutation(rng, p.n));
    const std::vector<int64_t> offsets{0, 10, 40}, first{3, 0}, pivot_offsets{0, 4, 9};
    std::vector<int32_t> pivots(9, -1), grown(2, 0);
    const Segments segments{offsets.data(), first.data(), pivot_offsets.data(), 2};
    CHECK(anchor_grow(points, state.of(p), segments, pivots.data(), grown.data(), 2) == 10 * 4 + 30 * 5);
    for (int64_t s = 0; s < 2; ++s) {
        const std::vector<int32_t> own(state.points.begin() + offsets[s],
                                       state.points.begin() + offsets[s + 1]);
        const auto expected = slow_pivots(p, own, first[s], grown[s]);
        CHECK(grown[s] == pivot_offsets[s + 1] - pivot_offsets[s]);
        for (int64_t a = 0; a < grown[s]; ++a) CHECK(pivots[pivot_offsets[s] + a] == expected[a]);
    }
}

}  // namespace

TEST_CASE("points go to the nearest of three anchors") {
    Generator rng(14);
    const Points dense(rng, 40, 13), sparse(rng, 40, 50, 0.3);
    check_steal(dense, dense.dense(), rng);
    check_steal(sparse, sparse.sparse(), rng);
}

TEST_CASE("a threshold that proves a point nearer to its own anchor saves its divergence") {
    Generator rng(15);
    const Points points(rng, 40, 5);
    State state(permutation(rng, 40));
    anchor_steal(points.dense(), state.of(points), 40, {0, 0, nullptr}, 1);
    const auto before = state.distance;
    const std::vector<double> all_pruned{kInfinity};
    CHECK(anchor_steal(points.dense(), state.of(points), 40, {7, 1, all_pruned.data()}, 1).evaluations == 0);
    for (size_t i = 0; i < before.size(); ++i) CHECK(state.distance[i] == (i == 7 ? 0 : before[i]));
}

TEST_CASE("anchors of segments by farthest points") {
    Generator rng(16);
    const Points dense(rng, 40, 13), sparse(rng, 40, 50, 0.3);
    check_grow(dense, dense.dense(), rng);
    check_grow(sparse, sparse.sparse(), rng);
}
