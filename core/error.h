/* core/error.h — the one error discipline.
 *
 * A function that can fail on user input or on the outside world returns `enum pp_status` and takes
 * `struct pp_error *err` last. The lowest layer sets code and message; layers above may put the
 * place in front with pp_error_prefix(). Only a main() prints. Bugs are assert()s.
 * A status is also the exit code of the program. */
#pragma once

enum pp_status {
    PP_OK = 0,
    PP_EFAIL = 1,  /* the outside world: a file that cannot be opened, no device, overflow */
    PP_EINVAL = 2, /* command line, layout or size refused, content of a model/cluster/cost file */
    PP_EFIT = 3,   /* does not fit into memory: --require-fit, or a cap */
    PP_EPROGRAM = 4,   /* a program that cannot be parsed, is illegal, or deadlocks */
    PP_ETOLERANCE = 5, /* a comparison out of tolerance */
    PP_EINTR = 130,
};

enum { PP_ERROR_BYTES = 6144 };
struct pp_error {
    enum pp_status status;
    char message[PP_ERROR_BYTES]; /* one or several lines, no trailing newline */
};

/* Sets code and message; returns `status` for `return pp_error_set(...)`. An over-long message is
 * cut at the end and marked "...". `err` may be NULL. */
enum pp_status pp_error_set(struct pp_error *err, enum pp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add text before ("file:line: ") or after the message; both return err->status. */
enum pp_status pp_error_prefix(struct pp_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum pp_status pp_error_append(struct pp_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the status of `expr` to the caller unless it is PP_OK. */
#define PP_TRY(expr)                                                                               \
    do {                                                                                           \
        const enum pp_status pp_try_status_ = (expr);                                              \
        if (pp_try_status_ != PP_OK)                                                               \
            return pp_try_status_;                                                                 \
    } while (0)
