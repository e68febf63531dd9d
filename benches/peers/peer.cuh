// The framework of every peer: a program that prepares and times cases on request, line by line
// (src/engine/executors/peer/program.rs defines requests and answers), or a single case by hand:
// `plain --csv primitive=gather tuples=16777216` prints a row with the lab's column names.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#define LAB static __forceinline__ __host__ __device__
#include "../../kernels/common/gate.cuh"
#include "newer.cuh"

// Thrown if a case cannot run here; the program continues.
struct NotApplicable {
    std::string reason;
};

// Thrown after an error on the device, which is unusable afterwards.
struct Broken {
    std::string reason;
};

static void check(cudaError_t code, const char* call) {
    if (code != cudaSuccess) throw Broken{std::string(call) + ": " + cudaGetErrorString(code)};
}

#define CUDA(call) check(call, #call)

// ---- a case -----------------------------------------------------------------------

// Parameters by the lab's full keys. A peer asks for every parameter that it knows; one left over would change
// the measurement, so the peer must not run the case.
class Case {
public:
    explicit Case(const std::vector<std::string>& all) {
        for (const std::string& word : all) {
            const size_t at = word.find('=');
            if (at == std::string::npos) throw NotApplicable{word + " is not KEY=VALUE"};
            words[word.substr(0, at)] = word.substr(at + 1);
            keys.push_back(word.substr(0, at));
        }
    }

    // The text under a key, or `unset` if the key is missing.
    std::string text(const std::string& key, const std::string& unset = "") {
        known.insert(key);
        const auto found = words.find(key);
        return found == words.end() ? unset : found->second;
    }

    u64 number(const std::string& key, const std::string& unset = "") { return parse(key, text(key, unset)); }

    // A list of numbers separated by commas.
    std::vector<u64> list(const std::string& key) {
        std::vector<u64> numbers;
        std::istringstream items(text(key));
        for (std::string item; std::getline(items, item, ',');) numbers.push_back(parse(key, item));
        return numbers;
    }

    // One of the accepted words; the first if the key is unset.
    std::string one_of(const std::string& key, const std::vector<std::string>& accepted) {
        const std::string word = text(key, accepted.front());
        if (std::find(accepted.begin(), accepted.end(), word) != accepted.end()) return word;
        std::string all;
        for (const std::string& name : accepted) all += (all.empty() ? "" : ", ") + name;
        throw NotApplicable{key + "=" + word + " is not what this peer does; it does " + all};
    }

    void nothing_else() const {
        for (const std::string& key : keys) {
            if (!known.count(key)) throw NotApplicable{key + "=" + words.at(key) + " is unknown to this peer"};
        }
    }

    std::vector<std::string> keys;  // in the order given
    std::map<std::string, std::string> words;

private:
    std::set<std::string> known;

    static u64 parse(const std::string& key, const std::string& word) {
        const bool digits = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
        if (!digits || word.size() > 19) throw NotApplicable{key + "=" + word + " is not a number"};
        return std::stoull(word);
    }
};

// A case prepared on the device.
struct Work {
    u64 effective_bytes = 0;  // as the lab counts them
    std::vector<std::pair<std::string, std::string>> settings;  // what was left open and is settled, for the record
    virtual void execute() = 0;  // queues one execution
    // Executions after which `restore` must put inputs back that they overwrite, untimed; 0 if they leave their inputs.
    virtual u64 in_a_row() const { return 0; }
    virtual void restore() {}  // queues it
    // Number of wrong elements in the result, as far as the inputs determine it. Used for runs by hand: the lab
    // never asks for it, and treats no peer as certified.
    virtual u64 wrong() = 0;
    virtual ~Work() {}
};

// Each peer defines its name and how to prepare a case from its parameters.
extern const char* const PEER;
std::unique_ptr<Work> prepare(Case& parameters);

// ---- memory and time ----------------------------------------------------------------

static u64 held = 0;  // bytes on the device

template <typename T> class Buffer {
public:
    explicit Buffer(u64 length) : bytes(std::max<u64>(length, 1) * sizeof(T)) {
        const cudaError_t code = cudaMalloc(&data, bytes);
        if (code == cudaErrorMemoryAllocation) {
            cudaGetLastError();  // clears the error
            throw NotApplicable{"an array of " + std::to_string(bytes) + " bytes does not fit"};
        }
        check(code, "cudaMalloc");
        held += bytes;
    }
    ~Buffer() {
        cudaFree(data);
        held -= bytes;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    T* data = nullptr;
    const u64 bytes;
};

// Default number of threads per block.
static const unsigned BLOCK = 256;

// Number of blocks with one thread per element.
static unsigned blocks(u64 elements, unsigned block = BLOCK) {
    const u64 count = (elements + block - 1) / block;
    if (count == 0 || count > 0x7FFFFFFFull) throw NotApplicable{"one thread an element is no grid here"};
    return (unsigned)count;
}

LAB u64 this_thread() {
#if defined(__CUDA_ARCH__)
    return (u64)blockIdx.x * blockDim.x + threadIdx.x;
#else
    return 0;
#endif
}

// key64 of src/core/inputs/mix.rs.
static u64 key64(u64 seed) { return mix64(seed + 0x9E3779B97F4A7C15ull); }

// The inputs of stream for this seed: integers below 2^20.
static __global__ void fill_stream(double* out, u64 key, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[i] = stream_value(key, i);
}

template <typename F> __global__ void count_wrong(F right, u64 n, u64* wrong) {
    const u64 i = this_thread();
    if (i < n && !right(i)) atomicAdd(wrong, 1ull);
}

// Number of the first n elements that are wrong.
template <typename F> static u64 wrong_of(u64 n, F right) {
    Buffer<u64> wrong(1);
    CUDA(cudaMemset(wrong.data, 0, wrong.bytes));
    count_wrong<<<blocks(n), BLOCK>>>(right, n, wrong.data);
    CUDA(cudaGetLastError());
    u64 count = 0;
    CUDA(cudaMemcpy(&count, wrong.data, sizeof count, cudaMemcpyDeviceToHost));
    return count;
}

// LIMIT of src/core/device/cuda/live/gate.rs.
static const u64 GATE_LIMIT = 5000000;

static __global__ void gate(const volatile u32* open) { wait_at_gate(open, GATE_LIMIT); }

// The word that a stream polls while work is queued.
static volatile u32* gate_word() {
    static u32* word = nullptr;
    if (!word) CUDA(cudaMallocHost(&word, sizeof *word));
    return word;
}

// Seconds of `batch` executions between two events, or of groups of them where inputs are put back in between. As in the
// lab, the gate opens only once all are queued.
static double timed(Work& work, u64 batch) {
    struct Span {
        cudaEvent_t start = nullptr, end = nullptr;
        Span() {
            CUDA(cudaEventCreate(&start));
            CUDA(cudaEventCreate(&end));
        }
        ~Span() {
            for (const cudaEvent_t event : {start, end}) cudaEventDestroy(event);
        }
        Span(const Span&) = delete;
        Span& operator=(const Span&) = delete;
    };
    const u64 most = work.in_a_row(), group = most == 0 ? batch : std::min(most, batch);
    std::vector<Span> spans((batch + group - 1) / group);
    struct Held {
        volatile u32* const open = gate_word();
        Held() { gate<<<1, 1>>>((*open = 0, open)); }
        ~Held() { *open = 1; }
    };
    CUDA(cudaDeviceSynchronize());
    {
        const Held held;
        u64 left = batch;
        for (const Span& span : spans) {
            work.restore();
            CUDA(cudaEventRecord(span.start));
            for (u64 i = std::min(group, left); i > 0; --i, --left) work.execute();
            CUDA(cudaGetLastError());
            CUDA(cudaEventRecord(span.end));
        }
    }
    CUDA(cudaEventSynchronize(spans.back().end));
    double sum = 0;
    for (const Span& span : spans) {
        float milliseconds = 0;
        CUDA(cudaEventElapsedTime(&milliseconds, span.start, span.end));
        sum += milliseconds * 1e-3;
    }
    return sum;
}

// Executions in a sample of at least 100 µs.
static u64 batch_of(double seconds) {
    return seconds < 100e-6 ? (u64)(125e-6 / std::max(seconds, 1e-7)) + 1 : 1;
}

// ---- the program ----------------------------------------------------------------------

static std::unique_ptr<Work> made(Case& parameters) {
    const cudaError_t code = cudaSetDevice((int)parameters.number("backend.cuda.device", "0"));
    if (code != cudaSuccess) throw NotApplicable{std::string("cudaSetDevice: ") + cudaGetErrorString(code)};
    std::unique_ptr<Work> work = prepare(parameters);
    CUDA(cudaDeviceSynchronize());
    return work;
}

// Frees everything and waits until the driver has cleared the memory, which would slow down the next timing:
// PER_GIB of src/core/device/cuda/live/scrub.rs.
static void release(std::unique_ptr<Work>& work) {
    const u64 freed = held;
    work.reset();
    std::this_thread::sleep_for(std::chrono::microseconds(4000 * freed >> 30));
}

// What is prepared: here, or by the program of the newer release.
struct Served {
    Newer newer{PEER};
    std::unique_ptr<Work> work;
    bool is_newer = false;

    void clear() {
        release(work);
        if (is_newer) newer.ask("release");
        is_newer = false;
    }
};

// Share of the newer release's time that the older one must save: a tie keeps the newer one.
static const double TIE = 0.01;
// Timed samples of each way, by turns.
static const int TRIALS = 7;

// Whether the newer release, which is prepared too, is as fast at the case as this one.
static bool newer_is_faster(Served& served) {
    const u64 batch = batch_of(timed(*served.work, 10) / 10);
    std::vector<double> own, other;
    for (int trial = -1; trial < TRIALS; ++trial) {
        const double seconds[2] = {timed(*served.work, batch), served.newer.seconds(batch)};
        if (trial < 0) continue;  // the first one of each warms it up
        own.push_back(seconds[0]);
        other.push_back(seconds[1]);
    }
    for (auto* all : {&own, &other}) std::sort(all->begin(), all->end());
    return other.front() > 0 && (1 - TIE) * other[TRIALS / 2] <= own[TRIALS / 2];
}

// Prepares a case by the release that is faster at it, which further rounds of it keep. Where the arrays of both do not fit at a
// time, it is the older one, and the setting `tried` says so.
static std::string prepare_best(const std::string& order, Case& parameters, Served& served) {
    static std::map<std::string, bool> known;
    static std::set<std::string> untried;
    const auto found = known.find(order);
    const bool is_known = found != known.end(), is_asked = served.newer.is_there() && (!is_known || found->second);
    if (!is_known || !is_asked) served.work = made(parameters);
    if (is_asked) {
        const std::string answer = served.newer.ask(order);
        const bool ready = answer.rfind("ready", 0) == 0;
        if (!is_known) known[order] = ready && newer_is_faster(served);
        if (!is_known && !ready) untried.insert(order);
        if (ready && known[order]) {
            release(served.work);
            served.is_newer = true;
            return answer;
        }
        served.newer.ask("release");
        if (!served.work) served.work = made(parameters);
    }
    std::string ready = "ready " + std::to_string(held);
    for (const auto& [key, word] : served.work->settings) ready += " " + key + "=" + word;
    return ready + (untried.count(order) ? " tried=one-release" : "");
}

static std::string answer(const std::string& line, Served& served) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "prepare") {
        served.clear();
        std::vector<std::string> all;
        for (std::string word; words >> word;) all.push_back(word);
        Case parameters(all);
        return prepare_best(line, parameters, served);
    }
    if (verb == "release") {
        served.clear();
        return "released";
    }
    u64 batch = 0;
    if (verb != "sample" || !(words >> batch) || batch == 0) throw Broken{"no such order: " + line};
    if (served.is_newer) {
        const std::string answer = served.newer.ask(line);
        if (!answer.empty()) return answer;
        throw Broken{"the program of the newer release has ended"};
    }
    if (!served.work) throw Broken{"nothing is prepared"};
    char seconds[64];
    std::snprintf(seconds, sizeof seconds, "seconds %.9e", timed(*served.work, batch));
    return seconds;
}

static int serve() {
    std::signal(SIGPIPE, SIG_IGN);
    Served served;
    for (std::string line; std::getline(std::cin, line);) {
        try {
            std::cout << answer(line, served) << std::endl;
        } catch (const NotApplicable& why) {
            std::cout << "n/a " << why.reason << std::endl;
        } catch (const Broken& why) {
            std::cout << "failed " << why.reason << std::endl;
            return 1;
        }
    }
    return 0;
}

// A column is named after the key's last word; a pattern's list, after its variant.
static std::string column(const std::string& key) {
    const size_t last = key.rfind('.');
    if (last == std::string::npos) return key;
    const std::string word = key.substr(last + 1);
    return word == "indices" ? column(key.substr(0, last)) : word;
}

// A cell with CSV quoting.
static std::string cell(const std::string& text) {
    return text.find(',') == std::string::npos ? text : "\"" + text + "\"";
}

// After 10 untimed executions, takes 10 samples of at least 100 µs each.
static std::vector<double> samples(Work& work) {
    const u64 batch = batch_of(timed(work, 10) / 10);
    std::vector<double> seconds;
    for (int i = 0; i < 10; ++i) seconds.push_back(timed(work, batch) / batch);
    std::sort(seconds.begin(), seconds.end());
    return seconds;
}

static int by_hand(const std::vector<std::string>& words) {
    Case parameters(words);
    const std::unique_ptr<Work> work = made(parameters);
    const std::vector<double> seconds = samples(*work);
    const double median = (seconds[4] + seconds[5]) / 2;
    for (const std::string& key : parameters.keys) std::printf("%s,", column(key).c_str());
    for (const auto& setting : work->settings) std::printf("resolved.%s,", setting.first.c_str());
    std::printf("backend,samples,min_s,median_s,effective_bytes,effective_gb_s,verification,memory_bytes\n");
    for (const std::string& key : parameters.keys) std::printf("%s,", cell(parameters.words.at(key)).c_str());
    for (const auto& setting : work->settings) std::printf("%s,", setting.second.c_str());
    std::printf("peer:%s,%zu,%.9f,%.9f,%llu,%.3f,not certified: peer,%llu\n", PEER, seconds.size(), seconds[0],
                median, work->effective_bytes, (double)work->effective_bytes / median / 1e9, held);
    const u64 wrong = work->wrong();
    if (wrong > 0) throw Broken{std::to_string(wrong) + " elements are wrong"};
    return 0;
}

int main(int count, char** words) {
    const std::vector<std::string> all(words + 1, words + count);
    try {
        if (all.empty()) return serve();
        if (all[0] == "--csv") return by_hand({all.begin() + 1, all.end()});
        std::fprintf(stderr, "usage: %s --csv KEY=VALUE…, or orders on standard input\n", PEER);
        return 2;
    } catch (const NotApplicable& why) {
        std::fprintf(stderr, "%s: n/a: %s\n", PEER, why.reason.c_str());
    } catch (const Broken& why) {
        std::fprintf(stderr, "%s: %s\n", PEER, why.reason.c_str());
    }
    return 1;
}
