/* gnuplot as a child process: reads the script, writes pictures or characters. */
#define _GNU_SOURCE /* pipe2, memfd_create, posix_spawn_file_actions_addchdir_np */

#include "plots/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char MISSING[] = "gnuplot is not installed (Debian: apt-get install gnuplot-nox)";

/* Input is a pipe, outputs are files in memory: neither process can block the other. */
struct ends {
    int in[2]; /* pipe: in[1] is this process's end */
    FILE *out, *errors;
};

static FILE *open_memory(void)
{
    const int file = memfd_create("gnuplot", MFD_CLOEXEC);

    return file >= 0 ? fdopen(file, "w+") : NULL;
}

static enum pp_status open_ends(struct ends *ends, struct pp_error *err)
{
    if (pipe2(ends->in, O_CLOEXEC) != 0) {
        ends->in[0] = ends->in[1] = -1;
        return pp_error_set(err, PP_EFAIL, "no pipe to gnuplot: %s", strerror(errno));
    }
    ends->out = open_memory();
    ends->errors = open_memory();
    if (!ends->out || !ends->errors)
        return pp_error_set(err, PP_EFAIL, "no memory for gnuplot's output: %s", strerror(errno));
    return PP_OK;
}

static void close_ends(struct ends *ends)
{
    for (int i = 0; i < 2; i++)
        if (ends->in[i] >= 0)
            close(ends->in[i]);
    if (ends->out)
        fclose(ends->out);
    if (ends->errors)
        fclose(ends->errors);
}

static enum pp_status start(const struct pp_gnuplot_run *run, const struct ends *ends, pid_t *pid,
                            struct pp_error *err)
{
    char *const argv[] = {"gnuplot", "-d", NULL};
    posix_spawn_file_actions_t actions;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends->in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(ends->out), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(ends->errors), STDERR_FILENO);
    if (run->folder)
        posix_spawn_file_actions_addchdir_np(&actions, run->folder);
    const int error = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT)
        return pp_error_set(err, PP_EFAIL, "%s", MISSING);
    if (error)
        return pp_error_set(err, PP_EFAIL, "gnuplot cannot be started: %s", strerror(error));
    return PP_OK;
}

/* Writes the script. gnuplot may end before it has read everything; its exit code says so. */
static void feed(struct ends *ends, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(ends->in[1], text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        text += written;
        length -= (size_t)written;
    }
    close(ends->in[1]);
    ends->in[1] = -1;
}

/* Appends gnuplot's error lines, without the echo of the command and the arrow below it. */
static void append_words(struct pp_error *err, FILE *errors)
{
    char line[256];
    int lines = 0;

    rewind(errors);
    while (lines < 2 && fgets(line, sizeof(line), errors)) {
        line[strcspn(line, "\n")] = '\0';
        const char *words = line + strspn(line, " \t");
        if (*words && *words != '^' && strncmp(words, "gnuplot>", 8) != 0)
            pp_error_append(err, "%s %s", lines++ ? ";" : ":", words);
    }
}

static enum pp_status finish(pid_t pid, const struct ends *ends, struct pp_error *err)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return PP_OK;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) /* its program is missing */
        return pp_error_set(err, PP_EFAIL, "%s", MISSING);
    if (WIFSIGNALED(status))
        return pp_error_set(err, PP_EFAIL, "gnuplot was ended by signal %d", WTERMSIG(status));
    pp_error_set(err, PP_EFAIL, "gnuplot failed");
    append_words(err, ends->errors);
    return PP_EFAIL;
}

/* Copies pictures of characters, without the form feed before them and the blanks around them. */
static void copy(FILE *from, FILE *to)
{
    char *line = NULL;
    size_t room = 0;
    int empty = -1; /* empty lines before the next text; -1: at the begin */

    rewind(from);
    for (ssize_t length; (length = getline(&line, &room, from)) >= 0;) {
        const char *text = line + (*line == '\f');
        while (length > 0 && strchr(" \n", line[length - 1]))
            line[--length] = '\0';
        if (!*text) {
            empty += empty >= 0;
            continue;
        }
        for (; empty > 0; empty--)
            fputc('\n', to);
        empty = 0;
        fprintf(to, "%s\n", text);
    }
    free(line);
}

enum pp_status pp_gnuplot_run(const struct pp_gnuplot_run *run, struct pp_error *err)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction former;
    struct ends ends = {{-1, -1}, NULL, NULL};
    pid_t pid;

    enum pp_status status = open_ends(&ends, err);
    if (status == PP_OK)
        status = start(run, &ends, &pid, err);
    if (status == PP_OK) {
        close(ends.in[0]);
        ends.in[0] = -1;
        sigaction(SIGPIPE, &ignore, &former);
        feed(&ends, run->script, run->length);
        sigaction(SIGPIPE, &former, NULL);
        status = finish(pid, &ends, err);
    }
    if (status == PP_OK && run->out)
        copy(ends.out, run->out);
    close_ends(&ends);
    return status;
}
