/* Creates directories and files of a share on a server. rest: Create-Directory, Create-File,
 * Put-Range */
#include <inttypes.h>

#include "base/encode.h"
#include "transfer/sink.h"

bool sink_put_directory(struct worker *worker, const struct item *item)
{
    const struct sink_request request = { .method = "PUT",
                                          .service = ENDPOINT_FILE,
                                          .path =
                                              sink_path(worker->arena, item->parent, item->name),
                                          .query = bytes_from_string("restype=directory"),
                                          .headers = sink_headers(worker->arena, item),
                                          .body = bytes_of("", 0),
                                          .accepted = 409 };

    return sink_ask(worker, &request, NULL);
}

static bool put_range(struct source *source, struct worker *worker, const struct item *item,
                      uint64_t at, uint64_t length)
{
    struct arena *arena = worker->arena;
    struct arena_mark mark = arena_mark(arena);
    struct sink_request request = { .method = "PUT",
                                    .service = ENDPOINT_FILE,
                                    .path = sink_path(arena, item->parent, item->name),
                                    .query = bytes_from_string("comp=range") };
    bool put;

    sink_header(arena, &request.headers, "x-ms-write", bytes_from_string("update"));
    sink_header(arena, &request.headers, "x-ms-range",
                arena_printf(arena, "bytes=%" PRIu64 "-%" PRIu64, at, at + length - 1));
    if (item->date.ptr)
        sink_header(arena, &request.headers, "x-ms-file-last-write-time",
                    bytes_from_string("preserve"));
    put = source->read(source, worker, item, at, length, &request.body) &&
          sink_ask(worker, &request, NULL);
    arena_rewind(arena, mark);
    return put;
}

bool sink_put_file(struct source *source, struct worker *worker, const struct item *item)
{
    struct arena *arena = worker->arena;
    struct sink_request request = { .method = "PUT",
                                    .service = ENDPOINT_FILE,
                                    .path = sink_path(arena, item->parent, item->name),
                                    .query = bytes_of("", 0),
                                    .headers = sink_headers(arena, item),
                                    .body = bytes_of("", 0) };
    struct item_ranges ranges = { .count = 0 };

    sink_header(arena, &request.headers, "x-ms-type", bytes_from_string("file"));
    sink_header(arena, &request.headers, "x-ms-content-length",
                arena_printf(arena, "%" PRIu64, item->size));
    if (!sink_ask(worker, &request, NULL) ||
        (item->size > 0 && !source->ranges(source, worker, item, &ranges)))
        return false;
    for (size_t i = 0; i < ranges.count; i++) {
        uint64_t at = ranges.of[i].at, end = at + ranges.of[i].length;

        for (; at < end; at += SINK_RANGE_BYTES) {
            if (!put_range(source, worker, item, at,
                           end - at < SINK_RANGE_BYTES ? end - at : SINK_RANGE_BYTES))
                return false;
        }
    }
    return true;
}
