// The compiled core. The kernels know neither Python nor a divergence's φ; all of them work on the lifted
// form d_ij = u_i + w_j − ⟨x_i, h_j⟩ (docs/theory.md, "Lifted form"). Functions are stateless;
// CoarsestProduct and Cells keep what they prepared.
#include "arrays.hpp"

NB_MODULE(_core, m) {
    // An operator that lives until Python ends, in a module's variable, is no leak worth a message to its
    // user.
    nanobind::set_leak_warnings(false);
    bvdt::register_anchor(m);
    bvdt::register_blocks(m);
    bvdt::register_bound(m);
    bvdt::register_build(m);
    bvdt::register_cells(m);
    bvdt::register_neighbors(m);
    bvdt::register_product(m);
    bvdt::register_sparse(m);
    bvdt::register_sums(m);
    bvdt::register_ward(m);
}
