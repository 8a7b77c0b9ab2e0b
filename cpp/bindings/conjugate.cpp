// Steps of conjugate gradients: see kernels/conjugate.hpp.
#include "../kernels/conjugate.hpp"

#include "arrays.hpp"

namespace bvdt {
namespace {

template <typename T>
void dots(Matrix<T> a, Matrix<T> b, MutableVector<double> out, int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    check_matrix("b", rows(b), columns(b), rows(a), columns(a));
    check_length("out", rows(out), columns(a), "column");
    column_dots(a.data(), b.data(), rows(a), columns(a), out.data(), threads);
}

template <typename T>
void reduce(MutableMatrix<T> r, Matrix<T> ap, Vector<T> length, MutableVector<double> squares, int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    check_matrix("ap", rows(ap), columns(ap), rows(r), columns(r));
    check_length("length", rows(length), columns(r), "column");
    check_length("squares", rows(squares), columns(r), "column");
    reduce_columns(r.data(), ap.data(), length.data(), rows(r), columns(r), squares.data(), threads);
}

template <typename T>
void advance(MutableMatrix<T> f, MutableMatrix<T> p, Matrix<T> r, Vector<T> length, Vector<T> turn,
             int threads) {
    nb::gil_scoped_release release;
    check_threads(threads);
    const int64_t n = rows(f), k = columns(f);
    check_matrix("p", rows(p), columns(p), n, k);
    check_matrix("r", rows(r), columns(r), n, k);
    check_length("length", rows(length), k, "column");
    check_length("turn", rows(turn), k, "column");
    advance_columns(f.data(), p.data(), r.data(), length.data(), turn.data(), n, k, threads);
}

template <typename T>
void register_steps(nb::module_& m) {
    using namespace nb::literals;
    m.def("column_dots", &dots<T>, "a"_a.noconvert(), "b"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
    m.def("reduce_columns", &reduce<T>, "r"_a.noconvert(), "ap"_a.noconvert(), "length"_a.noconvert(),
          "squares"_a.noconvert(), "threads"_a);
    m.def("advance_columns", &advance<T>, "f"_a.noconvert(), "p"_a.noconvert(), "r"_a.noconvert(),
          "length"_a.noconvert(), "turn"_a.noconvert(), "threads"_a);
}

}  // namespace

void register_conjugate(nb::module_& m) {
    register_steps<double>(m);
    register_steps<float>(m);
}

}  // namespace bvdt
