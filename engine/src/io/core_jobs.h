#pragma once
// One way to have data cores do or read something: all are asked at once and answer together.

#include <exception>
#include <memory>
#include <type_traits>
#include <vector>

#include "astf/run.h"
#include "io/data_thread.h"

namespace engine {

/// Has each of `threads` do `job`(thread number in `threads`, DataThread&, DataCore&, now) between
/// two bursts, and waits for all. Returns what the jobs return, by thread; a job may return a
/// reference, whose object is copied before the core goes on. Passes on what one of them throws,
/// once all have answered. Data threads of a process have one control thread.
template <typename Threads, typename Job>
auto on_cores(const Threads& threads, Job job) {
  using Answer =
      std::remove_cvref_t<std::invoke_result_t<Job, size_t, DataThread&, DataCore&, Nanoseconds>>;
  constexpr bool kAnswers = !std::is_void_v<Answer>;
  // The cores write their answers at the same time, and a vector of bool has eight in a byte.
  static_assert(!std::is_same_v<Answer, bool>);
  std::vector<std::conditional_t<kAnswers, Answer, char>> answers(threads.size());
  std::vector<DataThread::Job> jobs;
  jobs.reserve(threads.size());
  for (size_t i = 0; i < threads.size(); ++i)
    jobs.emplace_back([&, i](DataCore& core, Nanoseconds now) {
      if constexpr (kAnswers)
        answers[i] = job(i, *threads[i], core, now);
      else
        job(i, *threads[i], core, now);
    });
  std::vector<DataThread::Request> requests(jobs.begin(), jobs.end());
  for (size_t i = 0; i < threads.size(); ++i) threads[i]->ask(requests[i]);
  std::exception_ptr error;
  for (size_t i = 0; i < threads.size(); ++i) {
    try {
      threads[i]->finish(requests[i]);
    } catch (...) {  // the others still hold on to their requests
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
  if constexpr (kAnswers) return answers;
}

/// What all of `parts` are together.
template <typename Part>
Part sum_of(std::vector<Part> parts) {
  Part sum = std::move(parts.front());
  for (size_t i = 1; i < parts.size(); ++i) sum += parts[i];
  return sum;
}

/// Sums over `threads` of their `parts` of a run, by template. Each histogram is read in a turn of
/// the cores' loops of its own, since a run may have thousands: ports are polled between.
template <typename Threads>
std::vector<LatencyBlock> read_latencies(const Threads& threads,
                                         const std::vector<ProfileRun*>& parts) {
  std::vector<LatencyBlock> sum(parts.front()->latencies().size());
  for (size_t t = 0; t < sum.size(); ++t)
    for (size_t kind = 0; kind < kLatencyKinds; ++kind)
      sum[t].kinds[kind] = sum_of(on_cores(
          threads, [&](size_t number, DataThread&, DataCore&, Nanoseconds) -> const auto& {
            return parts[number]->latencies()[t].kinds[kind];
          }));
  return sum;
}

}  // namespace engine
