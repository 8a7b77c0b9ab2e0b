// The only place where threads are started: a loop whose turns are dealt out to them in the order of asking.
//
// An exception must not leave an OpenMP region, or the process ends. Here the first one, a failed allocation
// as a rule, stops the loop and is thrown again by the thread that called. So is what the poll throws: a
// function that the calling thread asks every 50 ms whether to go on (Python's: whether Ctrl-C was pressed).
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace bvdt {

class FirstError {
  public:
    template <typename Work>
    void guard(const Work& work) noexcept {
        try {
            work();
        } catch (...) {
            if (!happened_.exchange(true)) error_ = std::current_exception();
        }
    }
    bool happened() const { return happened_.load(std::memory_order_relaxed); }
    void rethrow() const {  // after the threads have joined
        if (error_) std::rethrow_exception(error_);
    }

  private:
    std::atomic<bool> happened_{false};
    std::exception_ptr error_;
};

using Poll = void (*)();  // returns, or throws to end the loop
inline std::atomic<Poll> poll{nullptr};

// Asks the poll now and then, on the thread that made it only.
class Polling {
  public:
    void ask() {
        if (!poll_ || std::this_thread::get_id() != caller_) return;
        const Clock::time_point now = Clock::now();
        if (now < next_) return;
        poll_();
        next_ = Clock::now() + kInterval;
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kInterval{50};
    Poll poll_ = poll.load(std::memory_order_relaxed);
    std::thread::id caller_ = std::this_thread::get_id();
    Clock::time_point next_ = Clock::now() + kInterval;
};

constexpr int64_t kMostThreads = 1024;  // more may be refused by the system, which OpenMP answers by an exit

// OpenMP's threads, which wait for more work: at once there, but for 20 ms each costs as much as at work.
struct KeptTeam {
    template <typename Work>
    static void run([[maybe_unused]] int team, const Work& work) {
#pragma omp parallel num_threads(team) if (team > 1)
        work();
    }
};

constexpr int64_t kBriefWork = 1 << 23;  // multiplications, some milliseconds, up to which the next pays

// Threads that are made for the work and end with it: 30 µs each.
struct BriefTeam {
    template <typename Work>
    static void run([[maybe_unused]] int team, const Work& work) {
        std::vector<std::thread> others;
#ifdef _OPENMP  // else one thread does it all, as everywhere
        try {
            for (int t = 1; t < team; ++t) others.emplace_back(work);
        } catch (...) {  // fewer will do
        }
#endif
        work();
        for (std::thread& other : others) other.join();
    }
};

// body(i, scratch) for i in 0 … count − 1, `grain` of them at a time; each thread makes its own scratch.
template <typename Team = KeptTeam, typename MakeScratch, typename Body>
void parallel_for(int64_t count, int64_t grain, int threads, const MakeScratch& make_scratch,
                  const Body& body) {
    if (count <= 0) return;
    std::atomic<int64_t> next{0};
    FirstError error;
    Polling polling;
    const auto work = [&] {
        auto scratch = make_scratch();
        while (!error.happened()) {
            polling.ask();
            const int64_t first = next.fetch_add(grain, std::memory_order_relaxed);
            if (first >= count) break;
            const int64_t last = std::min(first + grain, count);
            for (int64_t i = first; i < last; ++i) body(i, scratch);
        }
    };
    const int team = static_cast<int>(std::min({int64_t{threads}, (count - 1) / grain + 1, kMostThreads}));
    Team::run(team, [&] { error.guard(work); });
    error.rethrow();
}

// body(i), without scratch.
template <typename Team = KeptTeam, typename Body>
void parallel_for(int64_t count, int64_t grain, int threads, const Body& body) {
    parallel_for<Team>(count, grain, threads, [] { return 0; }, [&](int64_t i, int) { body(i); });
}

// body(first, last) for stretches of at most `length` of the indices 0 … count − 1.
template <typename Team = KeptTeam, typename Body>
void parallel_stretches(int64_t count, int64_t length, int threads, const Body& body) {
    parallel_for<Team>((count + length - 1) / length, 1, threads,
                       [&](int64_t s) { body(s * length, std::min((s + 1) * length, count)); });
}

constexpr int64_t kSerialChecks = 1 << 18;  // less, 0.1 ms, is done by one thread

// Whether holds(i) for all i in 0 … count − 1.
template <typename Holds>
bool all_hold(int64_t count, int threads, const Holds& holds) {
    std::atomic<bool> all{true};
    parallel_stretches(count, 1 << 14, count < kSerialChecks ? 1 : threads, [&](int64_t first, int64_t last) {
        bool here = true;  // without an early exit, so that the loop vectorises
        for (int64_t i = first; i < last; ++i) here &= static_cast<bool>(holds(i));
        if (!here) all.store(false, std::memory_order_relaxed);
    });
    return all.load();
}

}  // namespace bvdt
