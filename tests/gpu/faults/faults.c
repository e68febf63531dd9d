/* A driver that is linked to another one, forwards every call, and makes one of them fail, as
 * controlled by the environment:
 *   FAULT_CALL    the function that fails, such as cuMemAlloc_v2
 *   FAULT_AT      number of the failing call, from 1; without it every call fails
 *   FAULT_KERNEL  counting starts once a kernel whose name begins with this has been launched
 *   FAULT_ONCE    a file: only the first process fails, and creates the file
 *   FAULT_GONE    result code of cuInit in the processes after the first
 *   FAULT_DOES    a result code, or hang, crash, garbage (in the first array of FAULT_KERNEL);
 *                 on a real device also wild (a launch with its first array elsewhere) and
 *                 spin (a kernel before that call, which never ends)
 *   FAULT_FREE    bytes that are free on the device
 *   FAULT_CUDA    the driver's version, as returned by cuDriverGetVersion
 * After a code that, according to CUDA, a context does not survive, every further call returns it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *driver, *watched;
static void *watched_kernel;
static int dead, launched, calls, wild;

typedef int Launch(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);

static void *next(const char *name) {
    if (!driver) driver = dlopen(getenv("FAULT_DRIVER"), RTLD_NOW | RTLD_LOCAL);
    return driver ? dlsym(driver, name) : NULL;
}

static const char *said(const char *variable) {
    const char *value = getenv(variable);
    return value ? value : "";
}

static int due(const char *name) {
    if (strcmp(said("FAULT_CALL"), name) != 0 || (*said("FAULT_KERNEL") && !launched)) return 0;
    calls++;
    if (*said("FAULT_AT") && calls != atoi(said("FAULT_AT"))) return 0;
    const char *once = said("FAULT_ONCE");
    return !*once || open(once, O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0;
}

static int survived(int code) { return code < 700 && code != 46 && code != 214; }

/* Later work in streams that synchronize with the default one, as the program's does, waits forever. */
static void spin(void) {
    static const char *ptx = ".version 6.0\n.target sm_50\n.address_size 64\n"
                             ".visible .entry spin() {\nAGAIN:\n bar.sync 0;\n bra.uni AGAIN;\n}\n";
    int (*const load)(void **, const void *) = (int (*)(void **, const void *))next("cuModuleLoadData");
    int (*const get)(void **, void *, const char *) =
        (int (*)(void **, void *, const char *))next("cuModuleGetFunction");
    Launch *const launch = (Launch *)next("cuLaunchKernel");
    void *module, *function;
    if (load && get && launch && !load(&module, ptx) && !get(&function, module, "spin"))
        launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

static int fault(const char *name) {
    if (dead) return dead;
    if (strcmp(name, "cuInit") == 0 && *said("FAULT_GONE") && access(said("FAULT_ONCE"), F_OK) == 0)
        return atoi(said("FAULT_GONE"));
    if (!due(name)) return 0;
    const char *does = said("FAULT_DOES");
    if (strcmp(does, "hang") == 0)
        for (;;) pause();
    if (strcmp(does, "crash") == 0) *(volatile int *)NULL = 0;
    if (strcmp(does, "spin") == 0) spin();
    wild = strcmp(does, "wild") == 0;
    const int code = atoi(does);
    if (!survived(code)) dead = code;
    return code;
}

#define PASS(name, parameters, arguments)                          \
    int name parameters {                                          \
        const int code = fault(#name);                             \
        if (code) return code;                                     \
        int(*const passed) parameters = (int(*) parameters)next(#name); \
        return passed ? passed arguments : 500;                    \
    }

PASS(cuInit, (unsigned flags), (flags))
PASS(cuDeviceGetCount, (int *n), (n))
PASS(cuDevicePrimaryCtxRetain, (void **context, int d), (context, d))
PASS(cuMemAlloc_v2, (uint64_t *p, size_t n), (p, n))
PASS(cuMemFree_v2, (uint64_t p), (p))
PASS(cuMemAllocHost_v2, (void **p, size_t n), (p, n))
PASS(cuMemFreeHost, (void *p), (p))
PASS(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t n, void *s), (to, from, n, s))
PASS(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t n, void *s), (to, from, n, s))
PASS(cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t n, void *s), (to, from, n, s))
PASS(cuMemsetD32Async, (uint64_t p, uint32_t word, size_t n, void *s), (p, word, n, s))
PASS(cuLibraryLoadData,
     (void **l, const void *image, void *a, void **b, unsigned c, void *d, void **e, unsigned f),
     (l, image, a, b, c, d, e, f))
PASS(cuLibraryUnload, (void *l), (l))
PASS(cuStreamSynchronize, (void *s), (s))
PASS(cuStreamDestroy_v2, (void *s), (s))
PASS(cuEventCreate, (void **e, unsigned flags), (e, flags))
PASS(cuEventRecord, (void *e, void *s), (e, s))
PASS(cuEventSynchronize, (void *e), (e))
PASS(cuEventElapsedTime, (float *ms, void *start, void *end), (ms, start, end))
PASS(cuEventDestroy_v2, (void *e), (e))

int cuDriverGetVersion(int *version) {
    *version = *said("FAULT_CUDA") ? atoi(said("FAULT_CUDA")) : 13000;
    return fault("cuDriverGetVersion");
}

int cuDeviceGetUuid_v2(unsigned char *uuid, int device) {
    for (int i = 0; i < 16; i++) uuid[i] = 0x10 * i;
    return fault("cuDeviceGetUuid_v2");
}

int cuMemGetInfo_v2(size_t *free, size_t *total) {
    int (*const passed)(size_t *, size_t *) = (int (*)(size_t *, size_t *))next("cuMemGetInfo_v2");
    const int code = fault("cuMemGetInfo_v2");
    if (code || !passed) return code ? code : 500;
    const int answer = passed(free, total);
    if (*said("FAULT_FREE")) *free = strtoull(said("FAULT_FREE"), NULL, 10);
    return answer;
}

int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
    int (*const passed)(void **, void *, const char *) =
        (int (*)(void **, void *, const char *))next("cuLibraryGetKernel");
    const int code = fault("cuLibraryGetKernel");
    if (code || !passed) return code ? code : 500;
    const int answer = passed(kernel, library, name);
    const char *named = said("FAULT_KERNEL");
    if (answer == 0 && *named && strncmp(named, name, strlen(named)) == 0) watched_kernel = *kernel;
    return answer;
}

int cuKernelGetFunction(void **function, void *kernel) {
    int (*const passed)(void **, void *) = (int (*)(void **, void *))next("cuKernelGetFunction");
    const int code = fault("cuKernelGetFunction");
    if (code || !passed) return code ? code : 500;
    const int answer = passed(function, kernel);
    if (answer == 0 && watched_kernel && kernel == watched_kernel) watched = *function;
    return answer;
}

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **values, void **extra) {
    const int ours = watched && f == watched;
    launched |= ours;
    const int code = fault("cuLaunchKernel");
    Launch *const passed = (Launch *)next("cuLaunchKernel");
    if (code || !passed) return code ? code : 500;
    uint64_t elsewhere;
    void *const first = wild ? values[0] : NULL;
    if (wild) {
        elsewhere = *(uint64_t *)first + (1ull << 45);
        values[0] = &elsewhere;
    }
    const int answer = passed(f, gx, gy, gz, bx, by, bz, shared, stream, values, extra);
    if (wild) values[0] = first;
    wild = 0;
    if (ours && strcmp(said("FAULT_DOES"), "garbage") == 0) {
        int (*const finished)(void *) = (int (*)(void *))next("cuStreamSynchronize");
        if (finished && !finished(stream)) **(uint64_t **)values[0] ^= 1;
    }
    return answer;
}
