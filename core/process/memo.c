/* Texts by name in a file in memory; locks of single bytes guard it. */
#define _GNU_SOURCE /* memfd_create */
#include "core/process/memo.h"

#include "core/hash.h"
#include "core/map64.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The file is a list of entries, each a head, a name with its NUL and a text. Byte END_LOCK guards
 * its end; byte NAME_LOCKS + (hash mod NAMES) the making of a name. */
struct head {
    uint64_t hash, name_bytes, text_bytes;
    int64_t status; /* of the failure that the text tells; 0 = none */
};
static const off_t END_LOCK = (off_t)1 << 60, NAME_LOCKS = ((off_t)1 << 60) + 1;
enum { NAMES = 1 << 20 };

struct pp_memo {
    int file;
    off_t seen;             /* end of the entries that `first` has */
    struct pp_map64 places; /* hash of a name: index into `entries` */
    off_t *entries;
    int count, capacity;
    struct pp_arena *arena;
};

static void forget(void *context)
{
    close(((struct pp_memo *)context)->file);
}

struct pp_memo *pp_memo_create(struct pp_arena *arena)
{
    struct pp_memo *memo = PP_NEW(arena, struct pp_memo);

    memo->arena = arena;
    memo->places = pp_map64_create(arena, 16);
    memo->file = memfd_create("pipesim-memo", MFD_CLOEXEC);
    if (memo->file < 0)
        return NULL;
    pp_arena_defer(arena, forget, memo);
    return memo;
}

static void lock(const struct pp_memo *memo, off_t byte, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

    while (fcntl(memo->file, F_SETLKW, &range) != 0 && errno == EINTR)
        ;
}

static bool read_at(const struct pp_memo *memo, void *to, size_t bytes, off_t at)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = pread(memo->file, (char *)to + done, bytes - done, at + (off_t)done);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static bool write_at(const struct pp_memo *memo, const void *from, size_t bytes, off_t at)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t put =
            pwrite(memo->file, (const char *)from + done, bytes - done, at + (off_t)done);
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

/* Reads the heads that other processes have added. */
static void catch_up(struct pp_memo *memo)
{
    struct head head;

    lock(memo, END_LOCK, F_RDLCK);
    while (read_at(memo, &head, sizeof(head), memo->seen)) {
        int32_t *place = pp_map64_at(&memo->places, head.hash >> 1, memo->count);
        *place = memo->count;
        *PP_PUSH(memo->arena, memo->entries, memo->count, memo->capacity) = memo->seen;
        memo->seen += (off_t)(sizeof(head) + head.name_bytes + head.text_bytes);
    }
    lock(memo, END_LOCK, F_UNLCK);
}

/* Returns the entry of a name; false if there is none. Of two names with the same hash, the memo
 * finds the later one. */
static bool find(struct pp_memo *memo, struct pp_arena *arena, const char *name, uint64_t hash,
                 struct head *head, struct pp_bytes *text)
{
    catch_up(memo);
    const int32_t *place = pp_map64_find(&memo->places, hash >> 1);
    if (!place || !read_at(memo, head, sizeof(*head), memo->entries[*place]))
        return false;
    const off_t at = memo->entries[*place] + (off_t)sizeof(*head);
    char *own = pp_arena_alloc_raw(arena, head->name_bytes);
    if (!read_at(memo, own, head->name_bytes, at) || strcmp(own, name) != 0)
        return false;
    text->length = head->text_bytes;
    text->data = pp_arena_alloc_raw(arena, head->text_bytes + 1);
    text->data[head->text_bytes] = '\0';
    return read_at(memo, text->data, head->text_bytes, at + (off_t)head->name_bytes);
}

/* Adds an entry. Without room for it the next one that wants it makes it again. */
static void add(const struct pp_memo *memo, const char *name, struct head head, const char *text)
{
    lock(memo, END_LOCK, F_WRLCK);
    const off_t at = lseek(memo->file, 0, SEEK_END);
    off_t end = at + (off_t)sizeof(head);
    bool is_whole =
        write_at(memo, &head, sizeof(head), at) && write_at(memo, name, head.name_bytes, end);
    end += (off_t)head.name_bytes;
    is_whole = is_whole && write_at(memo, text, head.text_bytes, end);
    if (!is_whole && ftruncate(memo->file, at) != 0)
        is_whole = false; /* memory is short; the torn entry ends the list for all */
    lock(memo, END_LOCK, F_UNLCK);
}

static void make(const struct pp_memo *memo, struct pp_arena *arena, const char *name,
                 const struct pp_memo_maker *maker, struct head *head, struct pp_bytes *text)
{
    struct pp_error failure = {0};

    head->name_bytes = strlen(name) + 1;
    head->status = maker->make(maker->context, arena, name, text, &failure);
    if (head->status != PP_OK) {
        text->data = pp_arena_strdup(arena, failure.message);
        text->length = strlen(failure.message);
    }
    head->text_bytes = text->length;
    if (head->status != PP_EINTR)
        add(memo, name, *head, text->data);
}

enum pp_status pp_memo_get(struct pp_memo *memo, struct pp_arena *arena, const char *name,
                           const struct pp_memo_maker *maker, struct pp_bytes *text,
                           struct pp_error *err)
{
    const uint64_t hash = pp_hash(PP_HASH_OF_NOTHING, name, strlen(name));
    struct head head = {.hash = hash};
    const off_t own_lock = NAME_LOCKS + (off_t)(hash % NAMES);

    if (!find(memo, arena, name, hash, &head, text)) {
        lock(memo, own_lock, F_WRLCK);
        if (!find(memo, arena, name, hash, &head, text))
            make(memo, arena, name, maker, &head, text);
        lock(memo, own_lock, F_UNLCK);
    }
    return head.status == PP_OK ? PP_OK
                                : pp_error_set(err, (enum pp_status)head.status, "%s", text->data);
}
