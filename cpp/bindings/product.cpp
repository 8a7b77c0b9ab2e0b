// Products: the coarsest partition's as an object that owns all it reads, any other's checked at every call.
#include "../kernels/block_product.hpp"
#include "../kernels/coarsest_product.hpp"
#include "arrays.hpp"

namespace bvdt {
namespace {

template <typename T>
void check_columns(const Matrix<T>& v, const MutableMatrix<T>& out, int64_t n, int threads) {
    check_threads(threads);
    require(rows(v) == n, "v needs N rows, ", n, "; it has ", rows(v));
    check_matrix("out", rows(out), columns(out), n, columns(v));
}

void make_coarsest(CoarsestProduct* self, Vector<int32_t> size, Vector<int32_t> order, Vector<double> q,
                   int64_t subtree_points) {
    ReleasedGil release;
    const int64_t n = check_sizes(size.data(), rows(size), 1);
    check_length("order", rows(order), n, "point");
    check_distinct("order", order.data(), n, n);
    check_length("q", rows(q), rows(size) - 1, "node but the root");
    require(subtree_points >= 1 && subtree_points <= 1 << 15, "subtree_points needs 1…32768; it is ",
            subtree_points);
    new (self) CoarsestProduct(size.data(), order.data(), rows(size), q.data(), subtree_points);
}

template <typename T>
void apply_coarsest(const CoarsestProduct& self, Matrix<T> v, MutableMatrix<T> out, bool transpose,
                    int threads) {
    ReleasedGil release;
    check_columns(v, out, self.n_points(), threads);
    self.apply(v.data(), out.data(), columns(v), transpose, threads);
}

template <typename T>
void product_blocks(Vector<int32_t> size, Vector<int32_t> parent, Vector<int32_t> order,
                    Vector<int64_t> first, Vector<int32_t> other, Vector<double> q, Matrix<T> v,
                    MutableMatrix<T> out, int threads) {
    ReleasedGil release;
    check_threads(threads);
    check_length("parent", rows(parent), rows(size), "node");
    const int64_t n = check_parents(size.data(), parent.data(), rows(size), threads);
    check_length("order", rows(order), n, "point");
    // A point there twice stays inside the arrays; to look for it at every product would cost a tenth of one.
    check_indices("order", order.data(), n, n, threads);
    check_blocks(first.data(), rows(first), other.data(), rows(other), rows(size), threads);
    check_length("q", rows(q), rows(other), "block");
    check_columns(v, out, n, threads);
    multiply_blocks(BlockProduct{size.data(), parent.data(), order.data(), rows(size), first.data(),
                                 other.data(), q.data()},
                    v.data(), out.data(), columns(v), threads);
}

}  // namespace

void register_product(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<CoarsestProduct>(m, "CoarsestProduct")
        .def("__init__", &make_coarsest, "size"_a, "order"_a, "q"_a, "subtree_points"_a)
        .def("symmetric", &CoarsestProduct::symmetric, nb::call_guard<ReleasedGil>())
        .def("apply", &apply_coarsest<double>, "v"_a, "out"_a.noconvert(), "transpose"_a, "threads"_a)
        .def("apply", &apply_coarsest<float>, "v"_a, "out"_a.noconvert(), "transpose"_a, "threads"_a)
        .def_prop_ro("nbytes", &CoarsestProduct::bytes);
    m.def("product_blocks", &product_blocks<double>, "size"_a, "parent"_a, "order"_a, "first"_a, "other"_a,
          "q"_a, "v"_a, "out"_a.noconvert(), "threads"_a);
    m.def("product_blocks", &product_blocks<float>, "size"_a, "parent"_a, "order"_a, "first"_a, "other"_a,
          "q"_a, "v"_a, "out"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
