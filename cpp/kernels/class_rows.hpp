// From scores of classes, a row per point, to distributions over them.
#pragma once

#include <cstdint>

namespace bvdt {

// count (k,) = rows whose largest scores/divisor is in that column, the first of equal ones; rows of zeros
// count for none.
void count_classes(const double* scores, const double* divisor, int64_t n, int64_t k, int64_t* count,
                   int threads);

// Every row is divided by divisor (k,) and scaled to sum to 1; a row with nothing above 0 becomes the prior.
// best (n,): the column of its largest entry, the first of equal ones.
void distribute_rows(double* scores, const double* divisor, const double* prior, int64_t n, int64_t k,
                     int32_t* best, int threads);

}  // namespace bvdt
