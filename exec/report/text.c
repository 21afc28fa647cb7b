/* Head of the report. */
#include "exec/report/report.h"

#include <stdarg.h>
#include <string.h>

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- what runs ------------------------------------------------------------------------------- */

/* Appends "2 layers a stage", or runs of equal stages: "layers by stage 0, 1 x 6, 0". */
static void append_blocks(char text[PP_EXEC_TEXT_BYTES], size_t used,
                          const struct pp_exec_plan *plan)
{
    const int stages = plan->chunks, *blocks = plan->blocks_per_chunk;
    int run;

    for (run = 1; run < stages && blocks[run] == blocks[0]; run++)
        ;
    if (run == stages) {
        pp_exec_append(text, used, "%d~layer%s a stage", blocks[0], plural(blocks[0]));
        return;
    }
    used = pp_exec_append(text, used, "layers by stage");
    for (int s = 0; s < stages; s += run) {
        for (run = 1; s + run < stages && blocks[s + run] == blocks[s]; run++)
            ;
        used = pp_exec_append(text, used, run > 1 ? "%s%d~x~%d" : "%s%d", s ? ", " : " ", blocks[s],
                              run);
    }
    if (plan->empty_chunks > 0)
        pp_exec_append(text, used, " (%d stage%s hold%s none and pass%s activations on)",
                       plan->empty_chunks, plural(plan->empty_chunks),
                       plan->empty_chunks == 1 ? "s" : "", plan->empty_chunks == 1 ? "es" : "");
}

static double parameters(const struct pp_exec_plan *plan)
{
    double count = 0;
    bool has_tied = false;

    for (int s = 0; s < plan->program->stages; s++)
        for (int i = 0; i < plan->stages[s]->param_count; i++) {
            const struct pp_param *param = &plan->stages[s]->params[i];
            if (!param->is_tied || !has_tied)
                count += (double)(param->slice.whole > 0 ? param->slice.whole : param->count);
            has_tied = has_tied || param->is_tied;
        }
    return count;
}

static void print_model(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_net *net = &run->config.net;
    char text[PP_EXEC_TEXT_BYTES], number[PP_UNITS_TEXT_BYTES];
    const size_t used = pp_exec_append(
        text, 0, "%s%s~ %s parameters%s, %d~layer%s, hidden~%d, vocab~%d, seq~%d%s; ", net->name,
        pp_exec_star(run->config.chosen, PP_EXEC_CHOSE_MODEL),
        pp_units_print(parameters(&run->plan), PP_UNIT_COUNT, number),
        net->has_positions && net->seq < run->config.model.positions
            ? " (position~table of seq~rows)"
            : "",
        net->layers, plural(net->layers), net->hidden, net->vocab, net->seq,
        pp_exec_star(run->config.chosen, PP_EXEC_CHOSE_SEQ));

    append_blocks(text, used, &run->plan);
    pp_exec_paragraph(page, "model", "%s", text);
    if (run->config.model.notes && run->config.model.notes[0])
        pp_exec_paragraph(page, "", "%s", run->config.model.notes);
    pp_exec_report_numerics(page, run);
    if (run->config.weights)
        pp_exec_line(page, "weights", "those of %s", run->config.weights);
}

static void print_batch(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_batch *b = &run->plan.batch;
    const struct pp_text *data = &run->config.text;
    const int group = pp_schedule_option_value(run->plan.subject.schedule,
                                               &run->plan.selection.shape, pp_group_option.name);
    char text[PP_EXEC_TEXT_BYTES], tokens[PP_UNITS_TEXT_BYTES], bytes[PP_UNITS_TEXT_BYTES];
    size_t used = pp_exec_append(text, 0, "%s%s~micro-batch%s of %d%s~sample%s",
                                 pp_units_print_count(b->micro_batches, tokens),
                                 pp_exec_star(run->plan.chosen, PP_EXEC_CHOSE_MICRO_BATCHES),
                                 b->micro_batches == 1 ? "" : "es", b->mbs,
                                 pp_exec_star(run->plan.chosen, PP_EXEC_CHOSE_MBS), plural(b->mbs));

    if (b->splits > 1)
        used = pp_exec_append(text, used, " in %d%s~splits", b->splits,
                              pp_exec_star(run->plan.selection.chosen, PP_SIZE_SPLITS));
    if (group > 0)
        used = pp_exec_append(
            text, used, " in groups of~%d%s", group,
            pp_exec_star(run->plan.selection.chosen, (unsigned)PP_CHOSEN_OPTION << PP_GROUP_AT));
    if (b->granules > 1)
        used = pp_exec_append(text, used, ", backwards of 1/%d", b->granules);
    used = pp_exec_append(text, used, ", %s~tokens a step; %s, %s~%s",
                          pp_units_print_count((int64_t)pp_batch_samples(b) * data->seq, tokens),
                          data->name, pp_units_print_count((int64_t)data->count, bytes),
                          pp_text_unit(data));
    if (data->order.kind != PP_ORDER_DRAWN)
        pp_exec_append(text, used, ", %s~samples an epoch%s",
                       pp_units_print_count(pp_order_samples(data->count, data->seq), tokens),
                       data->order.kind == PP_ORDER_SHUFFLED ? ", shuffled" : "");
    pp_exec_paragraph(page, "data", "%s", text);
}

static const char *const MODES[] = {
    [PP_DEVICE_SERIAL] = "one op at a time",
    [PP_DEVICE_STREAMS] = "a stream for each rank",
    [PP_DEVICE_PARTITION] = "a part for each rank",
};
static void print_processor(const struct pp_exec_run *run, size_t bytes, char *text)
{
    const struct pp_exec_config *c = &run->config;

    if (c->backend->about)
        snprintf(text, bytes, "%s, %s%s", c->backend->about(),
                 c->transport->is_apart ? c->transport->means : MODES[c->mode],
                 run->plan.program->weight_stream ? ", W concurrent" : "");
    else
        snprintf(text, bytes, "%s", c->backend->name);
}

static void paragraph_wall(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_machine_clock *clock = &run->result.clock;
    char error[PP_UNITS_TEXT_BYTES];

    if (run->config.backend->about && !run->config.transport->is_apart)
        pp_exec_paragraph(page, "clock", "wall: ranks share the device");
    else if (clock->error_s > 0)
        pp_exec_paragraph(
            page, "clock", "wall: %sstamps of two ranks are within %s of each other",
            run->config.transport->is_apart ? "" : "ranks share the cores of this machine; ",
            pp_exec_seconds(clock->error_s, error));
    else
        pp_exec_paragraph(page, "clock", "wall: ranks share the cores of this machine");
}

static void print_machine(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_exec_config *c = &run->config;
    const int workers = run->plan.program->ranks * run->plan.batch.replicas * c->tp;
    const int gpus = run->result.way.gpus;
    const bool are_processes = c->transport->check;
    char processor[PP_EXEC_TEXT_BYTES / 2], latency[PP_UNITS_TEXT_BYTES],
        bandwidth[PP_UNITS_TEXT_BYTES], on[32] = "";

    print_processor(run, sizeof(processor), processor);
    if (gpus > 0)
        snprintf(on, sizeof(on), " on %d~GPU%s", gpus, plural(gpus));
    pp_exec_paragraph(page, "machine", "%s, %d~%s%s%s; %s~with %s", processor, workers,
                      are_processes ? "process" : "thread",
                      workers == 1    ? ""
                      : are_processes ? "es"
                                      : "s",
                      on, c->precision, c->kernels->about());
    if (c->clock == PP_CLOCK_WALL)
        paragraph_wall(page, run);
    else if (run->plan.unit)
        pp_exec_paragraph(page, "clock", "virtual: ops and messages take the seconds of --unit");
    else
        pp_exec_paragraph(page, "clock", "virtual: one %s per rank, links of %s and %s",
                          c->backend->about ? "device" : "core",
                          pp_exec_seconds(c->wires.alpha_s, latency),
                          pp_units_print(c->wires.bytes_per_s, PP_UNIT_BYTES_PER_S, bandwidth));
}

struct title {
    const struct pp_exec_page *page;
    int column; /* printed of its last line */
};

/* Prints a separator, and a part in the same line or in the next. A comma may follow it. */
static void put(struct title *title, const char *separator, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void put(struct title *title, const char *separator, const char *format, ...)
{
    enum { INDENT = 2, FOLLOWING = 1 };
    FILE *out = title->page->out;
    char part[PP_EXEC_TEXT_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(part, sizeof(part), format, args);
    va_end(args);
    const int columns = pp_text_columns(part, strlen(part));
    title->column += fprintf(out, "%s", separator);
    if (title->column + 1 + columns + FOLLOWING > title->page->terminal.width)
        title->column = fprintf(out, "\n%*s", INDENT, "") - 1;
    else
        title->column += fprintf(out, " ");
    fputs(part, out);
    title->column += columns;
}

static void put_sharing(struct title *title, const struct pp_exec_run *run)
{
    const struct pp_exec_plan *plan = &run->plan;
    const struct pp_exec_config *c = &run->config;

    if (c->tp > 1)
        put(title, ",", "tp %d%s", c->tp, c->is_sequence_parallel ? " with shared tokens" : "");
    if (plan->batch.replicas > 1)
        put(title, ",", "%d replicas", plan->batch.replicas);
    if (c->ep > 1)
        put(title, ",", "ep %d", c->ep);
    if (c->etp < c->tp)
        put(title, ",", "etp %d", c->etp);
    if (plan->zero == 3 && pp_state_is_spread(&plan->program->state.spec))
        put(title, ",", "ZeRO 3 over %d of groups of %d",
            pp_state_cut(&plan->program->state.spec, PP_STATE_PARAMS), plan->batch.sharers);
    else if (plan->zero && plan->batch.sharers > 0)
        put(title, ",", "ZeRO %d in groups of %d", plan->zero, plan->batch.sharers);
    else if (plan->zero)
        put(title, ",", "ZeRO %d", plan->zero);
}

/* Prints the title, wrapped; returns the columns used of its last line. */
static int print_title(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_exec_plan *plan = &run->plan;
    const int ranks = plan->program->ranks, chunks = plan->chunks / ranks;
    const char *again = pp_exec_recompute_text(arena, &run->config);
    struct title title = {page, 0};

    fputs(page->bold, page->out);
    title.column = fprintf(page->out, "pipeexec %s  %s", PP_VERSION, plan->subject.name);
    if (plan->selection.order.rule != PP_ORDER_STRICT)
        put(&title, ",", "%s", pp_order_rule_names[plan->selection.order.rule]);
    if (*again)
        put(&title, ",", "%s", again);
    put(&title, "", "on %d%s rank%s", ranks, pp_exec_star(plan->chosen, PP_EXEC_CHOSE_RANKS),
        plural(ranks));
    fputs(page->plain, page->out);
    if (chunks > 1)
        put(&title, ",", "%d%s chunks each", chunks,
            pp_exec_star(plan->selection.chosen, PP_SIZE_CHUNKS));
    put_sharing(&title, run);
    return title.column;
}

void pp_exec_report_head(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    static const char LEGEND[] = "(* = chosen for you)";
    const int used = print_title(page, run), legend = (int)sizeof(LEGEND) - 1;

    if (run->plan.chosen | run->plan.selection.chosen) {
        const bool has_room = used + 1 + legend <= page->terminal.width;
        fprintf(page->out, "%s%*s", has_room ? "" : "\n",
                page->terminal.width - (has_room ? used : 0), LEGEND);
    }
    fputs("\n\n", page->out);
    print_model(page, run);
    print_batch(page, run);
    if (run->config.resumed)
        pp_exec_line(page, "resumed", "%s, %d of %d steps", run->config.resumed->path,
                     run->config.first_step, run->config.steps);
    pp_exec_report_state(page, run);
    print_machine(page, run);
    if (run->what_if)
        pp_text_paragraph(page->out, page->terminal.width, PP_EXEC_LABEL, "what-if", run->what_if);
    fputc('\n', page->out);
}
