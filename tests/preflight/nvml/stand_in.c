/* Stands in for libnvidia-ml.so.1, so that the real nvidia-ml-py runs where there is no GPU.
 *
 * What it answers stands in the text file that STAND_IN_STATE names, which is read again at each call:
 *     count = 2                     0.name = NVIDIA A100-SXM4-80GB     (card 0)
 *     fail.nvmlDeviceGetName = 15   that call returns this NVML error, on every card
 *     1.fail.nvmlDeviceGetName = 15 on card 1 alone
 *     hang = nvmlDeviceGetName      that call never returns
 *     slow_ms = 3000                every call takes so long
 *     0.xid = 79                    card 0 delivers this Xid, once for each value of 0.xid_number
 *
 * Build: gcc -shared -fPIC -o libnvidia-ml.so.1 stand_in.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned int u32;
typedef unsigned long long u64;
enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID = 2, TOO_SMALL = 7, TIMED_OUT = 10 };
enum { MOST_CARDS = 16, ALL = -1, XID_EVENTS = 8 };

typedef struct { int index; } card_t;
static card_t cards[MOST_CARDS];
static int initialized;
static u64 listening, delivered[MOST_CARDS];

/* ---- the state ---- */

static int find(int card, const char *prefix, const char *key, char *value, size_t room) {
    char name[128], line[512];
    const char *path = getenv("STAND_IN_STATE");
    FILE *file = path ? fopen(path, "r") : NULL;
    int found = 0;
    if (!file) return 0;
    if (card == ALL) snprintf(name, sizeof name, "%s%s", prefix, key);
    else snprintf(name, sizeof name, "%d.%s%s", card, prefix, key);
    while (fgets(line, sizeof line, file)) {
        char *sign = strstr(line, " = ");
        if (!sign || strlen(name) != (size_t)(sign - line) || strncmp(line, name, sign - line)) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(value, room, "%s", sign + 3);
        found = 1;
    }
    fclose(file);
    return found;
}

static u64 number(int card, const char *key, u64 usual) {
    char value[256];
    return find(card, "", key, value, sizeof value) ? strtoull(value, NULL, 0) : usual;
}

/* Each call begins here: it may be slow, hang or fail, as the state says. */
static int begin(int card, const char *call) {
    char value[256];
    if (find(ALL, "", "slow_ms", value, sizeof value)) usleep((useconds_t)atoi(value) * 1000);
    if (find(ALL, "", "hang", value, sizeof value) && !strcmp(value, call)) for (;;) pause();
    if (find(ALL, "fail.", call, value, sizeof value)) return atoi(value);
    if (card != ALL && find(card, "fail.", call, value, sizeof value)) return atoi(value);
    if (card != ALL && find(card, "fail.", "all", value, sizeof value)) return atoi(value);
    return initialized || !strncmp(call, "nvmlInit", 8) ? SUCCESS : UNINITIALIZED;
}

static int text(int card, const char *call, const char *key, const char *usual, char *out, u32 room) {
    char value[256];
    int code = begin(card, call);
    if (code) return code;
    if (!find(card, "", key, value, sizeof value)) snprintf(value, sizeof value, "%s", usual);
    if (strlen(value) >= room) return TOO_SMALL;
    strcpy(out, value);
    return SUCCESS;
}

#define API __attribute__((visibility("default"))) int
#define COUNTED(CALL, KEY, USUAL) API CALL(card_t *c, u32 *out) \
    { int code = begin(c->index, #CALL); if (!code) *out = (u32)number(c->index, KEY, USUAL); return code; }
#define SPELLED(CALL, KEY, USUAL) API CALL(card_t *c, char *out, u32 room) \
    { return text(c->index, #CALL, KEY, USUAL, out, room); }

/* ---- library, driver, cards ---- */

API nvmlInitWithFlags(u32 flags) {
    int code = begin(ALL, "nvmlInitWithFlags");
    (void)flags;
    for (int at = 0; at < MOST_CARDS; at++) cards[at].index = at;
    initialized += !code;
    return code;
}
API nvmlShutdown(void) { initialized = 0; return SUCCESS; }
__attribute__((visibility("default"))) const char *nvmlErrorString(int code) { (void)code; return "an error"; }
API nvmlSystemGetDriverVersion(char *o, u32 n) { return text(ALL, "nvmlSystemGetDriverVersion", "driver", "580.65.06", o, n); }
API nvmlSystemGetCudaDriverVersion_v2(int *out) {
    int code = begin(ALL, "nvmlSystemGetCudaDriverVersion_v2");
    if (!code) *out = (int)number(ALL, "cuda", 13000);
    return code;
}
API nvmlSystemGetCudaDriverVersion(int *out) { return nvmlSystemGetCudaDriverVersion_v2(out); }
API nvmlDeviceGetCount_v2(u32 *out) {
    int code = begin(ALL, "nvmlDeviceGetCount_v2");
    if (!code) *out = (u32)number(ALL, "count", 1);
    return code;
}
API nvmlDeviceGetHandleByIndex_v2(u32 index, card_t **out) {
    int code = begin((int)index, "nvmlDeviceGetHandleByIndex_v2");
    if (!code && index >= number(ALL, "count", 1)) return INVALID;
    if (!code) *out = &cards[index];
    return code;
}
API nvmlDeviceGetIndex(card_t *c, u32 *out) { *out = (u32)c->index; return begin(c->index, "nvmlDeviceGetIndex"); }
SPELLED(nvmlDeviceGetName, "name", "NVIDIA A100-SXM4-80GB")
SPELLED(nvmlDeviceGetSerial, "serial", "1320000000001")
SPELLED(nvmlDeviceGetVbiosVersion, "vbios", "92.00.45.00.03")
API nvmlDeviceGetUUID(card_t *c, char *out, u32 room) {
    char usual[64];
    snprintf(usual, sizeof usual, "GPU-00000000-0000-0000-0000-%012d", c->index);
    return text(c->index, "nvmlDeviceGetUUID", "uuid", usual, out, room);
}
typedef struct { char legacy[16]; u32 domain, bus, device, id, subsystem; char bus_id[32]; } pci_t;
API nvmlDeviceGetPciInfo_v3(card_t *c, pci_t *out) {
    int code = begin(c->index, "nvmlDeviceGetPciInfo_v3");
    if (code) return code;
    memset(out, 0, sizeof *out);
    out->id = (u32)number(c->index, "pci", 0x20B210DE);
    return code;
}
API nvmlDeviceGetCudaComputeCapability(card_t *c, int *major, int *minor) {
    int code = begin(c->index, "nvmlDeviceGetCudaComputeCapability"), told = (int)number(c->index, "capability", 80);
    *major = told / 10;
    *minor = told % 10;
    return code;
}

/* ---- memory and its errors ---- */

typedef struct { u64 total, free, used; } memory_t;
API nvmlDeviceGetMemoryInfo(card_t *c, memory_t *out) {
    int code = begin(c->index, "nvmlDeviceGetMemoryInfo");
    out->total = number(c->index, "memory", 85899345920ULL);
    out->used = number(c->index, "used", 600ULL << 20);
    out->free = out->total - out->used;
    return code;
}
API nvmlDeviceGetEccMode(card_t *c, u32 *now, u32 *pending) {
    int code = begin(c->index, "nvmlDeviceGetEccMode");
    *now = *pending = (u32)number(c->index, "ecc", 1);
    return code;
}
API nvmlDeviceGetTotalEccErrors(card_t *c, int type, int span, u64 *out) {
    int code = begin(c->index, "nvmlDeviceGetTotalEccErrors");
    *out = type ? number(c->index, span ? "ecc_aggregate" : "ecc_volatile", 0) : 0;
    return code;
}
API nvmlDeviceGetRemappedRows(card_t *c, u32 *corrected, u32 *uncorrected, u32 *pending, u32 *failed) {
    int code = begin(c->index, "nvmlDeviceGetRemappedRows");
    *corrected = (u32)number(c->index, "rows_corrected", 0);
    *uncorrected = (u32)number(c->index, "rows_uncorrected", 0);
    *pending = (u32)number(c->index, "rows_pending", 0);
    *failed = (u32)number(c->index, "rows_failed", 0);
    return code;
}

/* ---- load, heat, power, clocks, link, modes ---- */

typedef struct { u32 gpu, memory; } use_t;
API nvmlDeviceGetUtilizationRates(card_t *c, use_t *out) {
    int code = begin(c->index, "nvmlDeviceGetUtilizationRates");
    out->gpu = (u32)number(c->index, "use", 0);
    out->memory = 0;
    return code;
}
API nvmlDeviceGetTemperature(card_t *c, int sensor, u32 *out) {
    (void)sensor;
    *out = (u32)number(c->index, "temperature", 35);
    return begin(c->index, "nvmlDeviceGetTemperature");
}
typedef struct { u32 version; int sensor, temperature; } degrees_t;
API nvmlDeviceGetTemperatureV(card_t *c, degrees_t *out) {
    out->temperature = (int)number(c->index, "temperature", 35);
    return begin(c->index, "nvmlDeviceGetTemperatureV");
}
API nvmlDeviceGetTemperatureThreshold(card_t *c, int kind, u32 *out) {
    *out = (u32)number(c->index, kind ? "slowdown_at" : "shutdown_at", kind ? 89 : 92);
    return begin(c->index, "nvmlDeviceGetTemperatureThreshold");
}
COUNTED(nvmlDeviceGetEnforcedPowerLimit, "power_limit", 400000)
COUNTED(nvmlDeviceGetPowerManagementDefaultLimit, "power_default", 400000)
API nvmlDeviceGetClockInfo(card_t *c, int kind, u32 *out) {
    (void)kind;
    *out = (u32)number(c->index, "clock", 1410);
    return begin(c->index, "nvmlDeviceGetClockInfo");
}
API nvmlDeviceGetMaxClockInfo(card_t *c, int kind, u32 *out) {
    (void)kind;
    *out = (u32)number(c->index, "clock_max", 1410);
    return begin(c->index, "nvmlDeviceGetMaxClockInfo");
}
API nvmlDeviceGetCurrentClocksEventReasons(card_t *c, u64 *out) {
    *out = number(c->index, "throttle", 1);
    return begin(c->index, "nvmlDeviceGetCurrentClocksEventReasons");
}
API nvmlDeviceGetCurrentClocksThrottleReasons(card_t *c, u64 *out) { return nvmlDeviceGetCurrentClocksEventReasons(c, out); }
COUNTED(nvmlDeviceGetCurrPcieLinkGeneration, "link_gen", 4)
COUNTED(nvmlDeviceGetMaxPcieLinkGeneration, "link_gen_max", 4)
COUNTED(nvmlDeviceGetCurrPcieLinkWidth, "link_width", 16)
COUNTED(nvmlDeviceGetMaxPcieLinkWidth, "link_width_max", 16)
COUNTED(nvmlDeviceGetPcieReplayCounter, "replays", 0)
COUNTED(nvmlDeviceGetPersistenceMode, "persistence", 1)
COUNTED(nvmlDeviceGetComputeMode, "compute_mode", 0)
API nvmlDeviceGetMigMode(card_t *c, u32 *now, u32 *pending) {
    *now = *pending = (u32)number(c->index, "mig", 0);
    return begin(c->index, "nvmlDeviceGetMigMode");
}

/* ---- who else is there: 0.process = 4242 ---- */

typedef struct { u32 pid; u64 used; u32 instance, compute; } process_t;
API nvmlDeviceGetComputeRunningProcesses_v3(card_t *c, u32 *count, process_t *out) {
    int code = begin(c->index, "nvmlDeviceGetComputeRunningProcesses_v3");
    u32 pid = (u32)number(c->index, "process", 0), room = out ? *count : 0;
    if (code) return code;
    *count = pid != 0;
    if (pid && !room) return TOO_SMALL;
    if (pid) out[0] = (process_t){pid, 1 << 30, 0xFFFFFFFFu, 0xFFFFFFFFu};
    return SUCCESS;
}
API nvmlDeviceGetGraphicsRunningProcesses_v3(card_t *c, u32 *count, process_t *out) {
    (void)out;
    *count = 0;
    return begin(c->index, "nvmlDeviceGetGraphicsRunningProcesses_v3");
}

/* ---- events ---- */

typedef struct { card_t *card; u64 type, data; u32 instance, compute; } event_t;
API nvmlEventSetCreate(void **set) { *set = &listening; return begin(ALL, "nvmlEventSetCreate"); }
API nvmlEventSetFree(void *set) { (void)set; return begin(ALL, "nvmlEventSetFree"); }
API nvmlDeviceRegisterEvents(card_t *c, u64 types, void *set) {
    int code = begin(c->index, "nvmlDeviceRegisterEvents");
    (void)set;
    if (!code) listening |= types;
    return code;
}
API nvmlEventSetWait_v2(void *set, event_t *out, u32 wait_ms) {
    int code = begin(ALL, "nvmlEventSetWait_v2");
    (void)set;
    for (u32 waited = 0; !code; waited += 10) {
        for (int at = 0; at < (int)number(ALL, "count", 1) && at < MOST_CARDS; at++) {
            u64 xid = number(at, "xid", 0), which = number(at, "xid_number", 1);
            if (!xid || which == delivered[at] || !(listening & XID_EVENTS)) continue;
            delivered[at] = which;
            *out = (event_t){&cards[at], XID_EVENTS, xid, 0xFFFFFFFFu, 0xFFFFFFFFu};
            return SUCCESS;
        }
        if (waited >= wait_ms) return TIMED_OUT;
        usleep(10000);
    }
    return code;
}
