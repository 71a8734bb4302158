/* Reads data from Azurite's extents: see azurite.h. */
#include "transfer/azurite.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "transfer/safe_path.h"

/* Id of cleared ranges. */
#define ZERO_ID "*ZERO*"

/* Accepts only hexadecimal digits and '-', because the id becomes a file name. */
static bool is_id(struct bytes id)
{
    for (size_t i = 0; i < id.len; i++) {
        if (id.ptr[i] != '-' && bytes_hex_digit(id.ptr[i]) < 0)
            return false;
    }
    return id.len > 0 && id.len < AZURITE_ID_SIZE;
}

bool azurite_add_part(struct azurite *a, struct text *parts, uint64_t at,
                      const struct json_member *persistency, uint64_t *ret_count)
{
    static const char *const names[] = { "id", "offset", "count" };
    struct azurite_part part = { .at = at };
    struct json_member of[3];
    struct bytes id;

    if (persistency->kind != JSON_OBJECT || !azurite_pick(a, persistency->text, names, 3, of))
        return false;
    id = azurite_text(&of[0]);
    part.offset = azurite_number(&of[1]);
    part.count = azurite_number(&of[2]);
    *ret_count = part.count;
    if (bytes_is(id, ZERO_ID))
        id = bytes_of("", 0);
    else if (!is_id(id))
        return false;
    if (part.count > INT64_MAX || part.offset > INT64_MAX || at > INT64_MAX)
        return false;
    memcpy(part.id, id.ptr, id.len);
    text_add(parts, bytes_of(&part, sizeof part));
    return true;
}

/* Reads the overlap of a part with the requested run. */
static bool read_part(const struct azurite *a, struct worker *worker, const char *storage,
                      const struct azurite_part *part, uint64_t at, uint64_t length, char *to)
{
    uint64_t from = part->at > at ? part->at : at;
    uint64_t part_end = part->at + part->count, run_end = at + length;
    uint64_t end = part_end < run_end ? part_end : run_end;
    struct bytes path;
    ssize_t n;
    int fd;

    if (from >= end || part->id[0] == '\0')
        return true;
    path = arena_printf(worker->arena, "%s/%s", storage, part->id);
    fd = safe_path_open(a->folder, path, false);
    n = fd < 0 ? -1
               : file_read_at(fd, to + (from - at), (size_t)(end - from),
                              part->offset + (from - part->at));
    if (n != (ssize_t)(end - from))
        worker_problem(worker, "%.*s: %s", BYTES_ARG(path),
                       n < 0 ? strerror(errno) : "it is shorter than recorded in the database");
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)(end - from);
}

bool azurite_read(const struct azurite *a, struct worker *worker, const char *storage,
                  struct bytes parts, uint64_t at, uint64_t length, struct bytes *ret_bytes)
{
    char *to = arena_bytes(worker->arena, (size_t)length);
    size_t count = parts.len / sizeof(struct azurite_part);

    memset(to, 0, (size_t)length);
    *ret_bytes = bytes_of(to, (size_t)length);
    for (size_t i = 0; i < count; i++) {
        struct azurite_part part;

        memcpy(&part, parts.ptr + i * sizeof part, sizeof part);
        if (!read_part(a, worker, storage, &part, at, length, to))
            return false;
    }
    return true;
}
