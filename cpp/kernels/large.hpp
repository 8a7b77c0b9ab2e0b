// A matrix that is too large for a CPU's table of pages: with pages of 2 MiB, where the system has them, a
// walk down a column costs half. A smaller one begins with a line of the cache, so that rows of whole lines
// are read as such. Entries are not set to anything.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace bvdt {

template <typename T>
struct LargeAllocator {
    using value_type = T;
    static constexpr size_t kPage = size_t{1} << 21, kLine = 64;

    LargeAllocator() = default;
    template <typename Other>
    LargeAllocator(const LargeAllocator<Other>&) {}  // NOLINT: implicit, as the standard asks for

    T* allocate(size_t count) {
        const size_t bytes = count * sizeof(T);
        const std::align_val_t alignment = alignment_for(bytes);
        void* const memory = ::operator new(bytes, alignment);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (bytes >= kPage) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: its failure costs time alone
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, size_t count) { ::operator delete(memory, alignment_for(count * sizeof(T))); }

    template <typename Made>
    void construct(Made* at) noexcept {
        ::new (static_cast<void*>(at)) Made;
    }

    bool operator==(const LargeAllocator&) const { return true; }

  private:
    static std::align_val_t alignment_for(size_t bytes) {
        return std::align_val_t{bytes >= kPage ? kPage : kLine};
    }
};

template <typename T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace bvdt
