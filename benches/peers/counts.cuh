// Shared by the peers that call CUB. CUB has separate kernels for element counts of 32 and of 64 bits, and neither
// are always the faster ones: radix sorts of keys alone prefer 64 bits, of pairs 32. A peer therefore tries both when
// it first prepares a case, and keeps the faster ones for all further rounds of that case in this process.
#pragma once

#include <cub/version.cuh>

#include "fastest.cuh"

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

// For runs by hand: `counts=32` or `counts=64` forces one; 64-bit counts are never tried where 32 bits do not suffice.
static std::string counts_of(Case& parameters) { return parameters.one_of("counts", {"best", "32", "64"}); }

// Settles the type of the counts and allocates the temporary storage. `parameters` identify the case.
static std::unique_ptr<Work> settled(std::unique_ptr<CubWork> work, const Case& parameters, const std::string& counts) {
    const bool narrow_fits = work->elements <= 0x7FFFFFFFull;
    if (counts == "32" && !narrow_fits) throw NotApplicable{"32-bit counts end at 2^31 - 1"};
    const bool tried = counts == "best" && narrow_fits;
    bool wide = counts == "64" || !narrow_fits;
    const size_t bytes = tried ? std::max(work->needed(false), work->needed(true)) : work->needed(wide);
    work->room = std::make_unique<Buffer<unsigned char>>(bytes);
    // 64-bit counts must save more than a tie; otherwise the 32-bit ones, which most callers use, are kept.
    const auto choose = [&](size_t way) { work->wide = way == 1; };
    if (tried) wide = kept(parameters, [&] { return fastest(*work, 2, choose); }) == 1;
    work->wide = wide;
    work->settings.push_back({"counts", wide ? "64" : "32"});
    const int release = CUB_VERSION;  // 300501: 3.5.1
    work->settings.push_back({"cub", std::to_string(release / 100000) + "." + std::to_string(release / 100 % 1000) + "." +
                                         std::to_string(release % 100)});
    return work;
}
