/* Functions common to the sinks of all services: see sink.h. */
#include "transfer/sink.h"

#include "base/encode.h"

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

    for (size_t i = 0; i < item->headers.count; i++) {
        if (!item_is_tree_header(item->headers.of[i].name))
            item_header(arena, &copy, item->headers.of[i].name, item->headers.of[i].value);
    }
    return copy.headers;
}

/* ---- data ---- */

bool sink_state_read(struct sink_state *p, uint64_t at, uint64_t length, struct bytes *ret_bytes)
{
    struct md5_stream *streams[1] = { &p->md5 };

    if (length == 0)
        *ret_bytes = bytes_of("", 0);
    else if (!p->source->read(p->source, p->worker, p->item, at, length, ret_bytes))
        return false;
    md5_update_many(streams, ret_bytes, 1);
    return true;
}

bool sink_state_check_md5(struct sink_state *p)
{
    uint8_t digest[MD5_SIZE];

    md5_stream_digest(&p->md5, digest);
    if (!p->item->has_md5 || memcmp(digest, p->item->md5, sizeof digest) == 0)
        return true;
    return worker_problem(
        p->worker,
        "%.*s: MD5 mismatch: the source reports a different MD5 than that of the received data",
        BYTES_ARG(p->path));
}
