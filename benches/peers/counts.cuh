// Shared by the peers that call CUB. CUB has separate kernels for element counts of 32 and of 64 bits, and neither
// are always the faster ones: radix sorts of keys alone prefer 64 bits, of pairs 32. A peer therefore tries both when
// it first prepares a case, and keeps the faster ones for all further rounds of that case in this process.
#pragma once

#include "peer.cuh"

// 64-bit counts must be faster by this share; otherwise the 32-bit ones, which most callers use, are kept.
static const double TIE = 0.01;
// Timed samples of each count type, by turns.
static const int TRIALS = 7;

// A call of CUB on n elements.
struct CubWork : Work {
    const u64 elements;
    bool wide = false;  // whether counts have 64 bits
    std::unique_ptr<Buffer<unsigned char>> room;  // temporary storage, enough for the count types that are tried

    explicit CubWork(u64 n) : elements(n) {}

    // Calls CUB, which reports the bytes that it needs if `at` is null.
    virtual cudaError_t call(void* at, size_t& bytes) = 0;

    void execute() override {
        size_t bytes = room->bytes;
        CUDA(call(room->data, bytes));
    }

    // `f` of the number of elements, in the type of the counts.
    template <typename F> cudaError_t counted(F f) { return wide ? f((long long)elements) : f((int)elements); }

    size_t needed(bool with) {
        wide = with;
        size_t bytes = 0;
        CUDA(call(nullptr, bytes));
        return bytes;
    }
};

// Whether 64-bit counts are faster than 32-bit ones by more than a tie, judged by medians.
static bool wide_is_faster(CubWork& work) {
    u64 batch[2];
    std::vector<double> seconds[2];
    for (const int with : {0, 1}) {
        work.wide = with == 1;
        batch[with] = batch_of(timed(work, 10) / 10);
    }
    for (int trial = 0; trial < TRIALS; ++trial) {
        for (const int with : {0, 1}) {
            work.wide = with == 1;
            seconds[with].push_back(timed(work, batch[with]) / batch[with]);
        }
    }
    for (auto& all : seconds) std::sort(all.begin(), all.end());
    return seconds[1][TRIALS / 2] < (1 - TIE) * seconds[0][TRIALS / 2];
}

// For runs by hand: `counts=32` or `counts=64` forces one; 64-bit counts are never tried where 32 bits do not suffice.
static std::string counts_of(Case& parameters) { return parameters.one_of("counts", {"best", "32", "64"}); }

// Settles the type of the counts and allocates the temporary storage. `parameters` identify the case.
static std::unique_ptr<Work> settled(std::unique_ptr<CubWork> work, const Case& parameters, const std::string& counts) {
    static std::map<std::string, bool> known;
    const bool narrow_fits = work->elements <= 0x7FFFFFFFull;
    if (counts == "32" && !narrow_fits) throw NotApplicable{"32-bit counts end at 2^31 - 1"};
    const bool tried = counts == "best" && narrow_fits;
    bool wide = counts == "64" || !narrow_fits;
    const size_t bytes = tried ? std::max(work->needed(false), work->needed(true)) : work->needed(wide);
    work->room = std::make_unique<Buffer<unsigned char>>(bytes);
    if (tried) {
        std::string name;
        for (const auto& [key, word] : parameters.words) name += key + "=" + word + " ";
        const auto found = known.find(name);
        wide = known[name] = found == known.end() ? wide_is_faster(*work) : found->second;
    }
    work->wide = wide;
    work->settings.push_back({"counts", wide ? "64" : "32"});
    return work;
}
