// A driver that runs the kernels, compiled for the host, on the imaginary GPU of
// ../cuda_driver/fake.c. Memory is surrounded by words that are looked at when it is
// freed, so that a store outside of an allocation is found.
#include "device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <ucontext.h>
#include <vector>

static const size_t GUARD = 4096;
static const size_t HEAD = 256;  // the alignment of the driver's allocations
static unsigned strayed;

static void *guarded(size_t n) {
    const size_t all = HEAD + n + 2 * GUARD;
    char *p = (char *)aligned_alloc(HEAD, (all + HEAD - 1) / HEAD * HEAD);
    memcpy(p, &n, sizeof n);
    memset(p + HEAD, 0x5A, n + 2 * GUARD);
    return p + HEAD + GUARD;
}

static void release(void *at) {
    char *p = (char *)at - GUARD;
    size_t n;
    memcpy(&n, p - HEAD, sizeof n);
    for (size_t k = 0; k < GUARD; k++) strayed += (p[k] != 0x5A) + (p[GUARD + n + k] != 0x5A);
    free(p - HEAD);
}

extern "C" {
unsigned fake_strayed() { return strayed; }
#define malloc guarded
#define free release
#define cuModuleGetFunction unused_get_function
#define cuLaunchKernel unused_launch
#define cuFuncSetAttribute unused_set_attribute
#define cuOccupancyMaxActiveBlocksPerMultiprocessor unused_occupancy
#include "../cuda_driver/fake.c"
#undef malloc
#undef free
#undef cuModuleGetFunction
#undef cuLaunchKernel
#undef cuFuncSetAttribute
#undef cuOccupancyMaxActiveBlocksPerMultiprocessor
}

static const size_t STACK = 64 << 10;

// ---- one block -------------------------------------------------------------------------

struct Barrier {
    unsigned waiting = 0, generation = 0;
};

struct Warp {
    uint64_t given[32];
    std::map<unsigned, Barrier> barriers;
};

// Runs one thread after another until one must wait for others.
struct Fiber {
    ucontext_t context;  // for the first time; later jumps, which need no system call
    jmp_buf here;
    std::unique_ptr<char[]> stack{new char[STACK]};
    unsigned thread;
    bool idle = true;
};

static jmp_buf scheduler;
static std::vector<std::unique_ptr<Fiber>> fibers;
static Fiber *current;
static std::vector<Warp> warps;
static Barrier block, named[16];
static unsigned threads, next_thread, alive;
static bool moved;
static void (*running)(void **);
static void **arguments;

alignas(16) unsigned long long dense[(227 << 10) / 8];

static void yield() {
    if (_setjmp(current->here) == 0) _longjmp(scheduler, 1);
}

// Whether that was the last one.
static bool arrive(Barrier &barrier, unsigned expected) {
    if (++barrier.waiting < expected) return false;
    barrier.waiting = 0;
    barrier.generation++;
    moved = true;
    return true;
}

static void wait(Barrier &barrier, unsigned expected) {
    const unsigned generation = barrier.generation;
    if (arrive(barrier, expected)) return;
    while (barrier.generation == generation) yield();
}

void __syncthreads() { wait(block, alive); }

void named_sync(unsigned barrier, unsigned threads) { wait(named[barrier], threads); }

void __syncwarp(unsigned mask) { wait(warps[threadIdx.x / 32].barriers[mask], __builtin_popcount(mask)); }

const uint64_t *exchange(unsigned mask, uint64_t value) {
    Warp &warp = warps[threadIdx.x / 32];
    warp.given[threadIdx.x % 32] = value;
    __syncwarp(mask);
    return warp.given;
}

void exchanged(unsigned mask) { __syncwarp(mask); }

static void body() {
    for (;;) {
        while (next_thread < threads) {
            threadIdx.x = current->thread = next_thread++;
            running(arguments);
            alive--;
            moved = true;
        }
        current->idle = true;
        yield();
    }
}

static void resume(Fiber &fiber) {
    current = &fiber;
    threadIdx.x = fiber.thread;
    if (_setjmp(scheduler) == 0) _longjmp(fiber.here, 1);
}

static void start(size_t number) {
    if (number < fibers.size()) {
        fibers[number]->idle = false;
        resume(*fibers[number]);
    } else {
        fibers.emplace_back(new Fiber);
        Fiber &fresh = *fibers.back();
        getcontext(&fresh.context);
        fresh.context.uc_stack.ss_sp = fresh.stack.get();
        fresh.context.uc_stack.ss_size = STACK;
        makecontext(&fresh.context, body, 0);
        fresh.idle = false;
        current = &fresh;
        if (_setjmp(scheduler) == 0) setcontext(&fresh.context);
    }
}

// Whether all threads came to their end; not so if they wait for each other for ever.
static bool run_block(unsigned count, unsigned shared) {
    warps.assign((count + 31) / 32, Warp());
    block = Barrier();
    for (Barrier &barrier : named) barrier = Barrier();
    threads = alive = count;
    next_thread = 0;
    memset(dense, 0xA5, shared);
    size_t started = 0;
    while (next_thread < threads) start(started++);
    while (alive > 0) {
        moved = false;
        for (size_t f = 0; f < started; f++) {
            if (!fibers[f]->idle) resume(*fibers[f]);
        }
        if (!moved) return false;
    }
    // Those that ended their last thread without waiting are idle; let the others be so.
    for (size_t f = 0; f < started; f++) {
        if (!fibers[f]->idle) resume(*fibers[f]);
    }
    return true;
}

// ---- the driver's part --------------------------------------------------------------------

static std::map<std::string, void (*)(void **)> &kernels() {
    static std::map<std::string, void (*)(void **)> all;
    return all;
}

void add_kernel(const char *name, void (*call)(void **)) { kernels()[name] = call; }

// Dynamic shared memory that a kernel was allowed.
static std::map<void *, unsigned> allowed;

extern "C" {
int cuModuleGetFunction(void **function, void *, const char *name) {
    auto found = kernels().find(name);
    if (found == kernels().end()) return 500;
    *function = (void *)found->second;
    return 0;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
    if (attribute == 8) allowed[function] = value;
    return 0;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *, int, size_t) {
    *n = 1;
    return 0;
}

int cuLaunchKernel(void *f, unsigned gx, unsigned, unsigned, unsigned bx, unsigned, unsigned, unsigned shared,
                   void *, void **values, void **) {
    // Threads that launch on a GPU each take turns: there is one machine behind all GPUs.
    static std::mutex machine;
    std::lock_guard<std::mutex> turn(machine);
    if (gx == 0 || bx == 0 || bx > 1024 || shared > sizeof dense) return 1;
    if (shared > (48 << 10) && shared > allowed[f]) return 1;
    running = (void (*)(void **))f;
    arguments = values;
    gridDim = {gx, 1, 1};
    blockDim = {bx, 1, 1};
    for (unsigned b = 0; b < gx; b++) {
        blockIdx = {b, 0, 0};
        if (!run_block(bx, shared)) return 719;
    }
    return 0;
}
}
