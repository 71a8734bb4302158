/* See json_rows.h. */
#include "base/json_rows.h"

#include <assert.h>

static const char *say(struct arena *arena, const char *name, const char *what, struct bytes member)
{
    return arena_string(arena,
                        arena_printf(arena, "%s %s \"%.*s\"", name, what, BYTES_ARG(member)));
}

const char *json_rows_read(struct json_reader *reader, const char *name,
                           const struct json_row *rows, size_t count, void *context,
                           const char **problem)
{
    struct json_member member;
    uint32_t seen = 0;

    assert(count <= JSON_ROWS_MAX);
    while (!*problem && json_next(reader, &member)) {
        size_t i = 0;

        while (i < count && !bytes_is(member.name, rows[i].name))
            i++;
        if (i < count && (seen >> i & 1) == 0) {
            rows[i].read(context, rows[i].name, &member);
            seen |= UINT32_C(1) << i;
            continue;
        }
        *problem = say(reader->arena, name, i < count ? "has twice the member" : "has no member",
                       member.name);
        return member.at;
    }
    if (*problem || !reader->bad)
        return NULL;
    *problem = "this is not valid JSON";
    return reader->text.ptr + reader->at;
}
