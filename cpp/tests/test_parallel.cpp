#include <doctest/doctest.h>

#include <new>
#include <stdexcept>
#include <vector>

#include "../kernels/parallel.hpp"

using namespace bvdt;

TEST_CASE("parallel_for visits every index once") {
    for (const int64_t count : {0, 1, 7, 100})
        for (const int64_t grain : {1, 3, 200})
            for (const int threads : {1, 2, 5}) {
                std::vector<int> visits(static_cast<size_t>(count), 0);
                parallel_for(count, grain, threads, [&](int64_t i) { ++visits[i]; });
                parallel_for<BriefTeam>(count, grain, threads, [&](int64_t i) { ++visits[i]; });
                for (int visited : visits) CHECK(visited == 2);
            }
}

TEST_CASE("parallel_stretches covers the range without overlap") {
    std::vector<int> visits(103, 0);
    parallel_stretches(103, 10, 3, [&](int64_t first, int64_t last) {
        CHECK(last - first <= 10);
        for (int64_t i = first; i < last; ++i) ++visits[i];
    });
    for (int visited : visits) CHECK(visited == 1);
}

TEST_CASE("an exception in a thread reaches the caller") {
    for (const int threads : {1, 2, 4}) {
        const auto fail = [](int64_t i) {
            if (i == 37) throw std::runtime_error("37");
        };
        CHECK_THROWS_AS(parallel_for(100, 1, threads, fail), std::runtime_error);
        CHECK_THROWS_AS(parallel_for<BriefTeam>(100, 1, threads, fail), std::runtime_error);
        const auto no_scratch = []() -> int { throw std::bad_alloc(); };
        CHECK_THROWS_AS(parallel_for(100, 1, threads, no_scratch, [](int64_t, int) {}), std::bad_alloc);
    }
}

TEST_CASE("all_hold finds a single exception") {
    for (const int threads : {1, 2}) {
        CHECK(all_hold(100'000, threads, [](int64_t) { return true; }));
        for (const int64_t broken : {0, 16'384, 99'999})
            CHECK_FALSE(all_hold(100'000, threads, [&](int64_t i) { return i != broken; }));
    }
}
