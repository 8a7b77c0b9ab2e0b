// Those of 16 values that are below a limit, one after the other. As a rule one or two are, at places that no
// branch foretells: so all are written, and the next ones over those that are not.
#pragma once

#include <array>
#include <cstdint>

#include "lanes.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace bvdt {

#ifdef __AVX2__
// For each set of 8 lanes, the numbers of its members, a byte each.
constexpr std::array<uint64_t, 256> members_of_sets() {
    std::array<uint64_t, 256> members{};
    for (uint64_t set = 0; set < 256; ++set)
        for (uint64_t lane = 0, count = 0; lane < 8; ++lane)
            if (set >> lane & 1) members[set] |= lane << 8 * count++;
    return members;
}
inline constexpr std::array<uint64_t, 256> kMembers = members_of_sets();

inline __m256i members_of(unsigned set) {
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<int64_t>(kMembers[set])));
}

// Writes the values below the limit and their numbers, from `first` on, with room for 16 of both; how many.
BVDT_INLINE int64_t take_below(const float* value, float limit, int32_t first, float* value_to,
                               int32_t* number_to) {
    int64_t count = 0;
    for (int32_t at = 0; at < kLanes; at += 8) {
        const __m256 values = _mm256_loadu_ps(value + at);
        const __m256 below = _mm256_cmp_ps(values, _mm256_set1_ps(limit), _CMP_LT_OQ);
        const unsigned set = static_cast<unsigned>(_mm256_movemask_ps(below));
        const __m256i lanes = members_of(set);
        _mm256_storeu_ps(value_to + count, _mm256_permutevar8x32_ps(values, lanes));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(number_to + count),
                            _mm256_add_epi32(lanes, _mm256_set1_epi32(first + at)));
        count += __builtin_popcount(set);
    }
    return count;
}
#else
BVDT_INLINE int64_t take_below(const float* value, float limit, int32_t first, float* value_to,
                               int32_t* number_to) {
    int64_t count = 0;
    for (int32_t lane = 0; lane < kLanes; ++lane) {
        value_to[count] = value[lane], number_to[count] = first + lane;
        count += value[lane] < limit;
    }
    return count;
}
#endif

}  // namespace bvdt
