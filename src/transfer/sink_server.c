/* A server as the target: see sink.h. Overwrites existing items with the same name, and leaves
 * others alone. */
#include "transfer/run.h"
#include "transfer/sink.h"

#include <stdlib.h>

#define STATUS_CONFLICT 409

/* ---- services, containers and shares ---- */

static enum endpoint_kind service_of(const struct item *item)
{
    unsigned i = 0;

    while (i + 1 < ENDPOINT_SERVICES && !bytes_is(item->parent, service_names[i]))
        i++;
    return i;
}

/* Lagra supports Azure's properties; other targets may reject some. */
static bool put_service(struct worker *worker, const struct item *item)
{
    const struct sink_request request = {
        .method = "PUT",
        .service = service_of(item),
        .path = bytes_of("", 0),
        .query = bytes_from_string("restype=service&comp=properties"),
        .body = item->body,
        .accepted = 400,
    };
    int status;

    if (!api_client_has_service(worker->to, request.service))
        return worker_problem(worker, "the target has no URL for the %.*s service",
                              BYTES_ARG(item->parent));
    if (!sink_ask(worker, &request, &status))
        return false;
    if (status == 400)
        worker_note(worker,
                    "the properties of the %.*s service are not copied: the target does not "
                    "support all of them",
                    BYTES_ARG(item->parent));
    return true;
}

static bool has_policies(struct bytes xml)
{
    return xml.ptr && memmem(xml.ptr, xml.len, "<SignedIdentifier>", 18);
}

/* Creates the resource, or updates an existing one. */
static bool put_space(struct worker *worker, const struct item *item, enum endpoint_kind service,
                      const char *restype)
{
    struct arena *arena = worker->arena;
    struct sink_request request = { .method = "PUT",
                                    .service = service,
                                    .path = sink_path(arena, item->parent, bytes_of("", 0)),
                                    .query = arena_printf(arena, "restype=%s", restype),
                                    .headers = sink_headers(arena, item),
                                    .body = bytes_of("", 0),
                                    .accepted = STATUS_CONFLICT };
    struct bytes access = item_find_header(item, "x-ms-blob-public-access");
    int status;

    if (!sink_ask(worker, &request, &status))
        return false;
    request.accepted = 0;
    if (status == STATUS_CONFLICT) {
        request.query = arena_printf(arena, "restype=%s&comp=metadata", restype);
        if (!sink_ask(worker, &request, NULL))
            return false;
    }
    if (!has_policies(item->body) && (status != STATUS_CONFLICT || !access.ptr))
        return true;
    request.headers = (struct header_list){ .count = 0 };
    sink_header(arena, &request.headers, "x-ms-blob-public-access", access);
    request.query = arena_printf(arena, "restype=%s&comp=acl", restype);
    request.body = has_policies(item->body) ? item->body : bytes_of("", 0);
    return sink_ask(worker, &request, NULL);
}

static bool put(struct sink *sink, struct source *source, struct worker *worker,
                const struct item *item)
{
    (void)sink;
    switch (item->kind) {
    case ITEM_SERVICE:
        return put_service(worker, item);
    case ITEM_CONTAINER:
        return put_space(worker, item, ENDPOINT_BLOB, "container");
    case ITEM_SHARE:
        return put_space(worker, item, ENDPOINT_FILE, "share");
    case ITEM_BLOB:
        return sink_put_blob(source, worker, item);
    case ITEM_FOLDER:
        return sink_put_folder(worker, item);
    case ITEM_DIRECTORY:
        return sink_put_directory(worker, item);
    case ITEM_FILE:
        return sink_put_file(source, worker, item);
    case ITEM_QUEUE:
        return sink_put_queue(worker, item);
    case ITEM_MESSAGE:
        return sink_put_message(worker, item);
    case ITEM_QUEUE_END:
        return sink_end_queue(worker, item);
    case ITEM_TABLE:
        return sink_put_table(worker, item);
    case ITEM_ENTITY:
        return sink_put_entity(worker, item);
    case ITEM_KINDS:
        break;
    }
    return false;
}

static void free_sink(struct sink *sink)
{
    free(sink);
}

struct sink *sink_server_new(struct worker *worker)
{
    struct sink *sink = xcalloc(1, sizeof *sink);

    *sink = (struct sink){ .put = put, .free = free_sink };
    if (api_client_has_service(worker->to, ENDPOINT_BLOB) &&
        !api_client_is_hierarchical(worker->to, worker->arena, &sink->is_hierarchical))
        worker_note(worker,
                    "the target does not say whether it has a hierarchical namespace, so it "
                    "is treated as flat");
    return sink;
}
