/* tests/cuda/runtime_memory.cc — memory of devices and pinned memory.
 *
 * An allocation ends at the end of a page, or up to 255 bytes before it. The pages before and after
 * it are inaccessible. Its own pages are private copies of a file full of NaNs, so that untouched
 * memory takes none. */
#include "tests/cuda/runtime.h"

#include <algorithm>
#include <map>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ALIGN = 256, POISON_BYTES = 4 << 20 };

/* By `mapped`. What a process leaves stays reachable to its end. */
static auto &allocations = *new std::map<const char *, struct allocation>;
static bool is_open;

/* ---- finding, opening ------------------------------------------------------------------------ */

void pp_add_allocation(const struct allocation &a)
{
    allocations[a.mapped] = a;
}

void pp_drop_allocation(const struct allocation *a)
{
    char *mapped = a->mapped;

    munmap(mapped, a->mapped_bytes);
    allocations.erase(mapped);
}

bool pp_is_memory_open(void)
{
    return is_open;
}

struct allocation *pp_find_opened(uint64_t id)
{
    for (auto &entry : allocations)
        if (entry.second.opened > 0 && pp_sharing_id(entry.second.sharing) == id)
            return &entry.second;
    return NULL;
}

struct allocation *pp_allocation_at(const void *memory)
{
    return const_cast<struct allocation *>(pp_find_allocation(memory, 0));
}

static const struct allocation *mapped_at(const void *memory)
{
    auto next = allocations.upper_bound((const char *)memory);

    if (next == allocations.begin())
        return NULL;
    const struct allocation &a = std::prev(next)->second;
    return (const char *)memory < a.mapped + a.mapped_bytes ? &a : NULL;
}

const struct allocation *pp_find_allocation(const void *memory, size_t bytes)
{
    const struct allocation *a = mapped_at(memory);
    const char *first = (const char *)memory;

    return a && first >= a->base && first + bytes <= a->base + a->bytes ? a : NULL;
}

void pp_need_device_memory(const char *who, const void *memory, size_t bytes, int device)
{
    if (!memory)
        return;
    const struct allocation *a = pp_find_allocation(memory, bytes);
    if (!a)
        pp_runtime_fail("%s is given %p (%zu bytes), which is no memory of a device", who, memory,
                        bytes);
    if (!a->is_host && a->device != device)
        pp_runtime_fail("%s runs on device %d, but is given %p of device %d", who, device, memory,
                        a->device);
}

static void protect(const struct allocation &a, int protection)
{
    if (mprotect(a.mapped + PAGE, a.mapped_bytes - 2 * PAGE, protection) != 0)
        pp_runtime_fail("mprotect failed");
}

static void protect_all(int protection)
{
    for (const auto &entry : allocations)
        if (!entry.second.is_host)
            protect(entry.second, protection);
}

void pp_open_memory(void)
{
    if (!is_open)
        protect_all(PROT_READ | PROT_WRITE);
    is_open = true;
}

void pp_close_memory(void)
{
    if (is_open)
        protect_all(PROT_NONE);
    is_open = false;
}

static void protect_word(const void *word, int protection)
{
    if (mprotect((char *)((uintptr_t)word / PAGE * PAGE), PAGE, protection) != 0)
        pp_runtime_fail("mprotect failed");
}

uint64_t pp_read_word(const void *word, size_t bytes)
{
    const struct allocation *a = mapped_at(word);
    const bool is_shut = !is_open && a && !a->is_host;

    if (is_shut)
        protect_word(word, PROT_READ);
    const uint64_t value = bytes == sizeof(uint32_t)
                               ? __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE)
                               : __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
    if (is_shut)
        protect_word(word, PROT_NONE);
    return value;
}

/* ---- who touches what is not his ------------------------------------------------------------- */

static struct sigaction previous;

/* Reports the signal, then raises it again for the previous handler. */
static void say_and_die(int signal, siginfo_t *info, void *)
{
    char text[256];
    const struct allocation *a = mapped_at(info->si_addr);

    if (a) {
        const long at = (char *)info->si_addr - a->base;
        const int length = snprintf(
            text, sizeof text, "emulated CUDA: %s byte %ld of an allocation of %zu bytes\n",
            is_open ? "work of the device touched" : "the host touched memory of the device:", at,
            a->bytes);
        if (write(STDERR_FILENO, text, (size_t)length) < 0)
            _exit(1);
    }
    sigaction(signal, &previous, NULL);
}

static void watch(void)
{
    static bool is_watching;
    struct sigaction action = {};

    if (is_watching)
        return;
    is_watching = true;
    action.sa_sigaction = say_and_die;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &previous);
}

/* ---- allocations ----------------------------------------------------------------------------- */

static int poison_file(void)
{
    static int file = -1;

    if (file >= 0)
        return file;
    file = memfd_create("poison", MFD_CLOEXEC);
    const std::vector<char> poison(POISON_BYTES, (char)0xff);
    if (file < 0 || write(file, poison.data(), POISON_BYTES) != POISON_BYTES)
        pp_runtime_fail("no file for fresh memory");
    return file;
}

static void map_poison(char *first, size_t bytes, int protection)
{
    for (size_t at = 0; at < bytes; at += POISON_BYTES)
        if (mmap(first + at, std::min((size_t)POISON_BYTES, bytes - at), protection,
                 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, poison_file(), 0) == MAP_FAILED)
            pp_runtime_fail("no address space for %zu bytes", bytes);
}

static void *allocate(size_t bytes, bool is_host)
{
    const size_t aligned = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    const size_t inside = (aligned + PAGE - 1) / PAGE * PAGE;
    char *mapped = (char *)mmap(NULL, inside + 2 * PAGE, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (mapped == MAP_FAILED)
        pp_runtime_fail("no address space for %zu bytes", bytes);
    watch();
    map_poison(mapped + PAGE, inside, is_host || is_open ? PROT_READ | PROT_WRITE : PROT_NONE);
    char *base = mapped + PAGE + inside - aligned;
    allocations[mapped] = {base, bytes, pp_current_device(), is_host, mapped, inside + 2 * PAGE};
    return base;
}

size_t pp_used_bytes(int device)
{
    size_t bytes = 0;

    for (const auto &entry : allocations)
        if (!entry.second.is_host && !entry.second.opened && entry.second.device == device)
            bytes += entry.second.bytes;
    return bytes + pp_graph_bytes(device);
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    return pp_call([&](auto &) {
        *memory = NULL;
        const cudaError_t error = pp_check_unsafe();
        if (error != cudaSuccess)
            return error;
        if (bytes > pp_runtime().memory_bytes - pp_used_bytes(pp_current_device()))
            return cudaErrorMemoryAllocation;
        if (bytes > 0)
            *memory = allocate(bytes, false);
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    return pp_call([&](auto &) {
        *total = pp_runtime().memory_bytes;
        *free = *total - pp_used_bytes(pp_current_device());
        return cudaSuccess;
    });
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned int)
{
    return pp_call([&](auto &) {
        const cudaError_t error = pp_check_unsafe();
        *memory = error == cudaSuccess && bytes > 0 ? allocate(bytes, true) : NULL;
        return error;
    });
}

/* Freeing waits for all work, as CUDA does. */
static cudaError_t release(void *memory, bool is_host)
{
    return pp_call([&](auto &lock) {
        const struct allocation *a = memory ? mapped_at(memory) : NULL;
        if (!memory)
            return cudaSuccess;
        if (!a || a->base != memory || a->is_host != is_host || a->opened)
            return cudaErrorInvalidValue;
        const cudaError_t error = pp_check_unsafe();
        if (error != cudaSuccess)
            return error;
        pp_run_until(lock, [] { return pp_is_idle(ALL_DEVICES); });
        pp_end_sharing(a);
        pp_drop_allocation(a);
        return cudaSuccess;
    });
}

cudaError_t cudaFree(void *memory)
{
    return release(memory, false);
}

cudaError_t cudaFreeHost(void *memory)
{
    return release(memory, true);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int)
{
    return pp_call([&](auto &) {
        const struct allocation *a = mapped_at(host);
        if (!a || !a->is_host)
            return cudaErrorInvalidValue;
        *device = host;
        return cudaSuccess;
    });
}
