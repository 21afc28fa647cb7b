/* tests/cuda/runtime_properties.cc — properties of an emulated device. Its compute capability is
 * 9.0 unless set otherwise, with the limits of that. Its clock and bus are those of no real
 * device. */
#include "tests/cuda/runtime.h"

#include <stdio.h>
#include <stdlib.h>

/* Of a multiprocessor ("Technical Specifications per Compute Capability" of the programming guide);
 * a block can have 1 KiB less, or before 8.0 all of it. */
static int shared_bytes_of(int capability)
{
    static const struct {
        int capability, kib;
    } first[] = {{120, 100}, {90, 228}, {89, 100}, {88, 100}, {87, 164}, {86, 100}, {80, 164}};

    for (const auto &f : first)
        if (capability >= f.capability)
            return f.kib << 10;
    return 64 << 10;
}

int pp_shared_bytes_of_block(void)
{
    const int capability = pp_runtime().capability;

    return shared_bytes_of(capability) - (capability >= 80 ? 1 << 10 : 0);
}

/* -1: not emulated. */
static int value_of(enum cudaDeviceAttr attribute)
{
    static const int capability = pp_runtime().capability;
    static const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } attributes[] = {
        {cudaDevAttrMultiProcessorCount, PP_EMULATED_SMS},
        {cudaDevAttrCanMapHostMemory, 1},
        {cudaDevAttrMemoryClockRate, 1000000},
        {cudaDevAttrGlobalMemoryBusWidth, 1024},
        {cudaDevAttrL2CacheSize, 1 << 20},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrCanFlushRemoteWrites, 0},
        {cudaDevAttrComputeCapabilityMajor, capability / 10},
        {cudaDevAttrComputeCapabilityMinor, capability % 10},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, shared_bytes_of(capability)},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, pp_shared_bytes_of_block()},
    };

    for (const auto &a : attributes)
        if (a.attribute == attribute)
            return a.value;
    return -1;
}

static bool is_device(int device)
{
    return device >= 0 && device < pp_runtime().devices;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    return pp_call([&](auto &) {
        if (!is_device(device))
            return cudaErrorInvalidDevice;
        *value = value_of(attribute);
        return *value < 0 ? cudaErrorInvalidValue : cudaSuccess;
    });
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    return pp_call([&](auto &) {
        const char *name = getenv("PP_EMULATED_NAME");
        if (!is_device(device))
            return cudaErrorInvalidDevice;
        *p = {};
        if (name)
            snprintf(p->name, sizeof p->name, "%s", name);
        else
            snprintf(p->name, sizeof p->name, "emulated device %d", device);
        p->major = value_of(cudaDevAttrComputeCapabilityMajor);
        p->minor = value_of(cudaDevAttrComputeCapabilityMinor);
        p->multiProcessorCount = value_of(cudaDevAttrMultiProcessorCount);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    return pp_call([&](auto &) {
        if (!is_device(device))
            return cudaErrorInvalidDevice;
        if (size < 13)
            return cudaErrorInvalidValue;
        snprintf(text, (size_t)size, "0000:%02X:00.0", pp_runtime().first_device + device + 1);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    return pp_call([&](auto &) {
        *least = 0;
        *greatest = -5;
        return cudaSuccess;
    });
}
