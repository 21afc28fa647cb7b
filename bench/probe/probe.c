/* probe [trial] [LIMIT_S]: runs all probes until HANGS of them have hung. After a probe that broke
 * or hung, the rest runs in new processes. Prints a JSON list on stdout and a line each on stderr.
 * The exit code is 0 whatever they find, and 1 without a device. */
#include "bench/probe/probe.h"

#include <cuda_runtime_api.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HANGS = 2, BROKEN = 9, NO_DEVICE = 10, MOST = 64 };

void probe_found(struct probe_findings *f, const char *name, double value)
{
    if (f->count == PROBE_FINDINGS)
        return;
    f->of[f->count].name = name;
    f->of[f->count++].value = value;
}

enum pp_status probe_try(int code, const char *what, struct pp_error *err)
{
    return code == cudaSuccess ? PP_OK
                               : pp_error_set(err, PP_EFAIL, "cannot %s: %s (%s)", what,
                                              cudaGetErrorName((cudaError_t)code),
                                              cudaGetErrorString((cudaError_t)code));
}

double probe_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void print_text(const char *text)
{
    putchar('"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else
            putchar((unsigned char)*text < ' ' ? ' ' : *text);
    putchar('"');
}

static void tell(int number, const char *name, const struct probe_findings *f, double seconds,
                 const char *wrong)
{
    printf("%s\n  {\"probe\": \"%s\", \"is_ok\": %s, \"seconds\": %.3f", number ? "," : "", name,
           wrong ? "false" : "true", seconds);
    fprintf(stderr, "probe %s: %s\n", name, wrong ? wrong : "ok");
    if (wrong) {
        printf(", \"message\": ");
        print_text(wrong);
    }
    for (int i = 0; i < f->count; i++) {
        /* JSON has no number that is none */
        if (f->of[i].value - f->of[i].value == 0)
            printf(", \"%s\": %.6g", f->of[i].name, f->of[i].value);
        else
            printf(", \"%s\": null", f->of[i].name);
    }
    printf("}");
    fflush(stdout);
}

/* ---- processes ------------------------------------------------------------------------------- */

static int collect(const struct probe *all[MOST])
{
    const struct probe *const lists[] = {probes_of_runtime, probes_of_kernels, probes_of_backend};
    int count = 0;

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const struct probe *p = lists[i]; p->name && count < MOST; p++)
            all[count++] = p;
    return count;
}

/* The probes from *done on, until one breaks the device for its process. */
__attribute__((noreturn)) static void answer(const struct probe *const *all, int count,
                                             volatile int *done, bool is_trial, int limit_s)
{
    static struct pp_error err;
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        _exit(NO_DEVICE);
    for (; *done < count; (*done)++) {
        struct probe_findings f = {.count = 0};
        const double start_s = probe_seconds();
        alarm((unsigned)limit_s);
        err = (struct pp_error){.status = PP_OK};
        const enum pp_status status = all[*done]->run(&f, is_trial, &err);
        tell(*done, all[*done]->name, &f, probe_seconds() - start_s,
             status == PP_OK ? NULL : err.message);
        if (cudaDeviceSynchronize() != cudaSuccess) {
            (*done)++;
            _exit(BROKEN);
        }
        cudaGetLastError();
    }
    _exit(0);
}

static void tell_end(int number, const char *name, int status, int limit_s)
{
    const struct probe_findings none = {.count = 0};
    char text[128];

    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(text, sizeof text, "not over after %d s", limit_s);
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "ended by signal %d", WTERMSIG(status));
    else
        snprintf(text, sizeof text, "exit code %d", WEXITSTATUS(status));
    tell(number, name, &none, 0, text);
}

int main(int argc, char **argv)
{
    const bool is_trial = argc > 1 && strcmp(argv[1], "trial") == 0;
    const int limit_s = argc > 1 + is_trial ? atoi(argv[1 + is_trial]) : 10;
    const struct probe *all[MOST];
    const int count = collect(all);
    const struct probe_findings none = {.count = 0};
    int hangs = 0;
    volatile int *done =
        mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (argc > 2 + is_trial || limit_s < 1) {
        fprintf(stderr, "usage: %s [trial] [LIMIT_S]\n", argv[0]);
        return 2;
    }
    if (done == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    printf("[");
    while (*done < count) {
        int status = 0;
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0)
            answer(all, count, done, is_trial, limit_s);
        if (child < 0 || waitpid(child, &status, 0) != child) {
            perror("fork");
            return 1;
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == NO_DEVICE) {
            fprintf(stderr, "bench: error: no CUDA device\n");
            return 1;
        }
        const bool is_told =
            WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == BROKEN);
        if (!is_told) {
            tell_end(*done, all[*done]->name, status, limit_s);
            (*done)++;
            hangs += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        }
        for (; hangs == HANGS && *done < count; (*done)++)
            tell(*done, all[*done]->name, &none, 0, "not tried, as others did not end");
    }
    printf("\n]\n");
    return 0;
}
