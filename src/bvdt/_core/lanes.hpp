// 64 bytes of numbers that are added and multiplied at once, for sums that must stay in registers.
#pragma once

namespace bvdt {

#if defined(__GNUC__)
// Compilers split it as the CPU needs.
using FloatLanes = float __attribute__((vector_size(64), aligned(4), may_alias));
using DoubleLanes = double __attribute__((vector_size(64), aligned(8), may_alias));
#else
template <typename T>
struct Lanes {
    static constexpr int n = 64 / sizeof(T);
    T v[n];
    Lanes& operator+=(const Lanes& o) {
        for (int t = 0; t < n; ++t) v[t] += o.v[t];
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
    T operator[](int t) const { return v[t]; }
};
using FloatLanes = Lanes<float>;
using DoubleLanes = Lanes<double>;
#endif

}  // namespace bvdt
