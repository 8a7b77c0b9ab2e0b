// Polynomials of the symmetrised walk: see kernels/recurrence.hpp.
#include "../kernels/recurrence.hpp"

#include <nanobind/stl/vector.h>

#include "arrays.hpp"

namespace bvdt {
namespace {

void walk_recurrence(Vector<int64_t> indptr, Vector<int32_t> indices, Vector<float> value,
                     std::vector<const CoarsestProduct*> trees, Vector<float> share, Vector<float> scale,
                     float centre, float radius, Matrix<float> a, Matrix<float> b, Matrix<double> start,
                     Matrix<double> rest, MutableMatrix<double> y, int threads) {
    ReleasedGil release;
    check_threads(threads);
    require(rows(indptr) >= 1, "indptr needs one entry per row and one more; it is empty");
    check_length("value", rows(value), rows(indices), "index");
    const int64_t n = rows(indptr) - 1, m = columns(y);
    check_csr({indptr.data(), indices.data(), nullptr, n, n}, rows(indices), threads);
    check_length("share", rows(share), static_cast<int64_t>(trees.size()), "tree");
    for (const CoarsestProduct* tree : trees)
        require(tree && tree->n_points() == n, "trees need ", n, " points, as indptr has rows");
    check_length("scale", rows(scale), n, "point");
    check_matrix("y", rows(y), m, n, m);
    check_matrix("b", rows(b), columns(b), rows(a), m);
    check_matrix("a", rows(a), columns(a), rows(a), m);
    if (rows(start) > 0) check_matrix("start", rows(start), columns(start), n, m);
    if (rows(rest) > 0) check_matrix("rest", rows(rest), columns(rest), n, m);
    require(radius > 0, "radius needs a number above 0; it is ", radius);
    const WalkParts walk{{indptr.data(), indices.data(), value.data(), n, n},
                         trees,
                         {share.data(), share.data() + rows(share)},
                         scale.data()};
    const auto given = [](const Matrix<double>& columns) {
        return rows(columns) > 0 ? columns.data() : nullptr;
    };
    recur(walk, {centre, radius, a.data(), b.data(), rows(a), m, given(start), given(rest)}, y.data(),
          threads);
}

void walk_product_exact(Vector<int64_t> indptr, Vector<int32_t> indices, Vector<double> value,
                        std::vector<const CoarsestProduct*> trees, Vector<double> share, Vector<double> scale,
                        Matrix<double> v, MutableMatrix<double> out, int threads) {
    ReleasedGil release;
    check_threads(threads);
    require(rows(indptr) >= 1, "indptr needs one entry per row and one more; it is empty");
    check_length("value", rows(value), rows(indices), "index");
    const int64_t n = rows(indptr) - 1, m = columns(v);
    check_csr({indptr.data(), indices.data(), nullptr, n, n}, rows(indices), threads);
    check_length("share", rows(share), static_cast<int64_t>(trees.size()), "tree");
    for (const CoarsestProduct* tree : trees)
        require(tree && tree->n_points() == n, "trees need ", n, " points, as indptr has rows");
    check_length("scale", rows(scale), n, "point");
    check_matrix("v", rows(v), m, n, m);
    check_matrix("out", rows(out), columns(out), n, m);
    const ExactWalkParts walk{{indptr.data(), indices.data(), value.data(), n, n},
                              trees,
                              {share.data(), share.data() + rows(share)},
                              scale.data()};
    multiply_walk(walk, v.data(), out.data(), m, threads);
}

}  // namespace

void register_recurrence(nb::module_& m) {
    using namespace nb::literals;
    m.def("walk_recurrence", &walk_recurrence, "indptr"_a, "indices"_a, "value"_a.noconvert(), "trees"_a,
          "share"_a, "scale"_a, "centre"_a, "radius"_a, "a"_a, "b"_a, "start"_a, "rest"_a, "y"_a.noconvert(),
          "threads"_a);
    m.def("walk_product_exact", &walk_product_exact, "indptr"_a, "indices"_a, "value"_a.noconvert(),
          "trees"_a, "share"_a, "scale"_a, "v"_a, "out"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
