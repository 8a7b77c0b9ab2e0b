// The near field in the tree's order, and its product together with the far field's.
#include <nanobind/stl/optional.h>

#include <algorithm>

#include "../kernels/walk_product.hpp"
#include "arrays.hpp"

namespace bvdt {
namespace {

using Scale = std::optional<Vector<double>>;

constexpr int32_t kMostWeight = (1 << 30) - 1;  // the sum of two fits

void weigh(Matrix<double> divergences, double fall, int32_t total, MutableMatrix<int32_t> weight,
           MutableVector<double> cost, MutableVector<double> logs, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t n = rows(divergences), k = columns(divergences);
    require(total >= 0 && total <= kMostWeight, "total needs 0…", kMostWeight, "; it is ", total);
    check_matrix("weights", rows(weight), columns(weight), n, k);
    check_length("cost", rows(cost), n, "list");
    check_length("logs", rows(logs), n, "list");
    weigh_lists(divergences.data(), n, k, fall, total, {weight.data(), cost.data(), logs.data()}, threads);
}

int64_t find_parts(Matrix<int32_t> listed, MutableVector<int32_t> part) {
    ReleasedGil release;
    const int64_t n = rows(listed), k = columns(listed);
    check_indices("listed", listed.data(), n * k, n, 1, -1);
    check_length("part", rows(part), n, "point");
    return linked_parts(listed.data(), n, k, part.data());
}

void make_links(Links* self, Matrix<int32_t> indices, Matrix<int32_t> weight, double unit,
                Vector<int32_t> order, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t n = rows(order), k = columns(indices);
    check_distinct("order", order.data(), n, n);
    check_matrix("listed", rows(indices), k, n, k);
    check_indices("listed", indices.data(), n * k, n, threads, -1);
    check_matrix("weights", rows(weight), columns(weight), n, k);
    check_indices("weights", weight.data(), n * k, int64_t{kMostWeight} + 1, threads);
    new (self) Links(indices.data(), weight.data(), unit, k, order.data(), n, threads);
}

Links mean(const Links& self, int threads) {
    ReleasedGil release;
    check_threads(threads);
    return self.mean(threads);
}

const double* checked(const char* name, const Scale& scale, int64_t n) {
    if (!scale) return nullptr;
    check_length(name, rows(*scale), n, "point");
    return scale->data();
}

template <typename T>
void multiply(const Links& self, const CoarsestProduct* far, Matrix<T> v, MutableMatrix<T> out,
              const Scale& near_in, const Scale& near_out, const Scale& far_in, const Scale& far_out,
              double near_times, double far_times, double own, bool transpose, bool own_order,
              std::optional<MutableMatrix<double>> dots, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t n = self.n_points();
    if (far)
        require(far->n_points() == n, "far needs ", n, " points, as the links; it has ", far->n_points());
    check_matrix("v", rows(v), columns(v), n, columns(v));
    check_matrix("out", rows(out), columns(out), n, columns(v));
    if (dots) check_matrix("dots", rows(*dots), columns(*dots), 2, columns(v));
    const WalkScales scales{checked("near_in", near_in, n),
                            checked("near_out", near_out, n),
                            checked("far_in", far_in, n),
                            checked("far_out", far_out, n),
                            own,
                            near_times,
                            far_times};
    multiply_walk(far, self, scales, v.data(), out.data(), columns(v), transpose,
                  own_order ? self.order().data() : nullptr, dots ? dots->data() : nullptr, dots ? 2 : 0,
                  threads);
}

// weights (3, k): next, now and before. sums (3, k) or None: change, size and squares.
template <typename T>
void step(const Links& self, const CoarsestProduct* far, Matrix<T> v, MutableMatrix<T> out, double near_times,
          double far_times, Vector<int32_t> row, Matrix<T> given, Vector<double> by, double share,
          Matrix<T> weights, std::optional<MutableMatrix<double>> sums, int threads) {
    ReleasedGil release;
    check_threads(threads);
    const int64_t n = self.n_points(), k = columns(v);
    if (far)
        require(far->n_points() == n, "far needs ", n, " points, as the links; it has ", far->n_points());
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
    step_walk<T>(far, self, scales, v.data(), out.data(), k,
                 {row.data(), given.data(), by.data(), share, weights.data(), weights.data() + k,
                  weights.data() + 2 * k},
                 sums ? sums->data() : nullptr, threads);
}

// A read-only view, which keeps the links.
template <typename Values>
auto view(nb::handle self, const Values& values) {
    using T = typename Values::value_type;
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, self);
}

template <auto Member>
auto viewed(nb::handle self) {
    return view(self, (nb::cast<const Links&>(self).*Member)());
}

}  // namespace

void register_links(nb::module_& m) {
    using namespace nb::literals;
    m.def("weigh_lists", &weigh, "divergences"_a, "fall"_a, "total"_a, "weights"_a.noconvert(),
          "cost"_a.noconvert(), "logs"_a.noconvert(), "threads"_a);
    m.def("linked_parts", &find_parts, "listed"_a, "part"_a.noconvert());
    auto links = nb::class_<Links>(m, "Links");
    links.def("__init__", &make_links, "listed"_a, "weights"_a, "unit"_a, "order"_a, "threads"_a)
        .def("transposed", &Links::transposed, nb::call_guard<ReleasedGil>())
        .def("mean", &mean, "threads"_a)
        .def_prop_ro("unit", &Links::unit)
        .def_prop_ro("first", &viewed<&Links::first>)
        .def_prop_ro("column", &viewed<&Links::column>)
        .def_prop_ro("weight", &viewed<&Links::weight>)
        .def_prop_ro("order", &viewed<&Links::order>);
    const auto register_multiply = [&](auto function) {
        links.def("multiply", function, "far"_a.none(), "v"_a, "out"_a.noconvert(),
                  "near_in"_a.none() = nb::none(), "near_out"_a.none() = nb::none(),
                  "far_in"_a.none() = nb::none(), "far_out"_a.none() = nb::none(), "near_times"_a = 1.0,
                  "far_times"_a = 1.0, "own"_a = 0.0, "transpose"_a = false, "own_order"_a = false,
                  "dots"_a.noconvert().none() = nb::none(), "threads"_a);
    };
    register_multiply(&multiply<double>);
    register_multiply(&multiply<float>);
    const auto register_step = [&](auto function) {
        links.def("step", function, "far"_a.none(), "v"_a, "out"_a.noconvert(), "near_times"_a, "far_times"_a,
                  "row"_a, "given"_a, "by"_a, "share"_a, "weights"_a, "sums"_a.noconvert().none(),
                  "threads"_a);
    };
    register_step(&step<double>);
    register_step(&step<float>);
}

}  // namespace bvdt
