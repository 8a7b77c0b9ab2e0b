// Sixteen floats at once, in plain C++: compilers split them as the CPU needs.
#pragma once

#include <cstdint>
#include <cstring>

namespace bvdt {

constexpr int64_t kLanes = 16;

#if defined(__GNUC__)
using Lanes = float __attribute__((vector_size(64), aligned(4), may_alias));
using LaneBits = int32_t __attribute__((vector_size(64), may_alias));
#else
struct LaneBits {
    int32_t v[16];
    LaneBits& operator|=(const LaneBits& o) {
        for (int t = 0; t < 16; ++t) v[t] |= o.v[t];
        return *this;
    }
};
struct Lanes {
    float v[16];
    Lanes& operator+=(const Lanes& o) {
        for (int t = 0; t < 16; ++t) v[t] += o.v[t];
        return *this;
    }
    friend Lanes operator*(float x, Lanes o) {
        for (int t = 0; t < 16; ++t) o.v[t] *= x;
        return o;
    }
    friend Lanes operator-(Lanes a, const Lanes& b) {
        for (int t = 0; t < 16; ++t) a.v[t] -= b.v[t];
        return a;
    }
    friend Lanes operator+(Lanes a, float b) { return a - (-b); }
    friend Lanes operator-(Lanes a, float b) {
        for (int t = 0; t < 16; ++t) a.v[t] -= b;
        return a;
    }
    float operator[](int t) const { return v[t]; }
};
#endif

inline const Lanes& lanes_at(const float* p) { return *reinterpret_cast<const Lanes*>(p); }
inline Lanes& lanes_at(float* p) { return *reinterpret_cast<Lanes*>(p); }

// Adds the lanes' bits, of which the highest is the sign: compilers keep this in registers, unlike a
// comparison.
inline void add_bits(const Lanes& lanes, LaneBits& all) {
    LaneBits bits;
    std::memcpy(&bits, &lanes, sizeof bits);
    all |= bits;
}

inline bool any_sign(const LaneBits& lanes) {
    uint64_t part[8];
    std::memcpy(part, &lanes, sizeof part);
    const uint64_t all =
        ((part[0] | part[1]) | (part[2] | part[3])) | ((part[4] | part[5]) | (part[6] | part[7]));
    return (all & 0x8000000080000000u) != 0;
}

}  // namespace bvdt
