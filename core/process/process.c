/* Begin and end of a program: standard streams, signals, limits, log, exit status. */
#define _GNU_SOURCE /* memfd_create, seals, usleep */
#include "core/process/process.h"

#include "core/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Opens closed streams the wrong way round, so that reading and writing still fail. */
static void open_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(PP_EFAIL);
}

static char interruption[64]; /* its message */

static void end_interrupted(int signal_number)
{
    (void)signal_number;
    if (write(STDERR_FILENO, interruption, strlen(interruption)) < 0)
        _exit(PP_EFAIL);
    _exit(PP_EINTR);
}

void pp_process_begin(const char *program)
{
    snprintf(interruption, sizeof(interruption), "%s: error: interrupted\n", program);
    open_standard();
    setlocale(LC_CTYPE, "");
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);                       /* writing fails instead */
    if (signal(SIGINT, end_interrupted) == SIG_IGN) /* started in the background */
        signal(SIGINT, SIG_IGN);
}

static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDINGS = PP_COUNT(ENDING) };

void pp_process_hold(sigset_t *before)
{
    sigset_t held;

    sigemptyset(&held);
    for (int i = 0; i < ENDINGS; i++)
        sigaddset(&held, ENDING[i]);
    sigprocmask(SIG_BLOCK, &held, before);
}

void pp_process_release(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

/* ---- a file that goes with the process ------------------------------------------------------- */

static struct {
    char path[PATH_MAX];
    dev_t device;
    ino_t inode;
    volatile sig_atomic_t is_set;
    struct sigaction before[ENDINGS];
} guard;

/* Calls only functions allowed in a handler. Raises the signal again for the former handler. */
static void remove_guarded(int signal_number)
{
    struct stat now;

    if (guard.is_set && stat(guard.path, &now) == 0 && now.st_dev == guard.device &&
        now.st_ino == guard.inode)
        unlink(guard.path);
    for (int i = 0; i < ENDINGS; i++)
        if (ENDING[i] == signal_number)
            sigaction(signal_number, &guard.before[i], NULL);
    raise(signal_number);
}

static void unguard(void)
{
    if (!guard.is_set)
        return;
    for (int i = 0; i < ENDINGS; i++)
        if (guard.before[i].sa_handler != SIG_IGN)
            sigaction(ENDING[i], &guard.before[i], NULL);
    guard.is_set = 0;
}

void pp_process_guard(const char *path)
{
    const struct sigaction action = {.sa_handler = remove_guarded};
    struct stat now;

    unguard();
    if (!path || strlen(path) >= sizeof(guard.path) || stat(path, &now) != 0)
        return;
    strcpy(guard.path, path);
    guard.device = now.st_dev;
    guard.inode = now.st_ino;
    guard.is_set = 1;
    for (int i = 0; i < ENDINGS; i++) {
        sigaction(ENDING[i], NULL, &guard.before[i]);
        if (guard.before[i].sa_handler != SIG_IGN)
            sigaction(ENDING[i], &action, NULL);
    }
}

/* ---- children -------------------------------------------------------------------------------- */

/* One byte leaves no core file; with 0, programs that collect core files would still get it. */
bool pp_process_follow(pid_t parent)
{
    const struct rlimit no_core = {1, 1};

    setrlimit(RLIMIT_CORE, &no_core);
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

int pp_process_log(void)
{
    const int log = memfd_create("pipesim-log", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (log < 0)
        return -1;
    if (ftruncate(log, PP_PROCESS_LOG_BYTES) == 0 &&
        fcntl(log, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0)
        return log;
    close(log);
    return -1;
}

static bool has_ended(pid_t child, siginfo_t *info)
{
    *info = (siginfo_t){0};
    return child != 0 && waitid(P_PID, (id_t)child, info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info->si_pid != 0;
}

int pp_process_find_ended(const pid_t *children, int count, siginfo_t *info)
{
    int found = -1;

    for (int k = 0; k < count; k++) {
        siginfo_t seen;

        if (!has_ended(children[k], &seen) || (found >= 0 && seen.si_code == CLD_EXITED))
            continue;
        found = k;
        *info = seen;
        if (seen.si_code != CLD_EXITED)
            break;
    }
    return found;
}

static bool have_ended(const pid_t *children, int count)
{
    siginfo_t ignored;

    for (int k = 0; k < count; k++)
        if (children[k] != 0 && !has_ended(children[k], &ignored))
            return false;
    return true;
}

void pp_process_reap(pid_t *children, int count, int most_ms)
{
    for (int ms = 0; ms < most_ms && !have_ended(children, count); ms++)
        usleep(1000);
    for (int k = 0; k < count; k++)
        if (children[k] != 0)
            kill(children[k], SIGKILL);
    for (int k = 0; k < count; k++) {
        while (children[k] != 0 && waitpid(children[k], NULL, 0) < 0 && errno == EINTR) {
        }
        children[k] = 0;
    }
}

void pp_process_tell_end(const siginfo_t *info, struct pp_error *err)
{
    if (info->si_code == CLD_EXITED)
        pp_error_append(err, "has ended with exit code %d", info->si_status);
    else
        pp_error_append(err, "was ended by signal %d (%s)", info->si_status,
                        strsignal(info->si_status));
}

int pp_process_end(const char *program, enum pp_status status, struct pp_error *err)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == PP_OK)
        status = pp_error_set(err, PP_EFAIL, "writing to stdout failed: %s", strerror(errno));
    if (status != PP_OK)
        fprintf(stderr, "%s: error: %s\n", program, err->message);
    return (int)status;
}
