/* Mapped files. Reading a page beyond the end of a file raises SIGBUS, as the file had that page
 * when it was mapped. A check of its length before each read would leave a gap between both. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "core/process/mapped.h"

#include "core/error.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct pp_mapped_file *first;
static struct sigaction before;

static void print(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(PP_EFAIL);
}

/* Calls only functions allowed in a handler. Other addresses fault again, as without it. */
static void end_shortened(int signal_number, siginfo_t *info, void *context)
{
    const uintptr_t at = (uintptr_t)info->si_addr;

    (void)context;
    for (const struct pp_mapped_file *m = first; m; m = m->next)
        if (at >= (uintptr_t)m->bytes && at - (uintptr_t)m->bytes < m->length) {
            print(program_invocation_short_name);
            print(": error: ");
            print(m->path);
            print(" became shorter while it was in use\n");
            _exit(PP_EFAIL);
        }
    sigaction(signal_number, &before, NULL);
}

bool pp_map_file(struct pp_mapped_file *mapped, const char *path, int fd, size_t length)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO};

    action.sa_sigaction = end_shortened;
    *mapped = (struct pp_mapped_file){path, mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0),
                                      length, first};
    if (mapped->bytes == MAP_FAILED)
        return false;
    if (!first)
        sigaction(SIGBUS, &action, &before);
    first = mapped;
    return true;
}

void pp_unmap_file(struct pp_mapped_file *mapped)
{
    struct pp_mapped_file **at = &first;

    while (*at != mapped)
        at = &(*at)->next;
    *at = mapped->next;
    if (!first)
        sigaction(SIGBUS, &before, NULL);
    munmap(mapped->bytes, mapped->length);
}
