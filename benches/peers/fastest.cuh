// How a peer chooses between several ways of the same work, so that it is at its best.
#pragma once

#include "peer.cuh"

// The number of the way with the lowest median; the first one is the usual, which a tie keeps. `choose` makes the work's next executions be
// of a way.
template <typename F> static size_t fastest(Work& work, size_t ways, F choose) {
    std::vector<u64> batch(ways);
    std::vector<std::vector<double>> seconds(ways);
    for (size_t way = 0; way < ways; ++way) {
        choose(way);
        batch[way] = batch_of(timed(work, 10) / 10);
    }
    for (int trial = 0; trial < TRIALS; ++trial) {
        for (size_t way = 0; way < ways; ++way) {
            choose(way);
            seconds[way].push_back(timed(work, batch[way]) / batch[way]);
        }
    }
    size_t best = 0;
    for (auto& all : seconds) std::sort(all.begin(), all.end());
    const auto median = [&](size_t way) { return seconds[way][TRIALS / 2]; };
    for (size_t way = 1; way < ways; ++way) {
        if (median(way) < median(best)) best = way;
    }
    return median(best) < (1 - TIE) * median(0) ? best : 0;
}

// The choice of `choose` for the case of these parameters, which further rounds of it keep.
template <typename F> static size_t kept(const Case& parameters, F choose) {
    static std::map<std::string, size_t> known;
    std::string name;
    for (const auto& [key, word] : parameters.words) name += key + "=" + word + " ";
    const auto found = known.find(name);
    return found != known.end() ? found->second : known[name] = choose();
}

// Prepares the ways that run here (`work.add`), and keeps the fastest (`work.chosen`) alone. What belongs to the others is
// freed (`work.clear`).
template <typename W, typename Way>
static const Way& settled_way(W& work, const std::vector<Way>& ways, const Case& parameters) {
    const size_t number = kept(parameters, [&] {
        std::vector<size_t> numbers;
        std::string why = "there is no way";
        for (size_t way = 0; way < ways.size(); ++way) {
            try {
                work.add(ways[way]);
                numbers.push_back(way);
            } catch (const NotApplicable& refused) {
                why = refused.reason;
            }
        }
        if (numbers.empty()) throw NotApplicable{why};
        return numbers[fastest(work, numbers.size(), [&](size_t at) { work.chosen = at; })];
    });
    work.clear();
    work.chosen = 0;
    work.add(ways[number]);
    return ways[number];
}
