// The near field in the tree's order.
#include "../kernels/links.hpp"

#include "arrays.hpp"

namespace bvdt {
namespace {

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
    nb::class_<Links>(m, "Links")
        .def("__init__", &make_links, "listed"_a, "weights"_a, "unit"_a, "order"_a, "threads"_a)
        .def("transposed", &Links::transposed, nb::call_guard<ReleasedGil>())
        .def("mean", &mean, "threads"_a)
        .def_prop_ro("unit", &Links::unit)
        .def_prop_ro("first", &viewed<&Links::first>)
        .def_prop_ro("column", &viewed<&Links::column>)
        .def_prop_ro("weight", &viewed<&Links::weight>)
        .def_prop_ro("order", &viewed<&Links::order>);
}

}  // namespace bvdt
