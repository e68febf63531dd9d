/* A driver for simulated GPUs (one by default) whose memory is the host's. It records launches
 * without running them; `fake_fail` makes one function return a result code. Mapped memory is
 * backed by a file, so that its content appears wherever it is mapped. A driver that runs launches
 * late defines FAKE_FINISH, which runs them before a call that must find their results. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef FAKE_FINISH
#define FAKE_FINISH()
#endif

static char failing[64];
static int failing_with, devices = 1, version = 13000, capability = 9;
static size_t free_bytes = 9ull << 30;
static unsigned raised, launched[3], allocations, overlapped;
static long loaded;
static unsigned opened, which, resets;
static int peers = 1;
static unsigned reserved, handles;
static uint64_t backing[8];
static int persisting = 32 << 20;
/* The limits 5 and 6: bytes that L2 fetches on a miss, and bytes of L2 that are set aside. */
static size_t limits[2] = {64, 0};
/* Names of the compiled kernels, one per line. */
static char compiled[1 << 16];
/* Events recorded and not yet destroyed, and kernels compiled while there were any. */
static int recorded;
static unsigned disturbed;
static pthread_mutex_t compiling = PTHREAD_MUTEX_INITIALIZER;
/* The access policy window of the stream, as cuda.h lays it out. */
static struct {
    void *base;
    size_t bytes;
    float share;
    int hit, miss;
} window;

void fake_reset(void) {
    failing[0] = 0;
    devices = peers = 1;
    capability = 9;
    version = 13000;
    raised = allocations = overlapped = opened = which = resets = 0;
    persisting = 32 << 20;
    limits[0] = 64;
    limits[1] = 0;
    memset(&window, 0, sizeof window);
    memset(backing, 0, sizeof backing);
    recorded = disturbed = compiled[0] = 0;
}
const char *fake_compiled(void) { return compiled; }
void fake_forget(void) { compiled[0] = 0; }
unsigned fake_disturbed(void) { return disturbed; }
void fake_peers(int can) { peers = can; }
unsigned fake_reserved(void) { return reserved; }
unsigned fake_handles(void) { return handles; }
uint64_t fake_backing(int device) { return backing[device]; }
void fake_fail(const char *name, int code) { strncpy(failing, name, 63); failing_with = code; }
void fake_devices(int count) { devices = count; }
void fake_capability(int major) { capability = major; }
void fake_version(int cuda) { version = cuda; }
unsigned fake_launched(int i) { return launched[i]; }
unsigned fake_overlapped(void) { return overlapped; }
unsigned fake_raised(void) { return raised; }
unsigned fake_allocations(void) { return allocations; }
long fake_loaded(void) { return loaded; }
unsigned fake_opened(void) { return opened; }
unsigned fake_which(void) { return which; }
void fake_persisting(int bytes) { persisting = bytes; }
size_t fake_limit(int limit) { return limits[limit - 5]; }
size_t fake_window(void) { return window.bytes; }
int fake_persists(void) { return window.hit == 2 && window.share > 0; }
unsigned fake_resets(void) { return resets; }

/* Loads a PTX text. The library is the name of its kernel, and behind it whether the kernel waits for
 * earlier grids; more than one kernel is an error. */
static char *compile(const char *image) {
    const char *entry = strstr(image, ".entry ");
    if (!entry || strstr(entry + 1, ".entry ")) return NULL;
    const size_t length = strcspn(entry + 7, "( \n");
    char *name = (char *)malloc(length + 2);
    memcpy(name, entry + 7, length);
    name[length] = 0;
    name[length + 1] = strstr(image, "griddepcontrol.wait;") && !strstr(image, ".target sm_7");
    pthread_mutex_lock(&compiling);
    loaded++;
    disturbed += recorded > 0;
    if (strlen(compiled) + strlen(name) + 2 < sizeof compiled) strcat(strcat(compiled, name), "\n");
    pthread_mutex_unlock(&compiling);
    return name;
}

static void unload(char *name) {
    pthread_mutex_lock(&compiling);
    loaded--;
    pthread_mutex_unlock(&compiling);
    free(name);
}

#define CU(name, parameters, ...)                              \
    int name parameters {                                      \
        if (strcmp(failing, #name) == 0) return failing_with;  \
        __VA_ARGS__                                            \
        return 0;                                              \
    }

CU(cuInit, (unsigned flags), if (devices == 0) return 100;)
CU(cuDriverGetVersion, (int *v), *v = version;)
CU(cuDeviceGetCount, (int *n), *n = devices;)
CU(cuDeviceGet, (int *device, int i), *device = i;)
CU(cuDeviceGetName, (char *name, int n, int d), strncpy(name, "Imaginary GPU", n);)
CU(cuDeviceTotalMem_v2, (size_t *bytes, int d), *bytes = 10ull << 30;)
CU(cuDeviceGetAttribute, (int *v, int attribute, int d), switch (attribute) {
    case 16: *v = 4; break;              /* multiprocessors */
    case 38: *v = 50 << 20; break;       /* L2 */
    case 75: *v = capability; break;     /* compute capability, major */
    case 76: *v = 0; break;              /* and minor */
    case 97: *v = 227 << 10; break;      /* shared memory per block, opted in */
    case 32: *v = 1; break;              /* ECC */
    case 102: *v = 1; break;             /* virtual memory management */
    case 108: *v = persisting; break;    /* L2 that can be set aside */
    case 109: *v = 1 << 20; break;       /* largest window */
    default: *v = 1024;
})
CU(cuDevicePrimaryCtxRetain, (void **context, int d), *context = &devices; opened++; which |= 1u << d;)
CU(cuDevicePrimaryCtxRelease_v2, (int d))
CU(cuCtxSetCurrent, (void *context))
CU(cuCtxGetLimit, (size_t *value, int limit), if (limit < 5) return 215; *value = limits[limit - 5];)
/* L2 sets aside multiples of 2 MiB. */
CU(cuCtxSetLimit, (int limit, size_t value), if (limit < 5) return 215;
   if (limit == 6) value = (value + (2 << 20) - 1) / (2 << 20) * (2 << 20); limits[limit - 5] = value;)
CU(cuCtxResetPersistingL2Cache, (void), resets++;)
CU(cuStreamSetAttribute, (void *stream, int attribute, const void *value),
   if (attribute != 1) return 1; memcpy(&window, value, sizeof window);)
CU(cuStreamCreateWithPriority, (void **stream, unsigned f, int p), *stream = &version;)
CU(cuStreamSynchronize, (void *stream), FAKE_FINISH();)
CU(cuStreamDestroy_v2, (void *stream), FAKE_FINISH();)
CU(cuMemGetInfo_v2, (size_t *free, size_t *total), *free = free_bytes; *total = 10ull << 30;)
CU(cuMemAlloc_v2, (uint64_t *p, size_t n),
   if (n > free_bytes) return 2; *p = (uint64_t)(uintptr_t)malloc(n); allocations++;)
CU(cuMemFree_v2, (uint64_t p), FAKE_FINISH(); free((void *)(uintptr_t)p); allocations--;)
CU(cuMemAllocHost_v2, (void **p, size_t n), *p = malloc(n);)
CU(cuMemFreeHost, (void *p), free(p);)
CU(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t n, void *s),
   FAKE_FINISH(); memcpy((void *)(uintptr_t)to, from, n);)
CU(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t n, void *s),
   FAKE_FINISH(); memcpy(to, (void *)(uintptr_t)from, n);)
CU(cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t n, void *s),
   FAKE_FINISH(); memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, n);)
CU(cuMemsetD32Async, (uint64_t p, uint32_t word, size_t n, void *s),
   FAKE_FINISH(); for (size_t i = 0; i < n; i++) ((uint32_t *)(uintptr_t)p)[i] = word;)
CU(cuDeviceCanAccessPeer, (int *can, int d, int peer), *can = peers;)

struct place { int type, id; };
struct memory { int type, shared; struct place place; void *windows; unsigned char flags[8]; };
struct access { struct place place; int flags; };
#define AT(p) ((void *)(uintptr_t)(p))

/* Each allocation of device memory is a file; the file descriptor is its handle. */
CU(cuMemGetAllocationGranularity, (size_t *n, const struct memory *m, int option), *n = 4096;)
CU(cuMemAddressReserve, (uint64_t *p, size_t n, size_t alignment, uint64_t at, unsigned long long flags),
   void *range = mmap(0, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
   if (n % 4096 || range == MAP_FAILED) return 1; *p = (uint64_t)(uintptr_t)range; reserved++;)
CU(cuMemAddressFree, (uint64_t p, size_t n), if (munmap(AT(p), n)) return 1; reserved--;)
CU(cuMemCreate, (uint64_t *handle, size_t n, const struct memory *m, unsigned long long flags),
   if (n % 4096 || m->type != 1 || m->place.type != 1 || m->place.id >= devices) return 1;
   if (n > free_bytes) return 2;
   int file = memfd_create("gpu", 0); if (file < 0 || ftruncate(file, n)) return 1;
   *handle = file; handles++; backing[m->place.id] += n;)
CU(cuMemRelease, (uint64_t handle), if (close((int)handle)) return 1; handles--;)
CU(cuMemMap, (uint64_t p, size_t n, size_t offset, uint64_t handle, unsigned long long flags),
   if (mmap(AT(p), n, PROT_NONE, MAP_SHARED | MAP_FIXED, (int)handle, offset) == MAP_FAILED) return 1;)
CU(cuMemUnmap, (uint64_t p, size_t n),
   if (mmap(AT(p), n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) return 1;)
CU(cuMemSetAccess, (uint64_t p, size_t n, const struct access *all, size_t count),
   if ((int)count > devices || all[0].flags != 3 || mprotect(AT(p), n, PROT_READ | PROT_WRITE)) return 1;)
CU(cuLibraryLoadData, (void **library, const char *image, void *jit, void **values, unsigned jits, void *options,
                       void **their_values, unsigned count),
   if (!(*library = compile(image))) return 218;)
CU(cuLibraryUnload, (void *library), unload((char *)library);)
CU(cuLibraryGetKernel, (void **kernel, void *library, const char *name),
   if (strcmp((char *)library, name)) return 500; *kernel = library;)
CU(cuKernelGetFunction, (void **function, void *kernel), *function = &launched;)
CU(cuFuncSetAttribute, (void *function, int attribute, int value), if (attribute == 8) raised = value;)
CU(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *n, void *f, int block, size_t shared), *n = 2048 / block;)
CU(cuLaunchKernel, (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                    unsigned shared, void *stream, void **values, void **extra),
   launched[0] = gx; launched[1] = bx; launched[2] = shared;)

struct launch_attribute { int id, pad, value, rest[15]; };
struct launch_config {
    unsigned grid[3], block[3], shared;
    void *stream;
    const struct launch_attribute *attributes;
    unsigned count;
};
/* The one attribute that the program sets: the launch may overlap with the one before it. */
static int overlaps(const struct launch_config *config) {
    return config->count == 1 && config->attributes->id == 6 && config->attributes->value == 1;
}
CU(cuLaunchKernelEx, (const struct launch_config *config, void *f, void **values, void **extra),
   if (!overlaps(config)) return 1;
   launched[0] = config->grid[0]; launched[1] = config->block[0]; launched[2] = config->shared; overlapped++;)
CU(cuEventCreate, (void **event, unsigned flags), *event = &raised;)
CU(cuEventRecord, (void *event, void *stream), FAKE_FINISH(); __atomic_add_fetch(&recorded, 1, __ATOMIC_SEQ_CST);)
CU(cuEventSynchronize, (void *event), FAKE_FINISH();)
CU(cuEventElapsedTime, (float *ms, void *start, void *end), *ms = 0.25f;)
CU(cuEventDestroy_v2, (void *event), __atomic_store_n(&recorded, 0, __ATOMIC_SEQ_CST);)
