// 64 bytes of numbers that are added and multiplied at once, for sums that must stay in registers.
//
// They are made of parts of `Width` bytes, as wide as the CPU's registers: a wider part is correct too, but
// GCC keeps it in memory, and a loop over such parts takes forty times as long.
#pragma once

#include <cstdint>
#include <cstring>

#include "platform.hpp"

// void name(parameters) for each width of registers, all by the template name_lanes<Width>(arguments); the
// loader picks the widest that the CPU has.
#ifdef BVDT_CLONES
#define BVDT_EACH_WIDTH(name, parameters, arguments)                                         \
    __attribute__((target("avx512f"))) void name parameters { name##_lanes<64> arguments; }  \
    __attribute__((target("avx2,fma"))) void name parameters { name##_lanes<32> arguments; } \
    __attribute__((target("default"))) void name parameters { name##_lanes<16> arguments; }
#else
#define BVDT_EACH_WIDTH(name, parameters, arguments) \
    inline void name parameters { name##_lanes<16> arguments; }
#endif

namespace bvdt {

constexpr int64_t kLanes = 16;  // floats at once

template <typename T, int Width>
struct Lanes {
#if defined(__GNUC__)
    typedef T Part __attribute__((vector_size(Width), aligned(sizeof(T)), may_alias));
#else
    using Part = T;
#endif
    static constexpr int n = 64 / sizeof(Part);
    Part part[n];

    // As operators on T, lane by lane; a number is taken for 64 bytes of it.
    BVDT_INLINE Lanes& operator+=(const Lanes& o) {
        for (int i = 0; i < n; ++i) part[i] += o.part[i];
        return *this;
    }
    BVDT_INLINE friend Lanes operator*(T x, const Lanes& o) {
        Lanes out;
        for (int i = 0; i < n; ++i) out.part[i] = x * o.part[i];
        return out;
    }
    BVDT_INLINE friend Lanes operator*(const Lanes& a, const Lanes& b) {
        Lanes out;
        for (int i = 0; i < n; ++i) out.part[i] = a.part[i] * b.part[i];
        return out;
    }
    BVDT_INLINE friend Lanes operator-(T x, const Lanes& o) {
        Lanes out;
        for (int i = 0; i < n; ++i) out.part[i] = x - o.part[i];
        return out;
    }
    BVDT_INLINE friend Lanes operator-(const Lanes& a, const Lanes& b) {
        Lanes out;
        for (int i = 0; i < n; ++i) out.part[i] = a.part[i] - b.part[i];
        return out;
    }
    BVDT_INLINE friend Lanes operator-(const Lanes& a, T b) {
        Lanes out;
        for (int i = 0; i < n; ++i) out.part[i] = a.part[i] - b;
        return out;
    }
    BVDT_INLINE friend Lanes operator+(const Lanes& a, T b) {
        Lanes out;
        for (int i = 0; i < n; ++i) out.part[i] = a.part[i] + b;
        return out;
    }

    // The lanes at an address, which need not be a multiple of 64.
    static BVDT_INLINE const Lanes& at(const T* p) { return *reinterpret_cast<const Lanes*>(p); }
    static BVDT_INLINE Lanes& at(T* p) { return *reinterpret_cast<Lanes*>(p); }
};
static_assert(alignof(Lanes<float, 64>) == alignof(float) && sizeof(Lanes<float, 16>) == 64);

// The bits of several lanes added up, of which the highest is the sign: compilers keep this in registers,
// unlike comparisons.
template <int Width>
struct Signs {
    typename Lanes<int32_t, Width>::Part bits{};

    BVDT_INLINE void add(const Lanes<float, Width>& lanes) {
        for (const auto& part : lanes.part) {
            decltype(bits) now;
            std::memcpy(&now, &part, sizeof now);
            bits |= now;
        }
    }
    BVDT_INLINE bool any() const {
        int32_t each[sizeof bits / sizeof(int32_t)], all = 0;
        std::memcpy(each, &bits, sizeof bits);
        for (int32_t one : each) all |= one;
        return all < 0;
    }
};

}  // namespace bvdt
