/* NVIDIA's management library for the simulated GPU. After NVML_GONE calls for a clock it reports
 * that the GPU is lost. */
#include <stdlib.h>

enum { OK = 0, NOT_SUPPORTED = 3, GPU_IS_LOST = 15 };
static int device, asked;

static int gone(void) {
    const char *after = getenv("NVML_GONE");
    return after && asked >= atoi(after);
}

int nvmlInit_v2(void) { return OK; }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) { return code == GPU_IS_LOST ? "GPU is lost" : "not supported"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **handle) {
    *handle = &device;
    return gone() ? GPU_IS_LOST : OK;
}
int nvmlDeviceGetHandleByUUID(const char *uuid, void **handle) {
    const char *instance = getenv("NVML_INSTANCE");
    *handle = &device;
    const int known = instance && uuid[0] == 'M';
    return known ? OK : 6; /* not found */
}
int nvmlDeviceGetName(void *d, char *name, unsigned length) {
    const char *text = "Imaginary GPU MIG 1g.10gb";
    unsigned i = 0;
    for (; i + 1 < length && text[i]; i++) name[i] = text[i];
    name[i] = 0;
    return OK;
}
int nvmlDeviceGetMaxClockInfo(void *d, int clock, unsigned *mhz) { *mhz = 1980; return OK; }
int nvmlDeviceGetClockInfo(void *d, int clock, unsigned *mhz) {
    asked++;
    *mhz = clock == 2 ? 3201 : 1755;
    return gone() ? GPU_IS_LOST : OK;
}
int nvmlDeviceGetPowerUsage(void *d, unsigned *milliwatts) { *milliwatts = 250500; return gone() ? GPU_IS_LOST : OK; }
int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *degrees) { *degrees = 41; return gone() ? GPU_IS_LOST : OK; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *reasons) {
    *reasons = 0;
    return gone() ? GPU_IS_LOST : OK;
}
int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *millijoules) {
    static unsigned long long used;
    *millijoules = used += 1000;
    return gone() ? GPU_IS_LOST : OK;
}
struct violation { unsigned long long reference, time; };
int nvmlDeviceGetViolationStatus(void *d, int policy, struct violation *told) {
    static unsigned long long held;
    told->reference = 0;
    told->time = policy == 0 ? held += 5000000 : 0; /* power */
    return gone() ? GPU_IS_LOST : OK;
}
struct memory { unsigned version; unsigned long long total, reserved, free, used; };
int nvmlDeviceGetMemoryInfo_v2(void *d, struct memory *memory) {
    memory->total = 10ull << 30;
    memory->used = 1ull << 30;
    return gone() ? GPU_IS_LOST : OK;
}
int nvmlDeviceGetMigMode(void *d, unsigned *now, unsigned *then) {
    *now = *then = getenv("NVML_INSTANCE") != NULL;
    return OK;
}
