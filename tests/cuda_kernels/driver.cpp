// A driver that runs the kernels, compiled for the host, on the imaginary GPU of ../cuda_driver/fake.c. Each
// allocation is surrounded by guard words that are checked when it is freed, which detects stores outside of
// the allocation.
#include "device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <thread>
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

static char *guarded_copy(const char *text, size_t n) {
    char *copy = (char *)memcpy(guarded(n + 1), text, n);
    copy[n] = 0;
    return copy;
}

extern "C" {
unsigned fake_strayed() { return strayed; }
#define malloc guarded
#define free release
#define strndup guarded_copy
#define cuKernelGetFunction unused_get_function
#define cuLaunchKernel unused_launch
#define cuFuncSetAttribute unused_set_attribute
#define cuOccupancyMaxActiveBlocksPerMultiprocessor unused_occupancy
#include "../cuda_driver/fake.c"
#undef malloc
#undef free
#undef strndup
#undef cuKernelGetFunction
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

// A fiber that runs one thread after another until a thread must wait for others.
struct Fiber {
    ucontext_t context;  // for the first entry; later switches jump, which needs no system call
    jmp_buf here;
    std::unique_ptr<char[]> stack{new char[STACK]};
    unsigned thread;
    bool idle = true;
};

// The state of a block; blocks that run in succession reuse it.
struct Block {
    jmp_buf scheduler;
    std::vector<std::unique_ptr<Fiber>> fibers;
    Fiber *current;
    std::vector<Warp> warps;
    Barrier all;
    unsigned threads, next_thread, alive;
    bool moved, slept;  // since the last pass over the threads
};

static Block *now;
static void (*running)(void **);
static void **arguments;

alignas(16) unsigned long long dense[(227 << 10) / 8];

static void yield() {
    if (_setjmp(now->current->here) == 0) _longjmp(now->scheduler, 1);
}

// Registers an arrival at the barrier. Returns whether it was the last one expected.
static bool arrive(Barrier &barrier, unsigned expected) {
    if (++barrier.waiting < expected) return false;
    barrier.waiting = 0;
    barrier.generation++;
    now->moved = true;
    return true;
}

static void wait(Barrier &barrier, unsigned expected) {
    const unsigned generation = barrier.generation;
    if (arrive(barrier, expected)) return;
    while (barrier.generation == generation) yield();
}

void __syncthreads() { wait(now->all, now->alive); }


void __syncwarp(unsigned mask) { wait(now->warps[threadIdx.x / 32].barriers[mask], __builtin_popcount(mask)); }

void __nanosleep(unsigned) {
    now->slept = true;
    yield();
}

const uint64_t *exchange(unsigned mask, uint64_t value) {
    Warp &warp = now->warps[threadIdx.x / 32];
    warp.given[threadIdx.x % 32] = value;
    __syncwarp(mask);
    return warp.given;
}

void exchanged(unsigned mask) { __syncwarp(mask); }

static void body() {
    for (;;) {
        while (now->next_thread < now->threads) {
            threadIdx.x = now->current->thread = now->next_thread++;
            running(arguments);
            now->alive--;
            now->moved = true;
        }
        now->current->idle = true;
        yield();
    }
}

static void resume(Fiber &fiber) {
    now->current = &fiber;
    threadIdx.x = fiber.thread;
    if (_setjmp(now->scheduler) == 0) _longjmp(fiber.here, 1);
}

static void start(size_t number) {
    if (number < now->fibers.size()) {
        now->fibers[number]->idle = false;
        resume(*now->fibers[number]);
    } else {
        now->fibers.emplace_back(new Fiber);
        Fiber &fresh = *now->fibers.back();
        getcontext(&fresh.context);
        fresh.context.uc_stack.ss_sp = fresh.stack.get();
        fresh.context.uc_stack.ss_size = STACK;
        makecontext(&fresh.context, body, 0);
        fresh.idle = false;
        now->current = &fresh;
        if (_setjmp(now->scheduler) == 0) setcontext(&fresh.context);
    }
}

static bool let_others();

// Runs a block. Returns whether all threads finished; false if they wait forever, for each other or for another
// block.
static bool run_block(unsigned count, unsigned shared) {
    now->warps.assign((count + 31) / 32, Warp());
    now->all = Barrier();
    now->threads = now->alive = count;
    now->next_thread = 0;
    memset(dense, 0xA5, shared);
    size_t started = 0;
    now->slept = false;
    while (now->next_thread < count) start(started++);
    while (now->alive > 0) {
        if (now->slept && !let_others()) return false;
        now->moved = now->slept = false;
        for (size_t f = 0; f < started; f++) {
            if (!now->fibers[f]->idle) resume(*now->fibers[f]);
        }
        if (!now->moved && !now->slept) return false;
    }
    // Fibers whose last thread ended without waiting are idle already; let the others become so.
    for (size_t f = 0; f < started; f++) {
        if (!now->fibers[f]->idle) resume(*now->fibers[f]);
    }
    return true;
}

// ---- a grid ----------------------------------------------------------------------------------

// Blocks run one after another. When a thread sleeps because it waits for another block, the next block begins,
// up to RESIDENT at a time, and these take turns. Each resident block has a host thread of its own, which holds
// its `__shared__` variables, but only one of them runs at a time.
static const unsigned RESIDENT = 3;
static const unsigned PATIENCE = 1 << 16;  // turns in which no block ends; after these, all wait forever

static struct Grid {
    std::mutex lock;
    std::condition_variable turn;
    Block rooms[RESIDENT];
    std::thread hosts[RESIDENT];
    bool busy[RESIDENT];
    unsigned room;  // whose turn it is
    unsigned next, blocks, threads, shared, turns;
    bool failed;
} grid;

static void run_blocks() {
    while (!grid.failed && grid.next < grid.blocks) {
        blockIdx = {grid.next++, 0, 0};
        grid.turns = 0;
        if (!run_block(grid.threads, grid.shared)) grid.failed = true;
    }
}

// The busy room whose turn is next after this one; this one if there is no other.
static unsigned next_busy(unsigned room) {
    unsigned next = room;
    do next = (next + 1) % RESIDENT;
    while (next != room && !grid.busy[next]);
    return next;
}

static void give_turn(unsigned to) {
    grid.room = to;
    now = &grid.rooms[to];
    grid.turn.notify_all();
}

static void await_turn(std::unique_lock<std::mutex> &held, unsigned room) {
    grid.turn.wait(held, [=] { return grid.room == room; });
}

// The body of a room's host thread.
static void host(unsigned room) {
    std::unique_lock<std::mutex> held(grid.lock);
    await_turn(held, room);
    run_blocks();
    grid.busy[room] = false;
    give_turn(next_busy(room));
}

// Lets another block run for a while. Returns false if all blocks wait forever.
static bool let_others() {
    const unsigned room = grid.room;
    if (++grid.turns > PATIENCE) grid.failed = true;
    if (grid.failed) return false;
    unsigned to = next_busy(room);
    for (unsigned idle = 0; idle < RESIDENT && grid.next < grid.blocks; idle++) {
        if (grid.busy[idle]) continue;
        grid.busy[idle] = true;
        grid.hosts[idle] = std::thread(host, to = idle);
        break;
    }
    if (to == room) return true;
    const Dim here = blockIdx;
    const std::vector<char> kept((char *)dense, (char *)dense + grid.shared);
    std::unique_lock<std::mutex> held(grid.lock, std::adopt_lock);
    give_turn(to);
    await_turn(held, room);
    held.release();
    blockIdx = here;
    memcpy(dense, kept.data(), kept.size());
    return !grid.failed;
}

// Runs a grid. Returns whether all blocks finished.
static bool run_grid(unsigned blocks, unsigned threads, unsigned shared) {
    std::unique_lock<std::mutex> held(grid.lock);
    grid.next = grid.turns = 0;
    grid.blocks = blocks, grid.threads = threads, grid.shared = shared;
    grid.failed = false;
    grid.busy[0] = true;
    give_turn(0);
    run_blocks();
    while (next_busy(0) != 0) {
        give_turn(next_busy(0));
        await_turn(held, 0);
    }
    held.unlock();
    for (std::thread &host : grid.hosts) {
        if (host.joinable()) host.join();
    }
    return !grid.failed;
}

// ---- the driver's part --------------------------------------------------------------------

static std::map<std::string, void (*)(void **)> &kernels() {
    static std::map<std::string, void (*)(void **)> all;
    return all;
}

void add_kernel(const char *name, void (*call)(void **)) { kernels()[name] = call; }

// Dynamic shared memory that each kernel has opted into.
static std::map<void *, unsigned> allowed;

extern "C" {
int cuKernelGetFunction(void **function, void *kernel) {
    auto found = kernels().find((char *)kernel);
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
    // Host threads that each launch on their own GPU take turns: a single machine simulates all GPUs.
    static std::mutex machine;
    std::lock_guard<std::mutex> turn(machine);
    if (gx == 0 || bx == 0 || bx > 1024 || shared > sizeof dense) return 1;
    if (shared > (48 << 10) && shared > allowed[f]) return 1;
    running = (void (*)(void **))f;
    arguments = values;
    gridDim = {gx, 1, 1};
    blockDim = {bx, 1, 1};
    return run_grid(gx, bx, shared) ? 0 : 719;
}
}
