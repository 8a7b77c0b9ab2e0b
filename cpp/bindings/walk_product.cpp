// Products and steps of a walk: the tree's far field, the near field's links, or both, in one pass.
#include "../kernels/walk_product.hpp"

#include <nanobind/stl/optional.h>

#include "arrays.hpp"

namespace bvdt {
namespace {

using Scale = std::optional<Vector<double>>;

Walk checked_walk(const CoarsestProduct* far, const Links* near) {
    require(far || near, "a walk needs a far or a near field");
    if (far && near)
        require(far->n_points() == near->n_points(), "far needs ", near->n_points(),
                " points, as the links; it has ", far->n_points());
    return {far, near};
}

const double* checked_scale(const char* name, const Scale& scale, int64_t n) {
    if (!scale) return nullptr;
    check_length(name, rows(*scale), n, "point");
    return scale->data();
}

template <typename T>
void multiply(const CoarsestProduct* far, const Links* near, Matrix<T> v, MutableMatrix<T> out,
              const Scale& near_in, const Scale& near_out, const Scale& far_in, const Scale& far_out,
              double near_times, double far_times, double own, bool transpose, bool own_order,
              std::optional<MutableMatrix<double>> dots, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const Walk walk = checked_walk(far, near);
    const int64_t n = walk.n_points();
    check_matrix("v", rows(v), columns(v), n, columns(v));
    check_matrix("out", rows(out), columns(out), n, columns(v));
    if (dots) check_matrix("dots", rows(*dots), columns(*dots), 2, columns(v));
    const WalkScales scales{checked_scale("near_in", near_in, n),
                            checked_scale("near_out", near_out, n),
                            checked_scale("far_in", far_in, n),
                            checked_scale("far_out", far_out, n),
                            own,
                            near_times,
                            far_times};
    multiply_walk(walk, scales, v.data(), out.data(), columns(v), transpose, own_order,
                  dots ? dots->data() : nullptr, dots ? 2 : 0, threads);
}

// weights (3, k): next, now and before. sums (3, k) or None: change, size and squares.
template <typename T>
void step(const CoarsestProduct* far, const Links* near, Matrix<T> v, MutableMatrix<T> out, double near_times,
          double far_times, Vector<int32_t> row, Matrix<T> given, Vector<double> by, double share,
          Matrix<T> weights, std::optional<MutableMatrix<double>> sums, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const Walk walk = checked_walk(far, near);
    const int64_t n = walk.n_points(), k = columns(v);
    check_matrix("v", rows(v), k, n, k);
    check_matrix("out", rows(out), columns(out), n, k);
    require(static_cast<const void*>(v.data()) != out.data() || n * k == 0, "out needs memory of its own");
    check_length("row", rows(row), n, "point");
    check_length("by", rows(by), n, "point");
    check_matrix("given", rows(given), columns(given), rows(given), k);
    check_indices("row", row.data(), n, rows(given), threads, -1);
    check_matrix("weights", rows(weights), columns(weights), 3, k);
    if (sums) check_matrix("sums", rows(*sums), columns(*sums), 3, k);
    const WalkScales scales{nullptr, by.data(), nullptr, by.data(), 0, near_times, far_times};
    step_walk<T>(walk, scales, v.data(), out.data(), k,
                 {row.data(), given.data(), by.data(), share, weights.data(), weights.data() + k,
                  weights.data() + 2 * k},
                 sums ? sums->data() : nullptr, threads);
}

template <typename T>
void register_for(nb::module_& m) {
    using namespace nb::literals;
    m.def("walk_product", &multiply<T>, "far"_a.none(), "near"_a.none(), "v"_a, "out"_a.noconvert(),
          "near_in"_a.none() = nb::none(), "near_out"_a.none() = nb::none(), "far_in"_a.none() = nb::none(),
          "far_out"_a.none() = nb::none(), "near_times"_a = 1.0, "far_times"_a = 1.0, "own"_a = 0.0,
          "transpose"_a = false, "own_order"_a = false, "dots"_a.noconvert().none() = nb::none(),
          "threads"_a);
    m.def("walk_step", &step<T>, "far"_a.none(), "near"_a.none(), "v"_a, "out"_a.noconvert(), "near_times"_a,
          "far_times"_a, "row"_a, "given"_a, "by"_a, "share"_a, "weights"_a, "sums"_a.noconvert().none(),
          "threads"_a);
}

}  // namespace

void register_walk_product(nb::module_& m) {
    register_for<double>(m);
    register_for<float>(m);
}

}  // namespace bvdt
