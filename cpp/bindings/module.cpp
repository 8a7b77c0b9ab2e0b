// The compiled core. The kernels know neither Python nor a divergence's φ; all of them work on the lifted
// form d_ij = u_i + w_j − ⟨x_i, h_j⟩ (docs/theory.md, "Lifted form"). Functions are stateless;
// CoarsestProduct, Links and Cells keep what they prepared.
#include <new>
#include <stdexcept>

#include "../kernels/parallel.hpp"
#include "arrays.hpp"

namespace {

// Ctrl-C while a kernel runs: raises what the handler of the signal raises.
void answer_signals() {
    bvdt::HeldGil held;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

// A failed allocation as Python's MemoryError that says how much is left; the figure is Python's to find.
void tell_memory(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    }
    try {
        const auto memory = nanobind::module_::import_("bvdt._support.memory");
        const nanobind::object sentence = memory.attr("refusal")("a kernel of bvdt");
        PyErr_SetObject(PyExc_MemoryError, sentence.ptr());
    } catch (nanobind::python_error&) {
        PyErr_SetString(PyExc_MemoryError,
                        "a kernel of bvdt needs more memory than there is: 0.0 GiB are left");
    }
}

void register_all(nanobind::module_& m) {
    // An operator that lives until Python ends, in a module's variable, is no leak worth a message to its
    // user.
    nanobind::set_leak_warnings(false);
    nanobind::register_exception_translator(tell_memory);
    bvdt::poll = answer_signals;
    bvdt::register_anchor(m);
    bvdt::register_blocks(m);
    bvdt::register_bound(m);
    bvdt::register_build(m);
    bvdt::register_conjugate(m);
    bvdt::register_layout(m);
    bvdt::register_links(m);
    bvdt::register_neighbors(m);
    bvdt::register_planes(m);
    bvdt::register_product(m);
    bvdt::register_sparse(m);
    bvdt::register_sums(m);
    bvdt::register_walk_product(m);
    bvdt::register_ward(m);
}

}  // namespace

// One of them per library; they differ in the kernels that they are linked with.
NB_MODULE(_core_baseline, m) { register_all(m); }
NB_MODULE(_core_avx2, m) { register_all(m); }
NB_MODULE(_core_avx512, m) { register_all(m); }
