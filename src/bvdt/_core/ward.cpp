#include "core.hpp"

namespace bvdt {
void register_ward(nb::module_&) {}
}  // namespace bvdt
