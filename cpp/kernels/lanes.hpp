// 64 bytes of numbers that are added and multiplied at once, for sums that must stay in registers.
//
// They are made of parts as wide as the registers of the level that is compiled for: a wider part is correct
// too, but GCC keeps it in memory, and a loop over such parts takes forty times as long.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "platform.hpp"

namespace bvdt {

constexpr int64_t kLanes = 16;  // floats at once

#if defined(__AVX512F__)
constexpr int kRegister = 64;  // bytes
#elif defined(__AVX__)
constexpr int kRegister = 32;
#else
constexpr int kRegister = 16;
#endif

template <typename T, int Width = kRegister>
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

    BVDT_INLINE friend Lanes lesser(const Lanes& a, const Lanes& b) {
        Lanes out;
        for (int i = 0; i < n; ++i) out.part[i] = a.part[i] < b.part[i] ? a.part[i] : b.part[i];
        return out;
    }

    // The lanes at an address, which need not be a multiple of 64.
    static BVDT_INLINE const Lanes& at(const T* p) { return *reinterpret_cast<const Lanes*>(p); }
    static BVDT_INLINE Lanes& at(T* p) { return *reinterpret_cast<Lanes*>(p); }
};
static_assert(alignof(Lanes<float>) == alignof(float) && sizeof(Lanes<float>) == 64);

// A sum of rows of Count numbers that stays in registers. Parts are as wide as a register, or the widest
// power of 2 that a row holds, and the last one overlaps the one before it: there is no rest to be added one
// by one. GCC keeps plain arrays of some counts in memory, at three times the cost.
template <typename T, int Count>
class RowSum {
  public:
    BVDT_INLINE void add(T value, const T* row) {
        for (int p = 0; p < kParts; ++p) part_[p] += value * *reinterpret_cast<const Part*>(row + at(p));
    }
    BVDT_INLINE void put(T* row) const {
        for (int p = 0; p < kParts; ++p) *reinterpret_cast<Part*>(row + at(p)) = part_[p];
    }

  private:
#if defined(__GNUC__)
    static constexpr int kWidth = std::bit_floor(std::min<unsigned>(Count, kRegister / sizeof(T)));
    typedef T Part __attribute__((vector_size(kWidth * sizeof(T)), aligned(sizeof(T)), may_alias));
#else
    static constexpr int kWidth = 1;
    using Part = T;
#endif
    static constexpr int kParts = (Count + kWidth - 1) / kWidth;
    static constexpr int at(int p) { return std::min(p * kWidth, Count - kWidth); }

    Part part_[kParts]{};
};

template <typename T>
class RowSum<T, 1> {
  public:
    BVDT_INLINE void add(T value, const T* row) { sum_ += value * *row; }
    BVDT_INLINE void put(T* row) const { *row = sum_; }

  private:
    T sum_ = 0;
};

// The bits of several lanes added up, of which the highest is the sign: compilers keep this in registers,
// unlike comparisons.
template <typename T>
struct Signs {
    using Bits = std::conditional_t<sizeof(T) == sizeof(int32_t), int32_t, int64_t>;
    typename Lanes<Bits>::Part bits{};

    BVDT_INLINE void add(const Lanes<T>& lanes) {
        for (const auto& part : lanes.part) {
            decltype(bits) now;
            std::memcpy(&now, &part, sizeof now);
            bits |= now;
        }
    }
    BVDT_INLINE bool any() const {
        int64_t half[sizeof bits < 8 ? 1 : sizeof bits / 8] = {};
        std::memcpy(half, &bits, sizeof bits);
        return any_of<sizeof bits>(half);
    }

  private:
    // Halves are added up until two numbers are left: by register, where one by one takes five times as long.
    template <size_t Bytes>
    static BVDT_INLINE bool any_of(const int64_t* from) {
        constexpr uint64_t signs = sizeof(T) == sizeof(int32_t) ? 0x8000000080000000u : 0x8000000000000000u;
        if constexpr (Bytes <= 16) {
            uint64_t all = 0;
            for (size_t i = 0; i < (Bytes + 7) / 8; ++i) all |= static_cast<uint64_t>(from[i]);
            return (all & signs) != 0;
        } else {
            typename Lanes<int64_t, Bytes / 2>::Part low, high;
            std::memcpy(&low, from, sizeof low), std::memcpy(&high, from + Bytes / 16, sizeof high);
            low |= high;
            int64_t joined[Bytes / 16];
            std::memcpy(joined, &low, sizeof low);
            return any_of<Bytes / 2>(joined);
        }
    }
};

}  // namespace bvdt
