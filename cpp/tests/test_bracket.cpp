#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "../kernels/bracket.hpp"
#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

TEST_CASE("whoever may be among the k best is kept, whatever the order of the offers") {
    Generator rng(61);
    for (const int64_t k : {1, 3, 16, 40})
        for (const int64_t n : {2, 50, 700}) {
            Bracket best;
            best.start(k);
            std::vector<float> lower, upper;
            std::vector<int32_t> item, place;
            for (int64_t first = 0; first < n; first += 7) {  // seven at once, each lot with a gap of its own
                const float gap = 0.1f * static_cast<float>(uniform(rng));
                std::vector<float> value;
                place.clear(), item.clear();
                for (int64_t s = first; s < std::min(first + 7, n); ++s) {
                    value.push_back(static_cast<float>(uniform(rng)));
                    item.push_back(static_cast<int32_t>(s));
                    place.push_back(static_cast<int32_t>(s - first));
                    lower.push_back(value.back() + 2.0f), upper.push_back(value.back() + 2.0f + gap);
                }
                const int64_t count = static_cast<int64_t>(value.size());
                best.offer({value.data(), place.data(), count, item.data(), 2.0f, gap});
            }
            best.drop_far();
            std::vector<float> sorted = upper;
            std::sort(sorted.begin(), sorted.end());
            const float limit = n < k ? std::numeric_limits<float>::infinity() : sorted[k - 1];
            CHECK(best.worst() >= limit);  // k are surely not above it
            for (int64_t s = 0; s < n; ++s)
                if (lower[s] <= limit)
                    CHECK(std::find(best.begin(), best.end(), static_cast<int32_t>(s)) != best.end());
        }
}

TEST_CASE("equal values are all kept, and few offers are kept as they are") {
    Bracket best;
    best.start(2);
    CHECK(best.worst() == std::numeric_limits<float>::infinity());
    const std::vector<float> value(90, 1.0f);
    std::vector<int32_t> item(90);
    for (int32_t s = 0; s < 90; ++s) item[s] = s;
    best.offer({value.data(), item.data(), 90, item.data(), 0.0f, 0.5f});
    best.drop_far();
    CHECK(best.end() - best.begin() == 90);
    best.start(200);
    best.offer({value.data(), item.data(), 90, item.data(), 0.0f, 0.5f});
    best.drop_far();
    CHECK(best.end() - best.begin() == 90);
}
