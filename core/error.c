/* Errors as values: a status and a message. */
#include "core/error.h"

#include "core/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void finish(char *message, size_t capacity, size_t wanted)
{
    if (wanted >= capacity)
        memcpy(message + capacity - 4, "...", 4);
    pp_printable_lines(message, capacity);
}

enum pp_status pp_error_set(struct pp_error *err, enum pp_status status, const char *format, ...)
{
    va_list args;

    if (!err)
        return status;
    err->status = status;
    va_start(args, format);
    const int wanted = vsnprintf(err->message, sizeof(err->message), format, args);
    va_end(args);
    finish(err->message, sizeof(err->message), wanted < 0 ? 0 : (size_t)wanted);
    return status;
}

enum pp_status pp_error_prefix(struct pp_error *err, const char *format, ...)
{
    char before[1024];
    va_list args;

    if (!err)
        return PP_EFAIL;
    va_start(args, format);
    vsnprintf(before, sizeof(before), format, args);
    va_end(args);
    const size_t room = sizeof(err->message), shift = strlen(before);
    const size_t length = strlen(err->message),
                 keep = shift + length < room ? length : room - 1 - shift;
    memmove(err->message + shift, err->message, keep);
    memcpy(err->message, before, shift);
    err->message[shift + keep] = '\0';
    finish(err->message, room, shift + length);
    return err->status;
}

enum pp_status pp_error_append(struct pp_error *err, const char *format, ...)
{
    va_list args;

    if (!err)
        return PP_EFAIL;
    const size_t length = strlen(err->message), room = sizeof(err->message) - length;
    va_start(args, format);
    const int wanted = vsnprintf(err->message + length, room, format, args);
    va_end(args);
    finish(err->message + length, room, wanted < 0 ? 0 : (size_t)wanted);
    return err->status;
}
