#include "tests/scenarios/scenario.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void give_up(const char *command, const char *why)
{
    fprintf(stderr, "%s: %s\n", command, why);
    exit(1);
}

static json_t *report_of(const char *command)
{
    FILE *pipe = popen(command, "r");
    json_error_t error;

    if (!pipe)
        give_up(command, "cannot be started");
    json_t *report = json_loadf(pipe, 0, &error);
    if (pclose(pipe) != 0)
        give_up(command, "failed");
    if (!report)
        give_up(command, error.text);
    return report;
}

struct figures scenario_run(const char *format, ...)
{
    char arguments[1024], command[2048];
    const char *program = getenv("PIPESIM");
    va_list list;

    va_start(list, format);
    vsnprintf(arguments, sizeof(arguments), format, list);
    va_end(list);
    snprintf(command, sizeof(command), "'%s' %s%s --no-alternatives --json",
             program ? program : PP_PIPESIM, arguments,
             strstr(arguments, "--unit") || strstr(arguments, "--engine") ? ""
                                                                          : " --engine simgrid");
    json_t *report = report_of(command);
    const json_t *layout = json_object_get(report, "layout");
    struct figures f = {
        .iteration_s = number(report, "iteration_s"),
        .bubble_frac = number(report, "bubble_frac"),
        .peak_bytes = number(report, "peak_mem_bytes"),
        .hfu = number(report, "hfu"),
        .peak_micro_batches = number(report, "peak_micro_batches"),
        .pp = (int)number(layout, "pp"),
        .micro_batches = (int)number(layout, "micro_batches"),
        .fits = json_is_true(json_object_get(report, "fits")),
    };
    const json_t *parts = json_object_get(report, "time_frac");
    f.forward_s = f.iteration_s * number(parts, "forward");
    f.backward_s = f.iteration_s * (number(parts, "backward") + number(parts, "recompute"));
    f.samples_per_s = number(layout, "gbs") / f.iteration_s;
    snprintf(f.engine, sizeof(f.engine), "%s",
             json_string_value(json_object_get(report, "engine")));
    json_decref(report);
    return f;
}

void scenario_assert(bool holds, const char *format, ...)
{
    va_list list;

    failures += !holds;
    printf("  %-7s ", holds ? "yes" : "NO");
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
}

void scenario_goal(const char *what, double ours, double published, double tolerance_frac)
{
    const double error = ours / published - 1;

    printf("  %-7s %s: %.3g, published %.3g: %+.1f %%\n",
           fabs(error) <= tolerance_frac ? "met" : "missed", what, ours, published, 100 * error);
}

int scenario_end(void)
{
    if (failures)
        fprintf(stderr, "%d statement%s false\n", failures, failures == 1 ? " is" : "s are");
    return failures != 0;
}

int scenario_main(int argc, char **argv, const struct section *sections)
{
    bool is_known = argc == 1;

    for (int i = 0; sections[i].name; i++) {
        const bool is_wanted = argc > 1 && !strcmp(argv[1], sections[i].name);
        is_known = is_known || is_wanted;
        if (argc == 1 && i > 0)
            putchar('\n');
        if (argc == 1 || is_wanted)
            sections[i].print();
    }
    if (is_known)
        return scenario_end();
    fprintf(stderr, "%s: sections:", argv[0]);
    for (int i = 0; sections[i].name; i++)
        fprintf(stderr, " %s", sections[i].name);
    fputc('\n', stderr);
    return 2;
}
