#include <doctest/doctest.h>

#include <limits>

#include "../kernels/take_below.hpp"
#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

struct Taken {
    std::vector<float> value;
    std::vector<int32_t> number;

    bool operator==(const Taken& other) const { return value == other.value && number == other.number; }
};

Taken taken(const std::vector<float>& value, float limit, int32_t first) {
    Taken to{std::vector<float>(kLanes), std::vector<int32_t>(kLanes)};
    const int64_t count = take_below(value.data(), limit, first, to.value.data(), to.number.data());
    to.value.resize(static_cast<size_t>(count)), to.number.resize(to.value.size());
    return to;
}

Taken one_by_one(const std::vector<float>& value, float limit, int32_t first) {
    Taken to;
    for (int32_t lane = 0; lane < kLanes; ++lane)
        if (value[lane] < limit) to.value.push_back(value[lane]), to.number.push_back(first + lane);
    return to;
}

}  // namespace

TEST_CASE("values below a limit are taken in their order") {
    Generator rng(73);
    const float infinity = std::numeric_limits<float>::infinity();
    const float odd[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 0.5f, -0.0f};
    for (int trial = 0; trial < 2000; ++trial) {
        std::vector<float> value(kLanes);
        for (float& v : value)
            v = below(rng, 8) == 0 ? odd[below(rng, 5)] : static_cast<float>(uniform(rng, -1, 1));
        const float limit = below(rng, 3) == 0 ? odd[below(rng, 5)] : static_cast<float>(uniform(rng, -1, 1));
        const int32_t first = static_cast<int32_t>(below(rng, 1 << 30));
        CHECK(taken(value, limit, first) == one_by_one(value, limit, first));
    }
}
