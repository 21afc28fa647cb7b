/* tests/cuda/runtime_ipc.cc — memory of a device that other processes map.
 *
 * Exported memory moves into a file without a name. The page after it counts the processes that
 * have it open. Other processes find the file by process and number. It ends with the last of them,
 * however that process ends.
 *
 * As strict as CUDA may be: a process cannot open its own memory. Opened memory is closed, not
 * freed. Memory that another process still has open cannot be freed. */
#include "tests/cuda/runtime.h"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct ticket { /* a handle */
    char mark[8];
    pid_t process;
    int file, device;
    uint64_t id, bytes, inside, offset;
};
static_assert(sizeof(struct ticket) <= sizeof(cudaIpcMemHandle_t), "a handle");
static const char MARK[8] = "emuipc";

struct sharing {
    std::atomic<int> *opens; /* a page that all processes see: how many others have it open */
    struct ticket ticket;
};

uint64_t pp_sharing_id(const struct sharing *sharing)
{
    return sharing->ticket.id;
}

static struct sharing *sharing_of(const struct ticket &t, int file)
{
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)t.inside);

    if (page == MAP_FAILED)
        pp_runtime_fail("cannot map what is shared");
    return new sharing{(std::atomic<int> *)page, t};
}

static void map_inside(char *first, const struct ticket &t, int file)
{
    const int protection = pp_is_memory_open() ? PROT_READ | PROT_WRITE : PROT_NONE;

    if (mmap(first, t.inside, protection, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
        pp_runtime_fail("cannot map what is shared");
}

/* ---- export ---------------------------------------------------------------------------------- */

static void write_all(int file, const char *from, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes;) {
        const ssize_t written = pwrite(file, from + at, bytes - at, (off_t)at);
        if (written <= 0)
            pp_runtime_fail("no memory for %llu shared bytes", (unsigned long long)bytes);
        at += (uint64_t)written;
    }
}

static void share(struct allocation *a)
{
    char *first = a->mapped + PAGE;
    struct ticket t = {};
    struct stat status;

    t.inside = a->mapped_bytes - 2 * PAGE;
    t.file = memfd_create("device memory", MFD_CLOEXEC);
    if (t.file < 0 || ftruncate(t.file, (off_t)(t.inside + PAGE)) != 0 ||
        fstat(t.file, &status) != 0)
        pp_runtime_fail("no file for shared memory");
    memcpy(t.mark, MARK, sizeof t.mark);
    t.process = getpid();
    t.device = pp_runtime().first_device + a->device;
    t.id = status.st_ino;
    t.bytes = a->bytes;
    t.offset = (uint64_t)(a->base - first);
    mprotect(first, t.inside, PROT_READ);
    write_all(t.file, first, t.inside);
    map_inside(first, t, t.file);
    a->sharing = sharing_of(t, t.file);
}

/* CUDA takes any address within an allocation for its base: who does that has not meant it. */
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *memory)
{
    return pp_call([&](auto &) {
        struct allocation *a = pp_allocation_at(memory);
        if (!a || a->is_host || a->opened || a->base != memory)
            return cudaErrorInvalidValue;
        if (!a->sharing)
            share(a);
        memset(handle, 0, sizeof *handle);
        memcpy(handle, &a->sharing->ticket, sizeof(struct ticket));
        return cudaSuccess;
    });
}

static void forget(struct sharing *sharing)
{
    munmap(sharing->opens, PAGE);
    delete sharing;
}

void pp_end_sharing(const struct allocation *a)
{
    if (!a->sharing)
        return;
    if (*a->sharing->opens > 0)
        pp_runtime_fail("memory is freed that another process has opened and not closed");
    close(a->sharing->ticket.file);
    forget(a->sharing);
}

/* ---- open, close ----------------------------------------------------------------------------- */

/* The file of a ticket; -1: it is there no more. */
static int file_of(const struct ticket &t)
{
    char path[64];
    struct stat status;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)t.process, t.file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || (fstat(file, &status) == 0 && status.st_ino == t.id))
        return file;
    close(file);
    return -1;
}

static struct allocation *map_ticket(const struct ticket &t, int file)
{
    struct allocation a = {};

    a.mapped_bytes = t.inside + 2 * PAGE;
    a.mapped = (char *)mmap(NULL, a.mapped_bytes, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a.mapped == MAP_FAILED)
        pp_runtime_fail("no address space for %llu bytes", (unsigned long long)t.inside);
    map_inside(a.mapped + PAGE, t, file);
    a.base = a.mapped + PAGE + t.offset;
    a.bytes = t.bytes;
    a.device = pp_current_device(); /* which reaches it from now on, wherever it lies */
    a.sharing = sharing_of(t, file);
    a.opened = 1;
    ++*a.sharing->opens;
    pp_add_allocation(a);
    return pp_find_opened(t.id);
}

cudaError_t cudaIpcOpenMemHandle(void **memory, cudaIpcMemHandle_t handle, unsigned int flags)
{
    struct ticket t;

    memcpy(&t, &handle, sizeof t);
    return pp_call([&](auto &) {
        if (flags != cudaIpcMemLazyEnablePeerAccess || memcmp(t.mark, MARK, sizeof MARK) != 0)
            return cudaErrorInvalidValue;
        if (t.process == getpid())
            return cudaErrorDeviceUninitialized;
        if (t.device != pp_runtime().first_device + pp_current_device() && !pp_runtime().peers)
            return cudaErrorPeerAccessUnsupported;
        struct allocation *a = pp_find_opened(t.id);
        if (a && a->device != pp_current_device())
            return cudaErrorInvalidValue;
        if (a) {
            a->opened++;
        } else {
            const int file = file_of(t);
            if (file < 0)
                return cudaErrorMapBufferObjectFailed;
            a = map_ticket(t, file);
            close(file);
        }
        *memory = a->base;
        return cudaSuccess;
    });
}

/* Waits for all work, as unmapping does. */
cudaError_t cudaIpcCloseMemHandle(void *memory)
{
    return pp_call([&](auto &lock) {
        struct allocation *a = pp_allocation_at(memory);
        if (!a || !a->opened || a->base != memory)
            return cudaErrorInvalidValue;
        if (--a->opened > 0)
            return cudaSuccess;
        a->opened = 1;
        pp_run_until(lock, [] { return pp_is_idle(ALL_DEVICES); });
        --*a->sharing->opens;
        forget(a->sharing);
        pp_drop_allocation(a);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    return pp_call([&](auto &) {
        *can = device != peer && pp_runtime().peers;
        return std::max(device, peer) < pp_runtime().devices ? cudaSuccess : cudaErrorInvalidDevice;
    });
}
