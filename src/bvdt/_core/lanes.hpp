// 64 bytes of numbers that are added and multiplied at once, for sums that must stay in registers.
#pragma once

#include <cstdint>
#include <cstring>

namespace bvdt {

constexpr int64_t kLanes = 16;  // floats at once

#if defined(__GNUC__)
// Compilers split them as the CPU needs.
using FloatLanes = float __attribute__((vector_size(64), aligned(4), may_alias));
using DoubleLanes = double __attribute__((vector_size(64), aligned(8), may_alias));
using LaneBits = int32_t __attribute__((vector_size(64), may_alias));
#else
template <typename T>
struct Lanes {
    static constexpr int n = 64 / sizeof(T);
    T v[n];
    Lanes& operator+=(const Lanes& o) {
        for (int t = 0; t < n; ++t) v[t] += o.v[t];
        return *this;
    }
    Lanes& operator|=(const Lanes& o) {
        for (int t = 0; t < n; ++t) v[t] |= o.v[t];
        return *this;
    }
    friend Lanes operator*(T x, Lanes o) {
        for (int t = 0; t < n; ++t) o.v[t] *= x;
        return o;
    }
    friend Lanes operator*(Lanes p, const Lanes& o) {
        for (int t = 0; t < n; ++t) p.v[t] *= o.v[t];
        return p;
    }
    friend Lanes operator-(T x, Lanes o) {
        for (int t = 0; t < n; ++t) o.v[t] = x - o.v[t];
        return o;
    }
    friend Lanes operator-(Lanes a, const Lanes& b) {
        for (int t = 0; t < n; ++t) a.v[t] -= b.v[t];
        return a;
    }
    friend Lanes operator-(Lanes a, T b) {
        for (int t = 0; t < n; ++t) a.v[t] -= b;
        return a;
    }
    friend Lanes operator+(Lanes a, T b) {
        for (int t = 0; t < n; ++t) a.v[t] += b;
        return a;
    }
    T operator[](int t) const { return v[t]; }
};
using FloatLanes = Lanes<float>;
using DoubleLanes = Lanes<double>;
using LaneBits = Lanes<int32_t>;
#endif

inline const FloatLanes& lanes_at(const float* p) { return *reinterpret_cast<const FloatLanes*>(p); }
inline FloatLanes& lanes_at(float* p) { return *reinterpret_cast<FloatLanes*>(p); }

// Adds the lanes' bits, of which the highest is the sign: compilers keep this in registers, unlike a
// comparison.
inline void add_bits(const FloatLanes& lanes, LaneBits& all) {
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
