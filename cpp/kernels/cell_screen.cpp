#include "cell_screen.hpp"

#include <algorithm>

#include "take_below.hpp"

#ifdef BVDT_BYTES
#include <immintrin.h>
#endif

namespace bvdt {
namespace {

template <int Width>
BVDT_INLINE void screen_numbers_lanes(const ScreenRows& rows, const ScreenCentres& centres, Hits* hits) {
    using Part = Lanes<float, Width>;
    for (int64_t b = 0; b < centres.n_panels; ++b) {
        Part rest[kRows];
        multiply(rows.x, centres.panels + b * centres.d * kLanes, centres.d, rest);
        const Part part = Part::at(centres.level + b * kLanes);
        Signs<float, Width> below;
        for (int64_t r = 0; r < kRows; ++r) rest[r] = part - rest[r], below.add(rest[r] - rows.limit[r]);
        if (!below.any()) continue;
        for (int64_t r = 0; r < kRows; ++r) {
            Signs<float, Width> here;
            here.add(rest[r] - rows.limit[r]);
            if (!here.any()) continue;
            float value[kLanes];
            Part::at(value) = rest[r];
            Hits& to = hits[r];
            to.count += take_below<Width>(value, rows.limit[r], static_cast<int32_t>(b * kLanes),
                                          to.value + to.count, to.place + to.count);
        }
    }
}
BVDT_EACH_WIDTH(screen_numbers, (const ScreenRows& rows, const ScreenCentres& centres, Hits* hits),
                (rows, centres, hits))

#ifdef BVDT_BYTES
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // what its own header leaves open on purpose
#endif
BVDT_BYTES void screen_bytes(const ScreenRows& rows, const ScreenCentres& centres, Hits* hits) {
    const int64_t n_quads = quads(centres.d);
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for (int64_t b = 0; b < centres.n_panels; ++b) {
        const uint8_t* panel = centres.bytes + b * n_quads * kLanes * kQuad;
        __m512i sum[kRows];
        for (int64_t r = 0; r < kRows; ++r) sum[r] = _mm512_set1_epi32(rows.zero[r]);
        for (int64_t q = 0; q < n_quads; ++q) {
            const __m512i h = _mm512_loadu_si512(panel + q * kLanes * kQuad);
            for (int64_t r = 0; r < kRows; ++r)
                sum[r] = _mm512_dpbusd_epi32(sum[r], h, _mm512_set1_epi32(rows.quad[r][q]));
        }
        const __m512 level = _mm512_loadu_ps(centres.level + b * kLanes);
        __m512 value[kRows];
        __mmask16 below[kRows];
        uint32_t any = 0;
        for (int64_t r = 0; r < kRows; ++r) {
            value[r] = _mm512_fnmadd_ps(_mm512_cvtepi32_ps(sum[r]), _mm512_set1_ps(rows.scale[r]), level);
            below[r] = _mm512_cmp_ps_mask(value[r], _mm512_set1_ps(rows.limit[r]), _CMP_LT_OQ);
            any |= below[r];
        }
        if (any == 0) continue;
        const __m512i place = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int32_t>(b * kLanes)));
        for (int64_t r = 0; r < kRows; ++r) {
            if (below[r] == 0) continue;
            Hits& to = hits[r];
            _mm512_storeu_ps(to.value + to.count, _mm512_maskz_compress_ps(below[r], value[r]));
            _mm512_storeu_si512(to.place + to.count, _mm512_maskz_compress_epi32(below[r], place));
            to.count += __builtin_popcount(below[r]);
        }
    }
}

BVDT_BYTES void add_byte_products(const FineRow& x, float step, const ScreenCentres& centres, float* out) {
    const int64_t n_quads = quads(centres.d);
    const __m512 coarse_scale = _mm512_set1_ps(x.step * step * kCoarse),
                 fine_scale = _mm512_set1_ps(x.step * step);
    for (int64_t b = 0; b < centres.n_panels; ++b) {
        const uint8_t* panel = centres.bytes + b * n_quads * kLanes * kQuad;
        __m512i coarse = _mm512_set1_epi32(-kZero * x.coarse_sum),
                fine = _mm512_set1_epi32(-kZero * x.fine_sum);
        for (int64_t q = 0; q < n_quads; ++q) {
            const __m512i h = _mm512_loadu_si512(panel + q * kLanes * kQuad);
            coarse = _mm512_dpbusd_epi32(coarse, h, _mm512_set1_epi32(x.coarse[q]));
            fine = _mm512_dpbusd_epi32(fine, h, _mm512_set1_epi32(x.fine[q]));
        }
        __m512 sum = _mm512_loadu_ps(centres.level + b * kLanes);
        sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(coarse), coarse_scale, sum);
        sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(fine), fine_scale, sum);
        _mm512_storeu_ps(out + b * kLanes, sum);
    }
}
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#else
void add_byte_products(const FineRow&, float, const ScreenCentres&, float*) {}
void screen_bytes(const ScreenRows&, const ScreenCentres&, Hits*) {}  // no bytes are made
#endif

}  // namespace

void screen(const ScreenRows& rows, const ScreenCentres& centres, Hits* hits) {
    for (int64_t r = 0; r < kRows; ++r) hits[r].count = 0;
    if (centres.bytes)
        screen_bytes(rows, centres, hits);
    else
        screen_numbers(rows, centres, hits);
}

void add_products(const FineRow& x, float step, const ScreenCentres& centres, float* out) {
    add_byte_products(x, step, centres, out);
}

}  // namespace bvdt
