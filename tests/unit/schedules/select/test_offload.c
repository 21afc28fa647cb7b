/* --offload as text: short forms mean what the long ones do. */
#include "schedules/select/offload.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { CLASSES = 3, HOMES = 6 };
static const enum pp_state_class class_of[CLASSES] = {PP_STATE_PARAMS, PP_STATE_OPTIMIZER,
                                                      PP_STATE_ACTIVATIONS};

static const struct pp_offload_scope TRAINS = {.has_peers = true};

static struct pp_state_spec parsed(const char *text)
{
    struct pp_state_spec state = {0};
    struct pp_error err = {0};

    cr_assert_eq(pp_offload_parse(text, &TRAINS, &state, &err), PP_OK, "%s: %s", text, err.message);
    return state;
}

static bool is_same(const struct pp_state_spec *a, const struct pp_state_spec *b)
{
    return memcmp(a->home, b->home, sizeof a->home) == 0 &&
           memcmp(a->moved_frac, b->moved_frac, sizeof a->moved_frac) == 0;
}

/* A set of classes in every rotation with every home: written class by class, and once. */
Test(offload, a_class_without_a_tier_takes_that_of_the_next_one)
{
    static const char *const homes[HOMES] = {"host",     "nvme", "host:40%",
                                             "nvme:0.5", "peer", "peer:25%"};

    for (int first = 0; first < CLASSES; first++)
        for (int count = 1; count <= CLASSES; count++)
            for (int home = 0; home < HOMES; home++) {
                char each[128] = "", once[128] = "", part[32];
                bool takes_share = true;
                for (int i = 0; i < count; i++) {
                    const enum pp_state_class class = class_of[(first + i) % CLASSES];
                    const char *name = pp_state_class_names[class];
                    takes_share &= class != PP_STATE_OPTIMIZER;
                    snprintf(part, sizeof part, "%s%s=%s", i ? "," : "", name, homes[home]);
                    strcat(each, part);
                    snprintf(part, sizeof part, "%s%s", i ? "," : "", name);
                    strcat(once, part);
                }
                snprintf(part, sizeof part, "=%s", homes[home]);
                strcat(once, part);
                if (strchr(homes[home], ':') && !takes_share)
                    continue;
                const struct pp_state_spec a = parsed(each), b = parsed(once);
                cr_assert(is_same(&a, &b), "%s, %s", each, once);
                for (int i = 0; i < count; i++)
                    cr_assert(pp_state_is_away(&b, class_of[(first + i) % CLASSES]), "%s", once);
            }
}

Test(offload, several_homes_in_one_text)
{
    const struct pp_state_spec state = parsed("p,os=nvme,a=host:25%");

    cr_assert_eq(state.home[PP_STATE_PARAMS], PP_TIER_NVME);
    cr_assert_eq(state.home[PP_STATE_OPTIMIZER], PP_TIER_NVME);
    cr_assert_eq(state.home[PP_STATE_ACTIVATIONS], PP_TIER_HOST);
    cr_assert_eq(state.moved_frac[PP_STATE_PARAMS], 0);
    cr_assert_float_eq(state.moved_frac[PP_STATE_ACTIVATIONS], 0.25, 1e-12);
}

Test(offload, wrong_texts_are_refused)
{
    static const char *const wrong[] = {"",
                                        ",",
                                        "p",
                                        "p,os",
                                        "p=host,os",
                                        "p=",
                                        "=host",
                                        "p=host,",
                                        "p==host",
                                        "p,p=host",
                                        "p=host,p=nvme",
                                        "q=host",
                                        "p=device",
                                        "p=host:0",
                                        "p=host:2",
                                        "p=host:",
                                        "p=host:40%:",
                                        "a=host:maybe",
                                        ",p=host",
                                        "p=host:1111111111111111111111111111111111111111"};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pp_state_spec state = {0};
        struct pp_error err = {0};
        cr_assert_eq(pp_offload_parse(wrong[i], &TRAINS, &state, &err), PP_EINVAL, "%s", wrong[i]);
        cr_assert(strstr(err.message, "os=nvme"), "%s", err.message);
    }
}

/* A message lists the classes and tiers of its run, and the nearest text has no others. */
Test(offload, messages_list_what_a_run_has)
{
    static const struct {
        const char *text;
        struct pp_offload_scope scope;
        const char *has, *lacks;
    } rows[] = {{"kv=disk", {false, false}, "os=nvme", "peer"},
                {"kv=disk", {false, false}, "a=host", "kv=nvme"},
                {"kv=disk", {true, true}, "nearest: --offload kv=nvme", "os="},
                {"disk", {true, true}, "nearest: --offload p=nvme", "a=host"},
                {"disk", {false, true}, "nearest: --offload os=nvme", "kv="},
                {"p=peers", {true, true}, "nearest: --offload p=peer", "g=host"},
                {"p=peers", {false, false}, "p=host or p=nvme", "nearest"},
                {"gradients=ram", {true, true}, "p=host:40%", "nearest"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pp_state_spec state = {0};
        struct pp_error err = {0};
        cr_expect_eq(pp_offload_parse(rows[i].text, &rows[i].scope, &state, &err), PP_EINVAL);
        const char *list = strchr(err.message, ';'); /* after the text */
        cr_expect(strstr(list, rows[i].has), "%s", err.message);
        cr_expect_not(strstr(list, rows[i].lacks), "%s", err.message);
    }
}

/* The processors of a node add and update on its host and drives. Idle devices lend memory alone.
 */
Test(offload, the_host_does_not_work_in_the_memory_of_peers)
{
    static const struct {
        const char *homes;
        bool is_cpu_update, is_summed_on_device, has_peers;
        const char *refused; /* NULL: legal */
    } rows[] = {{"p=peer", false, false, true, NULL},
                {"os=peer", false, false, true, NULL},
                {"p=peer,a=peer", false, false, true, NULL},
                {"a=peer,os=host", true, false, true, NULL},
                {"g,os=peer", false, true, true, NULL},
                {"g,os=peer", false, false, true, "nearest: --sum device, or g=host"},
                {"os=peer", true, false, true, "nearest: without --cpu-optimizer, or os=host"},
                {"p=peer,os=host", true, false, true, "do not reach p=peer"},
                {"p=peer", false, false, false, "only simulated"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pp_offload_options options = {.homes = rows[i].homes,
                                                   .is_cpu_update = rows[i].is_cpu_update,
                                                   .is_summed_on_device =
                                                       rows[i].is_summed_on_device,
                                                   .scope.has_peers = rows[i].has_peers};
        struct pp_state_spec state = {0};
        struct pp_error err = {0};
        const enum pp_status status = pp_offload_take(&options, &state, &err);
        cr_expect_eq(status == PP_OK, rows[i].refused == NULL, "%s: %s", rows[i].homes,
                     err.message);
        cr_expect(!rows[i].refused || strstr(err.message, rows[i].refused), "%s", err.message);
    }
}
