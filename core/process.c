#include "core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The wrong way round, so that reading and writing fail as they would have. */
static void open_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(PP_EFAIL);
}

void pp_process_begin(void (*interrupted)(int))
{
    open_standard();
    setlocale(LC_CTYPE, "");
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);                   /* writing fails instead */
    if (signal(SIGINT, interrupted) == SIG_IGN) /* started in the background */
        signal(SIGINT, SIG_IGN);
}

void pp_process_hold(sigset_t *before)
{
    sigset_t held;

    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigprocmask(SIG_BLOCK, &held, before);
}

void pp_process_release(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

int pp_process_end(const char *program, enum pp_status status, struct pp_error *err)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == PP_OK)
        status = pp_error_set(err, PP_EFAIL, "writing to stdout failed: %s", strerror(errno));
    if (status != PP_OK)
        fprintf(stderr, "%s: error: %s\n", program, err->message);
    return (int)status;
}
