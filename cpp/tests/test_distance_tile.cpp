#include <doctest/doctest.h>

#include <limits>

#include "../kernels/distance_tile.hpp"
#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> floats(Generator& rng, int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = static_cast<float>(uniform(rng, -1, 1));
    return values;
}

// In the tile's order of adding up, so that both agree to the last bit.
float product(const float* x, const std::vector<float>& panels, int64_t d, int64_t place) {
    float sum = 0;
    for (int64_t j = 0; j < d; ++j) sum += x[j] * panels[(place / kLanes * d + j) * kLanes + place % kLanes];
    return sum;
}

// Screens six rows, and each of them again place by place.
void check_screen(const std::vector<float>& x, const std::vector<float>& panels,
                  const std::vector<float>& level, const std::vector<float>& limit, int64_t d) {
    const int64_t n_panels = static_cast<int64_t>(level.size()) / kLanes;
    const Panels side_by_side{panels.data(), level.data(), n_panels, d};
    const size_t room = static_cast<size_t>(side_by_side.room());
    TileRows rows;
    Hits hits[kRows];
    std::vector<std::vector<float>> value(kRows, std::vector<float>(room));
    std::vector<std::vector<int32_t>> place(kRows, std::vector<int32_t>(room));
    for (int64_t r = 0; r < kRows; ++r) {
        rows.x[r] = x.data() + r * d, rows.limit[r] = limit[r];
        hits[r] = {value[r].data(), place[r].data(), 77};
    }
    screen(rows, side_by_side, hits);
    for (int64_t r = 0; r < kRows; ++r) {
        std::vector<float> expected;
        std::vector<int32_t> places;
        for (int32_t s = 0; s < n_panels * kLanes; ++s) {
            const float estimate = level[s] - product(rows.x[r], panels, d, s);
            if (estimate < limit[r]) expected.push_back(estimate), places.push_back(s);
        }
        value[r].resize(static_cast<size_t>(hits[r].count)), place[r].resize(value[r].size());
        CHECK(value[r] == expected);
        CHECK(place[r] == places);
    }
}

}  // namespace

TEST_CASE("a screen takes who is below a row's limit, as plain products tell") {
    Generator rng(70);
    for (const int64_t d : {0, 1, 3, 17, 64})
        for (const int64_t n_panels : {0, 1, 2, 5})
            for (int trial = 0; trial < 5; ++trial) {
                std::vector<float> limit = floats(rng, kRows);
                limit[below(rng, kRows)] = trial % 2 ? kInfinity : -kInfinity;
                check_screen(floats(rng, kRows * d), floats(rng, n_panels * d * kLanes),
                             floats(rng, n_panels * kLanes), limit, d);
            }
}

TEST_CASE("a screen takes its hits in their order, infinite ones and what is not a number among them") {
    Generator rng(73);
    const float odd[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 0.5f, -0.0f};
    const auto spoil = [&](std::vector<float> values, int64_t one_in) {
        for (float& value : values)
            if (below(rng, one_in) == 0) value = odd[below(rng, 5)];
        return values;
    };
    for (int trial = 0; trial < 300; ++trial) {
        const std::vector<float> x(kRows, 0.0f), panels = floats(rng, 2 * kLanes);
        check_screen(x, panels, spoil(floats(rng, 2 * kLanes), 8), spoil(floats(rng, kRows), 3), 1);
    }
}

TEST_CASE("products of all rows with all panels") {
    Generator rng(71);
    for (const int64_t d : {1, 5, 40})
        for (const int64_t n_rows : {1, 5, 6, 7, 13})
            for (const int64_t n_panels : {1, 3}) {
                const std::vector<float> x = floats(rng, n_rows * d),
                                         panels = floats(rng, n_panels * d * kLanes);
                const int64_t width = n_panels * kLanes;
                std::vector<float> out(static_cast<size_t>(n_rows * width + 1), 9.0f);
                multiply_all(x.data(), n_rows, d, panels.data(), n_panels, out.data());
                for (int64_t r = 0; r < n_rows; ++r)
                    for (int64_t s = 0; s < width; ++s)
                        CHECK(out[r * width + s] == product(x.data() + r * d, panels, d, s));
                CHECK(out.back() == 9.0f);
            }
}

TEST_CASE("panels for so many points") {
    CHECK(panels_for(0) == 0);
    CHECK(panels_for(1) == 1);
    CHECK(panels_for(16) == 1);
    CHECK(panels_for(17) == 2);
}
