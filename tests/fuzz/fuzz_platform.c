/* A platform file is either refused with a message that names it, or a cluster with a fabric whose
 * routes are found or refused. SimGrid may crash as it likes: in a child. */
#define _GNU_SOURCE /* memfd_create */
#include "sim/simgrid/module/module.h"
#include "sim/simgrid/platform_file.h"
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DIGITS_MAX = 3, ROUTES = 8, LINKS_MAX = 1024 };

/* Sizes of more digits only take time. */
static bool is_huge(const uint8_t *data, size_t size)
{
    int digits = 0;

    for (size_t i = 0; i < size; i++) {
        digits = isdigit(data[i]) ? digits + 1 : 0;
        if (digits > DIGITS_MAX)
            return true;
    }
    return false;
}

static void check_link(double alpha_s, double bytes_per_s)
{
    FUZZ_CHECK(isfinite(alpha_s) && alpha_s >= 0);
    FUZZ_CHECK(isfinite(bytes_per_s) && bytes_per_s > 0);
}

static void check_routes(const struct pp_fabric *fabric)
{
    const int devices = pp_fabric_devices(fabric);
    struct pp_error err = {0};
    int32_t links[LINKS_MAX];
    char name[PP_LINK_NAME_BYTES];

    for (int i = 0; i < ROUTES; i++) {
        const int source = i * 7 % devices, dest = (i * 5 + devices - 1) % devices;
        const struct pp_route r = pp_fabric_route(fabric, source, dest, links);
        FUZZ_CHECK(r.count >= 0 && r.count <= LINKS_MAX);
        for (int k = 0; k < r.count; k++) {
            FUZZ_CHECK(links[k] >= 0 && links[k] < pp_fabric_links(fabric));
            FUZZ_CHECK(strlen(pp_fabric_link_name(fabric, links[k], name)) < sizeof(name));
        }
        if (r.count > 0)
            check_link(r.alpha_s, r.bytes_per_s);
        else
            FUZZ_CHECK(source == dest || pp_fabric_check(fabric, &err) == PP_EINVAL);
    }
}

static void check_cluster(const struct pp_cluster *c)
{
    FUZZ_CHECK(c->name && c->title && c->source && c->device.name);
    FUZZ_CHECK(c->gpus_per_node >= 1 && c->nodes >= 1 && c->eta_link == 1);
    check_link(c->intra.alpha_s, c->intra.bytes_per_s);
    check_link(c->inter.alpha_s, c->inter.bytes_per_s);
    FUZZ_CHECK(c->device.memory_bytes > 0 && c->device.peak_flops_per_s > 0);
}

static void check_file(const char *path)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_cluster cluster;
    struct pp_platform *platform;

    if (pp_platform_open(arena, path, &platform, &cluster, &err) == PP_OK) {
        check_cluster(&cluster);
        check_routes(pp_platform_fabric(arena, platform));
    } else {
        FUZZ_CHECK(err.status == PP_EINVAL && strstr(err.message, path) != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct pp_simgrid_module *module; /* loaded once here, children need not */
    struct pp_error err = {0};
    char path[64];

    if (is_huge(data, size))
        return 0;
    if (!module)
        FUZZ_CHECK(pp_simgrid_load(&module, &err) == PP_OK);
    const int file = memfd_create("input", MFD_CLOEXEC);
    FUZZ_CHECK(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    check_file(path);
    close(file);
    FUZZ_CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    return 0;
}
