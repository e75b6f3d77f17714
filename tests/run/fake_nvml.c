/* A stand-in for libnvidia-ml.so.1, so that the real client library runs without a GPU.
 *
 * FAKE_NVML names a text file that is read at every call: lines `name value`, with the names below. Two
 * cards of one kind; `second_lost 1` takes the second from the bus; `sleep N` makes each call to a card hang.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, NOT_SUPPORTED = 3, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15 };

static struct card { int number; } cards[2] = {{0}, {1}};

static unsigned long long fact(const char *name, unsigned long long otherwise) {
    const char *path = getenv("FAKE_NVML");
    FILE *file = path ? fopen(path, "r") : NULL;
    char found[64];
    unsigned long long value;
    if (!file) return otherwise;
    while (fscanf(file, "%63s %llu", found, &value) == 2)
        if (!strcmp(found, name)) otherwise = value;
    fclose(file);
    return otherwise;
}

static int card_state(const struct card *card) {
    sleep((unsigned)fact("sleep", 0));
    return card->number == 1 && fact("second_lost", 0) ? GPU_IS_LOST : OK;
}

int nvmlInitWithFlags(unsigned flags) { (void)flags; return fact("no_driver", 0) ? DRIVER_NOT_LOADED : OK; }
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) { return code == DRIVER_NOT_LOADED ? "Driver Not Loaded" : "error"; }

int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return OK; }
int nvmlDeviceGetHandleByIndex_v2(unsigned number, struct card **card) { *card = &cards[number]; return OK; }

int nvmlDeviceGetName(struct card *card, char *name, unsigned size) {
    snprintf(name, size, "NVIDIA Stand-In");
    return card_state(card);
}
int nvmlDeviceGetUUID(struct card *card, char *uuid, unsigned size) {
    snprintf(uuid, size, "GPU-%d", card->number);
    return card_state(card);
}

struct memory { unsigned long long total, free, used; };
int nvmlDeviceGetMemoryInfo(struct card *card, struct memory *memory) {
    memory->total = 24ULL << 30;
    memory->used = fact("memory_used", 0);
    memory->free = memory->total - memory->used;
    return card_state(card);
}
struct use { unsigned gpu, memory; };
int nvmlDeviceGetUtilizationRates(struct card *card, struct use *use) {
    use->gpu = (unsigned)fact("use_percent", 0);
    use->memory = 0;
    return card_state(card);
}
int nvmlDeviceGetPowerUsage(struct card *card, unsigned *milliwatts) {
    (void)card;
    (void)milliwatts;
    return NOT_SUPPORTED;
}
int nvmlDeviceGetEnforcedPowerLimit(struct card *card, unsigned *milliwatts) {
    *milliwatts = 450000;
    return card_state(card);
}
int nvmlDeviceGetTemperature(struct card *card, int sensor, unsigned *degrees) {
    (void)sensor;
    *degrees = (unsigned)fact("temperature", 40);
    return card_state(card);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(struct card *card, unsigned long long *reasons) {
    *reasons = fact("reasons", 0);
    return card_state(card);
}
