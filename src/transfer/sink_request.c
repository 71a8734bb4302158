/* Functions shared by the sinks that create items on a server: see sink.h. */
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

    for (size_t i = 0; i < item->headers.count; i++)
        item_header(arena, &copy, item->headers.of[i].name, item->headers.of[i].value);
    return copy.headers;
}
