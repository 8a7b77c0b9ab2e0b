// The GIL, given up while a kernel runs.
//
// Before version 3.14 Python ends a daemon thread that asks for the GIL while the interpreter ends, by
// pthread_exit: glibc then unwinds the stack, and the first frame that is noexcept ends the process. Such a
// thread waits for the process to end instead, as Python 3.14 has it.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>

#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace bvdt {

// Calls `take`, which waits for the GIL.
template <typename Take>
void take_gil(const Take& take) {
#ifdef __GLIBCXX__
    try {
        take();
    } catch (abi::__forced_unwind&) {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
#else
    take();
#endif
}

class ReleasedGil {
  public:
    ReleasedGil() : state_(PyEval_SaveThread()) {}
    ~ReleasedGil() {
        take_gil([this] { PyEval_RestoreThread(state_); });
    }
    ReleasedGil(const ReleasedGil&) = delete;
    ReleasedGil& operator=(const ReleasedGil&) = delete;

  private:
    PyThreadState* state_;
};

class HeldGil {
  public:
    HeldGil() {
        take_gil([this] { state_ = PyGILState_Ensure(); });
    }
    ~HeldGil() { PyGILState_Release(state_); }
    HeldGil(const HeldGil&) = delete;
    HeldGil& operator=(const HeldGil&) = delete;

  private:
    PyGILState_STATE state_{};
};

}  // namespace bvdt
