/* How much do uneven stages cost each schedule? Here the last of four stages has the head.
 *
 *     cc library.c $(pkg-config --cflags --libs pipesched) && ./a.out */
#include <pipesched.h>

#include <stdio.h>

static const struct pipesched_costs layers = {.forward_s = 1, .backward_s = 2},
                                    head = {.forward_s = 1.5, .backward_s = 3};

/* Step and bubble of a schedule on 4 ranks, or why it has none. */
static void show(const char *name)
{
    const struct pipesched_shape shape = {.ranks = 4, .micro_batches = 8, .chunks = 1};
    const struct pipesched_costs uneven[] = {layers, layers, layers, head};
    const struct pipesched_durations even = {.stages = &layers, .count = 1, .message_s = 0.1},
                                     last = {.stages = uneven, .count = 4, .message_s = 0.1};
    struct pipesched_error error;
    struct pipesched_program *program = NULL;
    struct pipesched_times *a = NULL, *b = NULL;

    if (pipesched_build(name, &shape, NULL, &program, &error) ||
        pipesched_verify(program, 0, &error) || pipesched_evaluate(program, &even, &a, &error) ||
        pipesched_evaluate(program, &last, &b, &error))
        printf("%-10s %s\n", name, error.message);
    else
        printf("%-10s step %5.1f  bubble %4.1f %%  activations %g; with the head %5.1f  %4.1f %%\n",
               name, a->step_s, 100 * a->bubble_frac, a->rank[0].peak_activations, b->step_s,
               100 * b->bubble_frac);
    pipesched_times_free(b);
    pipesched_times_free(a);
    pipesched_free(program);
}

int main(void)
{
    show("gpipe");
    show("1f1b");
    show("chimera");
    show("zb-h1");
    show("interleavd");
    return 0;
}
