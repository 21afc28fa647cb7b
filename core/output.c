#define _GNU_SOURCE /* fopencookie */

#include "core/output.h"

#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static ssize_t gz_write(void *cookie, const char *data, size_t bytes)
{
    return gzwrite((gzFile)cookie, data, (unsigned)bytes); /* 0 is a failure to stdio as well */
}

static int gz_close(void *cookie)
{
    return gzclose((gzFile)cookie) == Z_OK ? 0 : EOF;
}

static FILE *gz_stream(int fd)
{
    const gzFile gz = gzdopen(fd, "wb6");

    if (gz == NULL)
        return NULL;
    FILE *file =
        fopencookie(gz, "w", (cookie_io_functions_t){.write = gz_write, .close = gz_close});
    if (file == NULL)
        gzclose(gz);
    return file;
}

/* Several runs may write the same name at once, so the temporary one is unique to the process. */
static int create_temporary(struct pp_arena *arena, struct pp_output *output)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        output->temporary =
            pp_arena_printf(arena, "%s.%ld-%d.tmp", output->place, (long)getpid(), attempt);
        const int fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static char *place_of(struct pp_arena *arena, const char *path)
{
    char *real = realpath(path, NULL), *place = pp_arena_strdup(arena, real ? real : path);

    free(real);
    return place;
}

/* Is there something that must not be replaced by a file? */
static bool is_special(const char *place)
{
    struct stat info;

    return stat(place, &info) == 0 && !S_ISREG(info.st_mode);
}

enum pp_status pp_output_open(struct pp_arena *arena, const char *path, struct pp_output *output,
                              struct pp_error *err)
{
    *output = (struct pp_output){.path = path};
    if (strcmp(path, "-") == 0) {
        output->file = stdout;
        return PP_OK;
    }
    output->place = place_of(arena, path);
    const int fd = is_special(output->place) ? open(output->place, O_WRONLY | O_CLOEXEC | O_NOCTTY)
                                             : create_temporary(arena, output);
    if (fd < 0)
        return pp_error_set(err, PP_EFAIL, "cannot write '%s': %s", path, strerror(errno));
    output->file = pp_has_suffix(path, ".gz") ? gz_stream(fd) : fdopen(fd, "w");
    if (output->file == NULL) {
        const int code = errno;
        close(fd);
        if (output->temporary != NULL)
            unlink(output->temporary);
        return pp_error_set(err, PP_EFAIL, "cannot write '%s': %s", path, strerror(code));
    }
    return PP_OK;
}

enum pp_status pp_output_commit(struct pp_output *output, struct pp_error *err)
{
    FILE *file = output->file;
    const char *what = "cannot write";

    output->file = NULL;
    errno = 0;
    bool is_good = fflush(file) == 0 && !ferror(file);
    int code = errno;
    if (file != stdout && fclose(file) != 0 && is_good) {
        is_good = false;
        code = errno;
    }
    if (output->temporary != NULL) {
        if (is_good && rename(output->temporary, output->place) != 0) {
            is_good = false;
            code = errno;
            what = "cannot replace";
        }
        if (!is_good)
            unlink(output->temporary);
    }
    if (is_good)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL, "%s '%s': %s", what, output->path,
                        code ? strerror(code) : "write error");
}

void pp_output_abandon(struct pp_output *output)
{
    if (output->file == NULL)
        return;
    if (output->file != stdout)
        fclose(output->file);
    if (output->temporary != NULL)
        unlink(output->temporary);
    output->file = NULL;
}
