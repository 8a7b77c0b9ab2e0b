#include <doctest/doctest.h>

#include "../kernels/planes.hpp"
#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

// Planes of a random binary tree in the order of their making, so that parents come first.
struct RandomPlanes {
    std::vector<double> x, h, border;
    std::vector<int32_t> child;

    RandomPlanes(Generator& rng, int64_t count, int64_t d)
        : x(uniforms(rng, count * d, -1)), h(uniforms(rng, count * d, -1)), border(uniforms(rng, count, -1)) {
        std::vector<size_t> open{0};  // places of `child` that have no plane yet
        child.resize(static_cast<size_t>(2 * count));
        for (int32_t p = 0; p < count; ++p) {
            const size_t pick = static_cast<size_t>(below(rng, static_cast<int64_t>(open.size())));
            if (p > 0) child[open[pick]] = p;
            open.erase(open.begin() + static_cast<int64_t>(pick));
            open.push_back(static_cast<size_t>(2 * p)), open.push_back(static_cast<size_t>(2 * p + 1));
        }
        int32_t region = 0;
        for (const size_t place : open) child[place] = -1 - region++;
    }
    Planes view() const {
        return {x.data(), h.data(), border.data(), child.data(), static_cast<int64_t>(border.size())};
    }
    int32_t region(const Points& points, int64_t i) const {
        int32_t p = 0;
        while (p >= 0) {
            double score = 0;
            for (int64_t j = 0; j < points.d; ++j)
                score += points.x[i * points.d + j] * h[p * points.d + j] +
                         points.h[i * points.d + j] * x[p * points.d + j];
            p = child[2 * p + (score > border[p])];
        }
        return -1 - p;
    }
};

}  // namespace

TEST_CASE("the region of every point, for any number of planes and threads") {
    Generator rng(21);
    for (const int64_t d : {1, 8, 13})
        for (const int64_t n : {1, 63, 64, 9000}) {
            const Points points(rng, n, d, 1.0);
            const RandomPlanes planes(rng, 40, d);
            std::vector<int32_t> one(static_cast<size_t>(n), -1), two(one);
            find_regions(points.dense(), planes.view(), one.data(), 1);
            find_regions(points.dense(), planes.view(), two.data(), 2);
            CHECK(one == two);
            for (int64_t i = 0; i < n; ++i) CHECK(one[i] == planes.region(points, i));
            find_regions(points.dense(), {nullptr, nullptr, nullptr, nullptr, 0}, one.data(), 1);
            CHECK(one == std::vector<int32_t>(static_cast<size_t>(n), 0));
        }
}
