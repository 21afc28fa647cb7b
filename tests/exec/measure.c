/* Measures the process that loads this before the C library, for shares.py, which names the fields.
 *
 * Bytes to sockets are counted where they are written, and by the kernel (TCP_INFO) where a socket
 * is closed. Memory is that of /proc/self/smaps, read whenever memory is given back, which is when
 * most of it is in use. Pages of the emulated device are those of its files that the host may not
 * touch. PP_HOST_FREE_BYTES limits what the host has free, as by ulimit -v. */
#define _GNU_SOURCE /* RTLD_NEXT, struct tcp_info */
#include <dlfcn.h>
#include <linux/tcp.h>
#include <malloc.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_llong sent_bytes, kernel_bytes;           /* to sockets of TCP */
static atomic_llong emulator_bytes;                     /* in use */
static long long first_bytes, host_bytes, device_bytes; /* of the host at first; most at once */

/* ---- sockets --------------------------------------------------------------------------------- */

static int info_of(int fd, struct tcp_info *info)
{
    socklen_t bytes = sizeof *info;

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &bytes) == 0;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static ssize_t (*usual)(int, const struct msghdr *, int);

    if (!usual)
        *(void **)&usual = dlsym(RTLD_NEXT, "sendmsg");
    const ssize_t count = usual(fd, message, flags);
    atomic_fetch_add(&sent_bytes, count > 0 ? count : 0);
    return count;
}

ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
    static ssize_t (*usual)(int, const void *, size_t, int);

    if (!usual)
        *(void **)&usual = dlsym(RTLD_NEXT, "send");
    const ssize_t count = usual(fd, data, bytes, flags);
    atomic_fetch_add(&sent_bytes, count > 0 ? count : 0);
    return count;
}

int close(int fd)
{
    static int (*usual)(int);
    struct tcp_info info = {0};

    if (!usual)
        *(void **)&usual = dlsym(RTLD_NEXT, "close");
    if (info_of(fd, &info))
        atomic_fetch_add(&kernel_bytes,
                         (long long)(info.tcpi_bytes_sent - info.tcpi_bytes_retrans));
    return usual(fd);
}

/* ---- operators of C++, which only the emulated device uses ------------------------------------
 */

void *_Znwm(size_t bytes);
void _ZdlPv(void *memory);
void _ZdlPvm(void *memory, size_t bytes);

void *_Znwm(size_t bytes)
{
    void *memory = malloc(bytes);

    if (!memory)
        abort();
    atomic_fetch_add(&emulator_bytes, (long long)malloc_usable_size(memory));
    return memory;
}

void _ZdlPv(void *memory)
{
    if (memory)
        atomic_fetch_sub(&emulator_bytes, (long long)malloc_usable_size(memory));
    free(memory);
}

void _ZdlPvm(void *memory, size_t bytes)
{
    (void)bytes;
    _ZdlPv(memory);
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct kib {
    long long host, device, open; /* resident; addresses of the device; of those, accessible now */
};

/* Memory that other processes show is of the kind "device"; so is an own block that is shown. */
static struct kib read_maps(void)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    char line[512], rights[5] = "";
    struct kib all = {0};
    long long kib = 0;
    bool is_own = false, is_shown = false, is_shut = false, is_heap = false;

    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%*x-%*x %4s", rights) == 1) {
            is_own = strstr(line, "memfd:poison") != NULL;
            is_shown = strstr(line, "memfd:device") != NULL;
            is_heap = strstr(line, "[heap]") != NULL;
            is_shut = strncmp(rights, "---", 3) == 0;
        } else if (sscanf(line, "Size: %lld", &kib) == 1) {
            all.device += is_own && is_shut ? kib : 0;
            all.open += is_shown && !is_shut ? kib : 0;
        } else if (sscanf(line, "Rss: %lld", &kib) == 1) {
            all.host += ((is_own || is_shown) && is_shut) || is_heap ? 0 : kib;
        }
    }
    if (maps)
        fclose(maps);
    /* the heap keeps what was freed */
    all.host += ((long long)mallinfo2().uordblks - atomic_load(&emulator_bytes)) >> 10;
    return all;
}

/* The device shuts its memory when its work is over, but for pinned memory of the host. */
static void look(void)
{
    enum { LOOKS = 10, LOOK_US = 10000 };
    struct kib now = read_maps(), next;

    for (int look = 0; look < LOOKS; look++, now = next) {
        usleep(LOOK_US);
        next = read_maps();
        if (next.device == now.device && next.open == 0)
            break;
    }
    first_bytes = first_bytes > 0 ? first_bytes : now.host << 10;
    host_bytes = now.host << 10 > host_bytes ? now.host << 10 : host_bytes;
    device_bytes = now.device << 10 > device_bytes ? now.device << 10 : device_bytes;
}

int madvise(void *memory, size_t bytes, int advice)
{
    static int (*usual)(void *, size_t, int);

    if (!usual)
        *(void **)&usual = dlsym(RTLD_NEXT, "madvise");
    if (advice == MADV_DONTNEED)
        look();
    return usual(memory, bytes, advice);
}

static rlim_t mapped_bytes(void)
{
    FILE *statm = fopen("/proc/self/statm", "re");
    long long pages = 0;

    if (statm && fscanf(statm, "%lld", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *limit)
{
    static int (*usual)(__rlimit_resource_t, struct rlimit64 *);
    const char *free_bytes = getenv("PP_HOST_FREE_BYTES");

    if (!usual)
        *(void **)&usual = dlsym(RTLD_NEXT, "getrlimit64");
    const int status = usual(resource, limit);
    if (free_bytes && resource == RLIMIT_AS)
        limit->rlim_cur = mapped_bytes() + (rlim_t)atoll(free_bytes);
    return status;
}

/* ---- report ---------------------------------------------------------------------------------- */

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("PP_MEASURED");
    FILE *file = path ? fopen(path, "we") : NULL;

    if (!file)
        return;
    look();
    fprintf(file, "%lld %lld %lld %lld %lld\n", (long long)atomic_load(&sent_bytes),
            (long long)atomic_load(&kernel_bytes), first_bytes, host_bytes, device_bytes);
    fclose(file);
}
