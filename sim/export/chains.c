/* Divides the tasks of a node into chains: lists that readers run line by line. */
#include "sim/export/chains.h"

/* One lane makes one chain. A task that needs a task of another lane waits for a token of it. */
struct divider {
    const struct pp_tasks *tasks;
    struct pp_arena *arena;
    struct pp_chains *chains;
    int *place; /* [task]: in the order of the chains, from 1; 0 = not yet */
    int places;
    int *known; /* [lane * MAX_LANES + other]: last place of the other lane that it waited for */
    struct pp_chain_line **last; /* [task]: its last line so far */
};

static struct pp_chain_line *add_line(struct divider *d, int lane, struct pp_chain_line line)
{
    struct pp_chain *chain = &d->chains->of[lane];
    struct pp_chain_line *added = PP_ARRAY(d->arena, struct pp_chain_line, 1);

    *added = line;
    if (chain->end)
        chain->end->next = added;
    else
        chain->begin = added;
    chain->end = added;
    return added;
}

/* Adds a token that leaves when `task` has ended, and arrives as the next line of `lane`. */
static void add_token(struct divider *d, int task, int lane)
{
    const int source = d->tasks->list[task].lane;
    struct pp_chain *chain = &d->chains->of[source];
    struct pp_chain_line *sent = PP_ARRAY(d->arena, struct pp_chain_line, 1);
    const struct pp_chain_line token = {.kind = PP_TASK_RECV, .task = task, .lane = source};

    add_line(d, lane, token);
    *sent = (struct pp_chain_line){PP_TASK_SEND, task, lane, d->last[task]->next};
    d->last[task]->next = sent;
    if (chain->end == d->last[task])
        chain->end = sent;
    d->last[task] = sent;
}

static void place(struct divider *d, int task)
{
    const int lane = d->tasks->list[task].lane;

    d->last[task] = add_line(d, lane, (struct pp_chain_line){-1, task, lane, NULL});
    d->place[task] = ++d->places;
}

static void place_after_inputs(struct divider *d, int task)
{
    const struct pp_task *t = &d->tasks->list[task];
    const int32_t *inputs = &d->tasks->inputs[t->first];

    for (int k = 0; k < t->count; k++) {
        const int input = inputs[k], other = d->tasks->list[input].lane;
        int *known = &d->known[t->lane * MAX_LANES + other];
        if (d->place[input] == 0)
            place(d, input); /* a RECV, before the first that needs it */
        if (other == t->lane || *known >= d->place[input])
            continue;
        *known = d->place[input];
        add_token(d, input, t->lane);
    }
    place(d, task);
}

void pp_chains_divide(struct pp_arena *arena, const struct pp_tasks *tasks,
                      struct pp_chains *chains)
{
    struct divider d = {.tasks = tasks,
                        .arena = arena,
                        .chains = chains,
                        .place = PP_ARRAY(arena, int, tasks->count),
                        .known = PP_ARRAY(arena, int, MAX_LANES *MAX_LANES),
                        .last = PP_ARRAY(arena, struct pp_chain_line *, tasks->count)};

    *chains = (struct pp_chains){0};
    for (int i = 0; i < tasks->count; i++)
        if (tasks->list[i].kind != PP_TASK_RECV)
            place_after_inputs(&d, i);
    for (int i = 0; i < tasks->count; i++)
        if (d.place[i] == 0)
            place(&d, i);
}
