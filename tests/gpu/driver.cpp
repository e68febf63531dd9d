// A driver that runs the kernels, compiled for the host, on the imaginary GPU of ../driver/fake.c. Each
// allocation is surrounded by guard words that are checked when it is freed, which detects stores outside of
// the allocation.
#include "device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

static const size_t GUARD = 4096;
static const size_t HEAD = 256;  // the alignment of the driver's allocations
static unsigned strayed;
static unsigned char fresh = 0x5A;  // what an allocation holds

static void *guarded(size_t n) {
    const size_t all = HEAD + n + 2 * GUARD;
    char *p = (char *)aligned_alloc(HEAD, (all + HEAD - 1) / HEAD * HEAD);
    memcpy(p, &n, sizeof n);
    memset(p + HEAD, 0x5A, n + 2 * GUARD);
    memset(p + HEAD + GUARD, fresh, n);
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

// Runs the launches that are queued; the driver's code of what fails (below).
static int finish();

extern "C" {
unsigned fake_strayed() { return strayed; }
void fake_fresh(int byte) { fresh = byte; }
#define FAKE_FINISH()                                  \
    do {                                               \
        if (const int code = finish(); code) return code; \
    } while (0)
#define malloc guarded
#define free release
#define strndup guarded_copy
#define cuKernelGetFunction unused_get_function
#define cuLaunchKernel unused_launch
#define cuLaunchKernelEx unused_overlapping_launch
#define cuFuncSetAttribute unused_set_attribute
#define cuOccupancyMaxActiveBlocksPerMultiprocessor unused_occupancy
#include "../driver/fake.c"
#undef malloc
#undef free
#undef strndup
#undef cuKernelGetFunction
#undef cuLaunchKernel
#undef cuLaunchKernelEx
#undef cuFuncSetAttribute
#undef cuOccupancyMaxActiveBlocksPerMultiprocessor
}

// A stack, and by how much the hot end of one fiber's lies elsewhere than the next one's: at the same place of each
// they would all fall on the same few lines of the cache.
static const size_t STACK = 64 << 10, STAGGER = 320, STAGGERS = 64;

// ---- one block -------------------------------------------------------------------------

// Where a fiber, or the scheduler, goes on.
#if defined(__x86_64__)
// The stack, on which everything else is. The C library's jumps also look for cleanups and keep signal masks.
typedef void *Place;

// Leaves one stack for another: saves the registers that a call keeps, and takes those that were saved.
extern "C" void switch_stacks(Place *from, Place to);
asm(R"(
.text
.type switch_stacks, @function
switch_stacks:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");

// A place from which `body` begins on this stack, with six registers that nobody reads, and no way back.
static Place beginning(char *stack, size_t size, void (*body)()) {
    void **top = (void **)((uintptr_t)(stack + size) & ~(uintptr_t)15);
    *--top = nullptr;
    *--top = (void *)body;
    return top - 6;
}
#else
#include <ucontext.h>
typedef std::shared_ptr<ucontext_t> Place;

static void switch_stacks(Place *from, Place to) {
    if (!*from) from->reset(new ucontext_t);
    swapcontext(from->get(), to.get());
}

static Place beginning(char *stack, size_t size, void (*body)()) {
    Place place(new ucontext_t);
    getcontext(place.get());
    place->uc_stack.ss_sp = stack;
    place->uc_stack.ss_size = size;
    makecontext(place.get(), body, 0);
    return place;
}
#endif

// Runs one thread after another until one must wait for others.
struct Fiber {
    Place here;
    std::unique_ptr<char[]> stack{new char[STACK + STAGGER * STAGGERS]};
    unsigned thread;
    Fiber *next;  // in the queue where it is
};

// Fibers in the order in which they came.
struct Queue {
    Fiber *first = nullptr, *last = nullptr;
    void push(Fiber *fiber) {
        fiber->next = nullptr;
        (first ? last->next : first) = fiber;
        last = fiber;
    }
    Fiber *pop() {
        Fiber *fiber = first;
        if (fiber) first = fiber->next;
        return fiber;
    }
    // Puts all of another queue's before these: a warp whose lanes wait for each other goes on with what it has in
    // the cache.
    void take(Queue &other) {
        if (!other.first) return;
        other.last->next = first;
        if (!first) last = other.last;
        first = other.first;
        other.first = nullptr;
    }
};

struct Barrier {
    unsigned arrived = 0, generation = 0;
    Queue waiting;
    // What the lanes of a warp exchange at it. Every other time in the same place: whoever comes to the next
    // time has read what was given before.
    WarpVote given[2];
};

struct Warp {
    Barrier whole;
    std::map<unsigned, Barrier> parts;  // by the lanes that take part
    Barrier &of(unsigned mask) { return mask == 0xFFFFFFFFu ? whole : parts[mask]; }
};

// The state of a block; blocks that run in succession reuse it.
struct Block {
    Place scheduler;
    std::vector<std::unique_ptr<Fiber>> fibers;
    Fiber *current;
    Queue ready, asleep;
    std::vector<Warp> warps;
    Barrier all;
    Queue waiting;  // for an earlier grid
    unsigned waiters;
    bool any[2] = {};
    unsigned threads, next_thread, alive, started;
};

static Block *now;
static void (*running)(void **);
static void **arguments;

alignas(16) unsigned long long dense[(227 << 10) / 8];

static void go_on(Place *from, Fiber *fiber) {
    now->current = fiber;
    threadIdx.x = fiber->thread;
    switch_stacks(from, fiber->here);
}

// Goes on with the next fiber that is ready, or else where the block's fibers are begun.
static void yield() {
    Place *here = &now->current->here;
    if (Fiber *next = now->ready.pop()) return go_on(here, next);
    switch_stacks(here, now->scheduler);
}

// The last one to arrive goes on, and the others are ready.
static void wait(Barrier &barrier, unsigned expected) {
    if (++barrier.arrived < expected) {
        barrier.waiting.push(now->current);
        return yield();
    }
    barrier.arrived = 0;
    barrier.generation++;
    now->ready.take(barrier.waiting);
}

void __syncthreads() { wait(now->all, now->alive); }

int __syncthreads_or(int v) {
    // All have read the one of two before anybody comes to the time after the next.
    bool &any = now->any[now->all.generation % 2];
    any = v != 0 || (any && now->all.arrived > 0);
    wait(now->all, now->alive);
    return any;
}

void __syncwarp(unsigned mask) { wait(now->warps[threadIdx.x / 32].of(mask), __builtin_popcount(mask)); }

void __nanosleep(unsigned) {
    now->asleep.push(now->current);
    yield();
}

const WarpVote &exchange(unsigned mask, uint64_t value) {
    Barrier &barrier = now->warps[threadIdx.x / 32].of(mask);
    WarpVote &given = barrier.given[barrier.generation % 2];
    const unsigned lane = threadIdx.x % 32;
    given.values[lane] = value;
    given.votes = (barrier.arrived > 0 ? given.votes : 0) | (unsigned)(value != 0) << lane;
    wait(barrier, __builtin_popcount(mask));
    return given;
}

static void body() {
    for (;;) {
        while (now->next_thread < now->threads) {
            threadIdx.x = now->current->thread = now->next_thread++;
            running(arguments);
            now->alive--;
        }
        yield();
    }
}

static void start(size_t number) {
    if (number == now->fibers.size()) {
        now->fibers.emplace_back(new Fiber);
        Fiber &fresh = *now->fibers.back();
        fresh.here = beginning(fresh.stack.get(), STACK + STAGGER * (number % STAGGERS), body);
    }
    go_on(&now->scheduler, now->fibers[number].get());
}

static bool let_others();

// Runs a block. Returns whether all threads finished; false if they wait forever, for each other or for another
// block.
static bool run_block(unsigned count, unsigned shared) {
    now->warps.assign((count + 31) / 32, Warp());
    now->all = Barrier();
    now->waiting = Queue();
    now->waiters = 0;
    now->threads = now->alive = count;
    now->next_thread = 0;
    memset(dense, 0xA5, shared);
    now->ready = now->asleep = Queue();
    now->started = 0;
    while (now->alive > 0) {
        if (now->next_thread < count) {
            start(now->started++);
            continue;  // none is ready
        }
        if (!now->asleep.first || !let_others()) {
            now->fibers.clear();
            return false;
        }
        now->ready.take(now->asleep);
        go_on(&now->scheduler, now->ready.pop());
    }
    return true;
}

// ---- a grid ----------------------------------------------------------------------------------

// Blocks run one after another. When a thread sleeps because it waits for another block, the next block begins,
// up to RESIDENT at a time, and these take turns. Each resident block has a host thread of its own, which holds
// its `__shared__` variables, but only one of them runs at a time.
static const unsigned RESIDENT = 4;  // as many as the imaginary GPU says are resident at once
static const unsigned PATIENCE = 1 << 16;  // turns in which no block ends; after these, all wait forever

struct Grid {
    std::mutex lock;
    std::condition_variable turn;
    Block rooms[RESIDENT];
    std::thread hosts[RESIDENT];
    bool busy[RESIDENT];
    unsigned room;  // whose turn it is
    unsigned next, blocks, threads, shared, turns;
    bool failed;
};

// The grid that runs.
static Grid *grid;

static void run_blocks() {
    while (!grid->failed && grid->next < grid->blocks) {
        blockIdx = {grid->next++, 0, 0};
        grid->turns = 0;
        if (!run_block(grid->threads, grid->shared)) grid->failed = true;
    }
}

// The busy room whose turn is next after this one; this one if there is no other.
static unsigned next_busy(unsigned room) {
    unsigned next = room;
    do next = (next + 1) % RESIDENT;
    while (next != room && !grid->busy[next]);
    return next;
}

static void give_turn(unsigned to) {
    grid->room = to;
    now = &grid->rooms[to];
    grid->turn.notify_all();
}

static void await_turn(std::unique_lock<std::mutex> &held, unsigned room) {
    Grid *const mine = grid;  // while this room waits, another grid may run
    mine->turn.wait(held, [=] { return mine->room == room; });
}

// The body of a room's host thread.
static void host(unsigned room) {
    std::unique_lock<std::mutex> held(grid->lock);
    await_turn(held, room);
    run_blocks();
    grid->busy[room] = false;
    give_turn(next_busy(room));
}

// Lets another block run for a while. Returns false if all blocks wait forever.
static bool let_others() {
    const unsigned room = grid->room;
    if (++grid->turns > PATIENCE) grid->failed = true;
    if (grid->failed) return false;
    unsigned to = next_busy(room);
    for (unsigned idle = 0; idle < RESIDENT && grid->next < grid->blocks; idle++) {
        if (grid->busy[idle]) continue;
        grid->busy[idle] = true;
        grid->hosts[idle] = std::thread(host, to = idle);
        break;
    }
    if (to == room) return true;
    const Dim here = blockIdx;
    const std::vector<char> kept((char *)dense, (char *)dense + grid->shared);
    std::unique_lock<std::mutex> held(grid->lock, std::adopt_lock);
    give_turn(to);
    await_turn(held, room);
    held.release();
    blockIdx = here;
    memcpy(dense, kept.data(), kept.size());
    return !grid->failed;
}

// Runs a grid. Returns whether all blocks finished.
static bool run_grid(unsigned blocks, unsigned threads, unsigned shared) {
    std::unique_lock<std::mutex> held(grid->lock);
    grid->next = grid->turns = 0;
    grid->blocks = blocks, grid->threads = threads, grid->shared = shared;
    grid->failed = false;
    grid->busy[0] = true;
    give_turn(0);
    run_blocks();
    while (next_busy(0) != 0) {
        give_turn(next_busy(0));
        await_turn(held, 0);
    }
    held.unlock();
    for (std::thread &host : grid->hosts) {
        if (host.joinable()) host.join();
    }
    return !grid->failed;
}

// ---- launches ---------------------------------------------------------------------------------
// Launches are queued until a call must find their results. Of launches that overlap the last one begins first: its first
// block runs up to where it waits, and sees memory as it was before the launches that it waits for. Only there these run,
// in the same way. What a kernel does before it waits, or without waiting, thus comes too early.

// A kernel, by which it is launched.
struct Kernel {
    std::string name;
    void (*call)(void **);
    std::vector<size_t> sizes;  // of its arguments
    unsigned allowed;           // dynamic shared memory that it has opted into
    unsigned launches;          // since they were last asked for
    bool overlapped;            // since it was last asked for
    bool waits;                 // its PTX waits for earlier grids
};

struct Launch {
    const Kernel *kernel;
    unsigned blocks, threads, shared;
    std::vector<std::vector<char>> values;
    bool begun, failed;
};

// Each of these but the first overlaps with the one before it.
static std::vector<Launch> queued;
static size_t current;  // which of them runs

// The kernel whose last wait is lost, for tests.
static std::string lost;

// Host threads that each launch on their own GPU take turns: a single machine simulates all GPUs.
static std::mutex machine;

static void run_launch(Launch &launch) {
    std::vector<void *> values;
    for (std::vector<char> &value : launch.values) values.push_back(value.data());
    running = launch.kernel->call;
    arguments = values.data();
    gridDim = {launch.blocks, 1, 1};
    blockDim = {launch.threads, 1, 1};
    launch.failed = !run_grid(launch.blocks, launch.threads, launch.shared);
}

// Runs a launch in the middle of another one, on a host thread with `__shared__` variables of its own.
static void run_within(Launch &launch) {
    static std::deque<Grid> grids;
    static size_t depth;
    const auto kept = std::make_tuple(grid, now, running, arguments, threadIdx, blockIdx, blockDim, gridDim);
    const std::vector<unsigned long long> kept_dense(dense, dense + sizeof dense / sizeof *dense);
    if (grids.size() == depth) grids.emplace_back();
    grid = &grids[depth++];
    std::thread(run_launch, std::ref(launch)).join();
    depth--;
    std::tie(grid, now, running, arguments, threadIdx, blockIdx, blockDim, gridDim) = kept;
    memcpy(dense, kept_dense.data(), sizeof dense);
}

// Runs a launch, and those before it where it waits for them, or else behind it.
static void run_queued(size_t at) {
    const size_t outer = current;
    current = at;
    queued[at].begun = true;
    run_within(queued[at]);
    if (at > 0 && !queued[at - 1].begun) run_queued(at - 1);
    current = outer;
}

// All threads of the first block come here before the earlier grid runs.
void wait_for_earlier_grid() {
    const Kernel *kernel = queued[current].kernel;
    const bool last = current + 1 == queued.size() || queued[current + 1].kernel != kernel;
    if (current == 0 || queued[current - 1].begun || !kernel->waits || (last && kernel->name == lost)) return;
    if (++now->waiters < now->alive) {
        now->waiting.push(now->current);
        return yield();
    }
    run_queued(current - 1);
    now->ready.take(now->waiting);
}

static int run_all() {
    bool failed = false;
    if (!queued.empty()) run_queued(queued.size() - 1);
    for (const Launch &launch : queued) failed |= launch.failed;
    queued.clear();
    return failed ? 719 : 0;
}

static int finish() {
    std::lock_guard<std::mutex> turn(machine);
    return run_all();
}

static int launch(void *f, unsigned blocks, unsigned threads, unsigned shared, void **values, bool overlaps) {
    std::lock_guard<std::mutex> turn(machine);
    Kernel *kernel = (Kernel *)f;
    if (blocks == 0 || threads == 0 || threads > 1024 || shared > sizeof dense) return 1;
    if (shared > (48 << 10) && shared > kernel->allowed) return 1;
    if (const int code = overlaps ? 0 : run_all(); code) return code;
    kernel->launches++;
    kernel->overlapped |= overlaps && !queued.empty();
    queued.push_back({kernel, blocks, threads, shared});
    for (size_t size : kernel->sizes) {
        const char *value = (const char *)*values++;
        queued.back().values.emplace_back(value, value + size);
    }
    return 0;
}

// ---- the driver's part --------------------------------------------------------------------

static std::map<std::string, Kernel> &kernels() {
    static std::map<std::string, Kernel> all;
    return all;
}

void add_kernel(const char *name, void (*call)(void **), std::vector<size_t> sizes) {
    kernels()[name] = {name, call, std::move(sizes)};
}

extern "C" {
// The names of the kernels that were launched, and how often, a line each.
const char *fake_launches() {
    static std::string text;
    text.clear();
    for (auto &[name, kernel] : kernels()) {
        if (kernel.launches > 0) text += name + ' ' + std::to_string(kernel.launches) + '\n';
        kernel.launches = 0;
    }
    return text.c_str();
}

// The names of the kernels of which a launch overlapped with the one before it, a line each.
const char *fake_overlaps() {
    static std::string text;
    text.clear();
    for (auto &[name, kernel] : kernels()) {
        if (kernel.overlapped) text += name + '\n';
        kernel.overlapped = false;
    }
    return text.c_str();
}

// Makes the last launch of the kernel of this name go on where it should wait.
void fake_lose_waits(const char *name) { lost = name; }

int cuKernelGetFunction(void **function, void *kernel) {
    auto found = kernels().find((char *)kernel);
    if (found == kernels().end()) return 500;
    found->second.waits = ((char *)kernel)[strlen((char *)kernel) + 1];
    *function = &found->second;
    return 0;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
    if (attribute == 8) ((Kernel *)function)->allowed = value;
    return 0;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *, int, size_t) {
    *n = 1;
    return 0;
}

int cuLaunchKernel(void *f, unsigned gx, unsigned, unsigned, unsigned bx, unsigned, unsigned, unsigned shared,
                   void *, void **values, void **) {
    return launch(f, gx, bx, shared, values, false);
}

int cuLaunchKernelEx(const launch_config *config, void *f, void **values, void **) {
    if (!overlaps(config)) return 1;
    return launch(f, config->grid[0], config->block[0], config->shared, values, true);
}
}
