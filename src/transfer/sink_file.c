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

bool sink_ask(struct worker *worker, const struct sink_request *request, int *ret_status)
{
    const struct api_request api_request = { .method = request->method,
                                             .service = request->service,
                                             .path = request->path,
                                             .query = request->query,
                                             .headers = request->headers.of,
                                             .header_count = request->headers.count,
                                             .body = request->body,
                                             .accepted = request->accepted };
    struct fetch_client_answer answer;
    bool asked = api_client_request(worker->to, worker->arena, &api_request, &answer);

    if (ret_status)
        *ret_status = answer.status;
    return asked || worker_problem(worker, "%s", api_client_problem(worker->to));
}

struct bytes sink_path(struct arena *arena, struct bytes parent, struct bytes name)
{
    return arena_printf(arena, "/%.*s%s%.*s", BYTES_ARG(percent_encode(arena, parent, "$")),
                        name.len > 0 ? "/" : "", BYTES_ARG(percent_encode(arena, name, "/")));
}

void sink_header(struct arena *arena, struct header_list *list, const char *name,
                 struct bytes value)
{
    struct item item = { .headers = *list };

    item_header_string(arena, &item, name, value);
    *list = item.headers;
}

struct header_list sink_headers(struct arena *arena, const struct item *item)
{
    struct item copy = { .kind = item->kind };

    for (size_t i = 0; i < item->headers.count; i++)
        item_header(arena, &copy, item->headers.of[i].name, item->headers.of[i].value);
    return copy.headers;
}
