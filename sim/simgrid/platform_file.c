/* A platform file opened in a child process, and its routes. */
#include "sim/simgrid/platform_file_parts.h"

#include "core/text/file.h"
#include "sim/platform/props.h"
#include "sim/platform/text.h"
#include "sim/simgrid/module/module.h"

#include <stdio.h>
#include <string.h>

enum {
    PLATFORM_MAX_BYTES = 256 << 20,
    LOG_BYTES = 1 << 16,
    HOSTS_MAX = 1 << 20,
    BLANKS_MAX = 1 << 16
};

/* ---- errors ---------------------------------------------------------------------------------- */

/* SimGrid's messages about elements, to find their lines. The name comes after `text` and ends
 * before `until`; the line is that of the nth element of `tag`. */
static const struct {
    const char *text, *until, *tag;
    int nth;
} named[] = {
    {"Link not found: ", "", "link_ctn", 1},
    {"Refusing to create a second host named '", "'", "host", 2},
    {"Link '", "' declared several times", "link", 2},
};

static int find_line(const struct pp_platform *p, const char *reason)
{
    char name[256];

    for (size_t i = 0; i < PP_COUNT(named); i++) {
        const size_t length = strlen(named[i].text);
        if (strncmp(reason, named[i].text, length) != 0)
            continue;
        const char *start = reason + length;
        const char *end = *named[i].until ? strstr(start, named[i].until) : start + strlen(start);
        if (!end || (size_t)(end - start) >= sizeof(name))
            return 0;
        snprintf(name, sizeof(name), "%.*s", (int)(end - start), start);
        return pp_element_line(p->source.text, named[i].tag, name, named[i].nth);
    }
    return 0;
}

/* Replaces SimGrid's words for some mistakes by those of pipesim. */
static const char *plain_words(const char *reason)
{
    static const struct {
        const char *theirs, *ours;
    } words[] = {
        {"BIG FAT WARNING", "no version is given: expected <platform version=\"4.1\">"},
        {"TOO OLD", "the version is too old: expected <platform version=\"4.1\">; "
                    "simgrid_update_xml can translate the file"},
        {"FROM THE FUTURE", "the version is newer than this SimGrid: expected "
                            "<platform version=\"4.1\">"},
        {"There is no host!", "it has no hosts: every host is one device"},
        {"bad_alloc", "it needs more than 8 GiB, or half of the memory of this machine"},
        {"Not a valid model!", "a zone has an unknown routing: expected Full, Floyd, Dijkstra, "
                               "DijkstraCache, Cluster or None"},
        {"does name a node", "a route is from or to a host or router that does not exist"},
    };

    for (size_t i = 0; i < PP_COUNT(words); i++)
        if (strstr(reason, words[i].theirs))
            return words[i].ours;
    /* "Invalid XML (XML input line 3, state 74): Bad attribute" */
    if (!strncmp(reason, "Invalid XML (", 13) && strstr(reason, "): "))
        return strstr(reason, "): ") + 3;
    return reason;
}

/* Explains the child's end in terms of the file. SimGrid's "/proc/self/fd/5:7: " becomes a line. */
static enum pp_status explain(const struct pp_platform *p, const struct pp_error *from,
                              struct pp_error *err)
{
    const char *reason = from->message;
    int line = 0, used = 0;

    if (sscanf(reason, PP_PROBE_NAME "%*d:%d: %n", &line, &used) >= 1 && used > 0)
        reason += used;
    else
        line = find_line(p, reason);
    pp_error_set(err, PP_EINVAL, "%s", plain_words(reason));
    return pp_platform_place(p, line, err);
}

/* Reports why the child has ended. */
static enum pp_status fail(struct pp_platform *p, struct pp_error *err)
{
    struct pp_error from = {0};

    p->is_open = false;
    const enum pp_status status = pp_child_finish(&p->child, &from);
    if (status == PP_OK)
        pp_error_set(&from, PP_EFAIL, "SimGrid ended too early");
    if (status == PP_EINTR || !strncmp(from.message, "cannot load SimGrid", 19))
        return pp_error_set(err, from.status, "%s", from.message);
    return explain(p, &from, err);
}

/* ---- the listing ----------------------------------------------------------------------------- */

static enum pp_status serve(void *job, int channel, struct pp_error *err)
{
    const struct pp_simgrid_module *module;

    PP_TRY(pp_simgrid_load(&module, err));
    return module->serve_platform(job, channel, err);
}

static bool receive_listing(struct pp_arena *arena, struct pp_platform *p)
{
    struct pp_probe_header header;

    if (!pp_probe_receive(p->child.channel, &header, sizeof(header)))
        return false;
    p->hosts = header.hosts;
    p->links = header.links;
    p->alpha_s = header.alpha_s;
    p->link = PP_ARRAY(arena, struct pp_fabric_link, p->links);
    p->names = PP_ARRAY(arena, const char *, p->hosts + p->links);
    char *text = pp_arena_alloc(arena, (size_t)header.text_bytes + 1);
    if (!pp_probe_receive(p->child.channel, p->link, sizeof(*p->link) * (size_t)p->links) ||
        !pp_probe_receive(p->child.channel, text, (size_t)header.text_bytes))
        return false;
    for (int i = 0; i < p->links; i++)
        p->link[i].bytes_per_s *= header.eta_link_frac;
    p->words = text;
    text += strlen(text) + 1;
    for (int i = 0; i < p->hosts + p->links; i++, text += strlen(text) + 1)
        p->names[i] = text;
    return true;
}

/* Refuses numbers without a unit: SimGrid warns, and reads them as bytes per second or seconds. */
static enum pp_status check_units(const struct pp_platform *p, struct pp_error *err)
{
    static const char mark[] = "Deprecated unit-less value '";
    static char log[LOG_BYTES];
    char number[64], what[200];

    pp_child_log(&p->child, log, sizeof(log));
    const char *found = strstr(log, mark);
    if (!found || sscanf(found + strlen(mark), "%63[^']' for %199[^.\n]", number, what) != 2)
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "%s has no unit: %s (as in 10GBps, 100Gbps, 5us, 1Gf)", what,
                 number);
    const char *name = strstr(what, "link ");
    return pp_platform_place(p, name ? pp_element_line(p->source.text, "link", name + 5, 1) : 0,
                             err);
}

/* Line of a link; "l_UP" is half of the link l of the file. */
static int line_of_link(const struct pp_platform *p, const char *name)
{
    char id[256];
    const int line = pp_element_line(p->source.text, "link", name, 1);

    snprintf(id, sizeof(id), "%s", name);
    char *half = strrchr(id, '_');
    if (line > 0 || !half)
        return line;
    *half = '\0';
    return pp_element_line(p->source.text, "link", id, 1);
}

static enum pp_status check_name(const struct pp_platform *p, const char *name,
                                 struct pp_error *err)
{
    if (strlen(name) < PP_LINK_NAME_BYTES)
        return PP_OK;
    pp_error_set(err, PP_EINVAL,
                 "link %.20s...: its name has %zu characters, at most %d can be kept", name,
                 strlen(name), PP_LINK_NAME_BYTES - 1);
    return pp_platform_place(p, line_of_link(p, name), err);
}

static enum pp_status check_links(const struct pp_platform *p, struct pp_error *err)
{
    for (int i = 0; i < p->links; i++) {
        const char *name = p->names[p->hosts + i];
        const struct pp_fabric_link link = p->link[i];

        PP_TRY(check_name(p, name, err));
        if (!(link.bytes_per_s >= 1 && link.bytes_per_s <= 1e18))
            pp_error_set(err, PP_EINVAL, "link %s: bandwidth %g bytes/s is out of range: 1 to 1e18",
                         name, link.bytes_per_s);
        else if (!(link.latency_s >= 0 && link.latency_s <= 10))
            pp_error_set(err, PP_EINVAL, "link %s: latency %g s is out of range: 0 to 10", name,
                         link.latency_s);
        else
            continue;
        return pp_platform_place(p, line_of_link(p, name), err);
    }
    return PP_OK;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static enum pp_status open_platform(struct pp_arena *arena, struct pp_platform *p,
                                    struct pp_cluster *cluster, struct pp_error *err)
{
    if (!receive_listing(arena, p))
        return fail(p, err);
    PP_TRY(check_units(p, err));
    PP_TRY(check_links(p, err));
    return pp_platform_cluster(arena, p, cluster, err);
}

/* Refuses long runs of blanks: SimGrid's reader takes time with their square. */
static enum pp_status check_blanks(const struct pp_platform *p, struct pp_error *err)
{
    const char *const end = p->source.text + p->source.length;
    int line = 1;

    for (const char *at = p->source.text; at < end;) {
        const size_t blanks = strspn(at, " \t\r\n");
        if (blanks > BLANKS_MAX) {
            pp_error_set(err, PP_EINVAL, "%zu blanks in a row: expected at most %d", blanks,
                         BLANKS_MAX);
            return pp_platform_place(p, line, err);
        }
        for (size_t k = 0; k < blanks; k++)
            line += at[k] == '\n';
        at += blanks;
        at += strcspn(at, " \t\r\n") + (*at == '\0');
    }
    return PP_OK;
}

/* Refuses errors that SimGrid would only find after hours, if at all. */
static enum pp_status check_text(const struct pp_platform *p, struct pp_error *err)
{
    struct pp_elements elements = {.rest = p->source.text, .line = 1};
    struct pp_element e;
    int64_t hosts = 0;
    int line;

    while (hosts <= HOSTS_MAX && pp_elements_next(&elements, &e))
        hosts += pp_element_hosts(&e);
    if (hosts > HOSTS_MAX) {
        pp_error_set(err, PP_EINVAL,
                     "%.*s %.*s: up to here %lld hosts, and every host is one "
                     "device: expected at most %d",
                     e.tag_length, e.tag, e.id_length < 60 ? e.id_length : 60, e.id,
                     (long long)hosts, HOSTS_MAX);
        return pp_platform_place(p, e.line, err);
    }
    if (pp_props_check(p->source.text, &line, err) != PP_OK)
        return pp_platform_place(p, line, err);
    return PP_OK;
}

static void close_platform(void *platform)
{
    pp_platform_close(platform);
}

enum pp_status pp_platform_open(struct pp_arena *arena, const char *path,
                                struct pp_platform **platform, struct pp_cluster *cluster,
                                struct pp_error *err)
{
    struct pp_platform *p = PP_NEW(arena, struct pp_platform);
    struct pp_bytes bytes;

    PP_TRY(pp_file_read_limited(arena, path, PLATFORM_MAX_BYTES, &bytes, err));
    p->source = (struct pp_platform_source){pp_arena_strdup(arena, path), bytes.data, bytes.length};
    PP_TRY(check_blanks(p, err));
    PP_TRY(check_text(p, err));
    PP_TRY(pp_child_start(&p->child, serve, &p->source, err));
    p->is_open = true;
    pp_arena_defer(arena, close_platform, p);
    const enum pp_status status = open_platform(arena, p, cluster, err);
    if (status != PP_OK)
        pp_platform_close(p);
    *platform = p;
    return status;
}
