/* Prints fragments in their syntaxes. */
#include "core/text/json_write.h"
#include "sim/emit/settings.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80 };

/* Prints remarks after "# ", wrapped; words that are too long stay whole. */
static void print_remarks(const struct pp_emission *emission, FILE *out)
{
    for (int i = 0; i < emission->remark_count; i++) {
        int column = fprintf(out, "#");
        for (const char *p = emission->remarks[i]; *p; p += strspn(p, " ")) {
            const int word = (int)strcspn(p, " ");
            if (column > 1 && column + 1 + word > WIDTH)
                column = fprintf(out, "\n#  ") - 1;
            column += fprintf(out, " %.*s", word, p);
            p += word;
        }
        fputc('\n', out);
    }
}

static bool is_new_section(const struct pp_emission *emission, int i)
{
    const struct pp_emit_setting *s = &emission->settings[i];

    return i == 0 || strcmp(s->section, s[-1].section) != 0;
}

/* ---- bash ------------------------------------------------------------------------------------ */

static bool is_plain_word(const char *text)
{
    return !strpbrk(text, " \t|*()<>$&;'\"\\?[]!#~`");
}

static void print_argument(const struct pp_emit_setting *s, FILE *out)
{
    fprintf(out, "    --%s", s->name);
    if (s->type == PP_EMIT_INT)
        fprintf(out, " %" PRId64, s->integer);
    if (s->type == PP_EMIT_LIST)
        fprintf(out, " %s", s->text);
    if (s->type == PP_EMIT_TEXT)
        fprintf(out, is_plain_word(s->text) ? " %s" : " '%s'", s->text);
    fputc('\n', out);
}

void pp_emit_shell(const struct pp_emission *emission, FILE *out)
{
    print_remarks(emission, out);
    fputs("ARGS=(\n", out);
    for (int i = 0; i < emission->count; i++) {
        const struct pp_emit_setting *s = &emission->settings[i];
        if (is_new_section(emission, i))
            fprintf(out, "    # %s\n", s->section);
        print_argument(s, out);
    }
    fputs(")\n", out);
}

/* ---- TOML ------------------------------------------------------------------------------------ */

/* Prints a basic string. */
static void print_quoted(const char *text, FILE *out)
{
    fputc('"', out);
    for (const char *p = text; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            fprintf(out, "\\u%04X", (unsigned)*p);
        else
            fprintf(out, strchr("\"\\", *p) ? "\\%c" : "%c", *p);
    }
    fputs("\"\n", out);
}

/* Prints a value whose syntax TOML and YAML share. */
static void print_plain(const struct pp_emit_setting *s, FILE *out)
{
    if (s->type == PP_EMIT_INT)
        fprintf(out, "%" PRId64 "\n", s->integer);
    else
        fprintf(out, "%s\n", s->type != PP_EMIT_BOOL ? s->text : s->integer ? "true" : "false");
}

void pp_emit_toml(const struct pp_emission *emission, FILE *out)
{
    print_remarks(emission, out);
    for (int i = 0; i < emission->count; i++) {
        const struct pp_emit_setting *s = &emission->settings[i];
        if (is_new_section(emission, i))
            fprintf(out, "\n[%s]\n", s->section);
        fprintf(out, "%s = ", s->name);
        if (s->type == PP_EMIT_TEXT)
            print_quoted(s->text, out);
        else
            print_plain(s, out);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Returns the object at a path of names with dots, and makes missing ones. */
static json_t *object_at(json_t *root, const char *path)
{
    json_t *at = root;

    for (const char *p = path; *p; p += p[strcspn(p, ".")] ? strcspn(p, ".") + 1 : strlen(p)) {
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, "."), p);
        if (!json_object_get(at, name))
            json_object_set_new(at, name, json_object());
        at = json_object_get(at, name);
    }
    return at;
}

static json_t *json_of(const struct pp_emit_setting *s)
{
    return s->type == PP_EMIT_INT      ? json_integer(s->integer)
           : s->type == PP_EMIT_BOOL   ? json_boolean(s->integer)
           : s->type == PP_EMIT_NUMBER ? json_real(strtod(s->text, NULL))
                                       : json_string(s->text);
}

void pp_emit_json(const struct pp_emission *emission, FILE *out)
{
    json_t *root = json_object(), *comment = json_array();

    for (int i = 0; i < emission->remark_count; i++)
        json_array_append_new(comment, json_string(emission->remarks[i]));
    json_object_set_new(root, "_comment", comment);
    for (int i = 0; i < emission->count; i++) {
        const struct pp_emit_setting *s = &emission->settings[i];
        json_object_set_new(object_at(root, s->section), s->name, json_of(s));
    }
    pp_json_print(root, out);
}

/* ---- YAML ------------------------------------------------------------------------------------ */

/* Prints the lines that lead from one section to another; returns the depth of the latter. */
static int print_path(const char *from, const char *to, FILE *out)
{
    bool is_shared = true;
    int depth = 0;

    for (size_t begin = 0; to[begin]; depth++) {
        const size_t end = begin + strcspn(to + begin, ".");
        is_shared = is_shared && !strncmp(from, to, end) && (!from[end] || from[end] == '.');
        if (!is_shared)
            fprintf(out, "%*s%.*s:\n", 2 * depth, "", (int)(end - begin), to + begin);
        begin = to[end] ? end + 1 : end;
    }
    return depth;
}

void pp_emit_yaml(const struct pp_emission *emission, FILE *out)
{
    const char *from = "";

    print_remarks(emission, out);
    for (int i = 0; i < emission->count; i++) {
        const struct pp_emit_setting *s = &emission->settings[i];
        const int depth = print_path(from, s->section, out);
        fprintf(out, "%*s%s: ", 2 * depth, "", s->name);
        print_plain(s, out);
        from = s->section;
    }
}
