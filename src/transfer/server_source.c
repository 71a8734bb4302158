/* An account on a server as the source: see server.h. rest: Get-Blob, Get-File, Get-Page-Ranges,
 * List-Ranges */
#include <inttypes.h>
#include <stdlib.h>

#include "base/encode.h"
#include "base/url.h"
#include "transfer/server.h"
#include "transfer/run.h"

#define RANGES_LIMITS ((struct xml_limits){ .depth_max = 6, .nodes_max = (size_t)4 << 20 })

/* ---- listing ---- */

/* Removes Logging from Azurite's properties: there it is enabled by default without writing logs,
 * while the target would fill $logs without end. decision: 908 */
static struct bytes meant_properties(struct worker *worker,
                                     const struct fetch_client_answer *answer,
                                     enum endpoint_kind service)
{
    struct bytes body = answer->body, server = fetch_head_find(&answer->head, "server");
    const char *begin, *end;

    if (!bytes_has_prefix(server, bytes_from_string("Azurite")) || !body.ptr || body.len == 0)
        return body;
    begin = memmem(body.ptr, body.len, "<Logging>", 9);
    end = memmem(body.ptr, body.len, "</Logging>", 10);
    if (!begin || !end || end < begin)
        return body;
    if (!run_is_comparing(worker->run))
        worker_note(worker,
                    "the Logging properties of the %s service are left out: they have no effect in "
                    "Azurite",
                    service_names[service]);
    end += 10;
    return arena_printf(worker->arena, "%.*s%.*s", (int)(begin - body.ptr), body.ptr,
                        BYTES_ARG(bytes_from(body, (size_t)(end - body.ptr))));
}

/* Reads the properties of a service. Returns false if there is no such service. */
static bool find_service(struct server_source *server, enum endpoint_kind service, bool *ret_failed)
{
    struct worker *worker = server->worker;
    const struct api_request api_request = { .method = "GET",
                                             .service = service,
                                             .path = bytes_of("", 0),
                                             .query = bytes_from_string(
                                                 "restype=service&comp=properties"),
                                             .is_probe = service == ENDPOINT_FILE };
    struct item item = { .kind = ITEM_SERVICE,
                         .parent = bytes_from_string(service_names[service]) };
    struct fetch_client_answer answer;

    *ret_failed = false;
    if (!api_client_has_service(server->api_client, service))
        return false;
    if (api_client_request(server->api_client, worker->arena, &api_request, &answer)) {
        item.body = meant_properties(worker, &answer, service);
        *ret_failed = run_put(worker->run, &item) == PUT_STOPPED;
    } else if (api_client_got_no_response(server->api_client) && service == ENDPOINT_FILE) {
        if (!run_is_comparing(worker->run))
            worker_note(worker, "the source has no File service: no shares are copied");
        return false;
    } else if (api_client_got_no_response(server->api_client)) {
        *ret_failed = !worker_problem(worker, "%s", api_client_problem(server->api_client));
    } /* otherwise the SAS does not permit reading the properties; copy what it permits */
    return !*ret_failed;
}

static bool list(struct source *source, struct worker *worker)
{
    static bool (*const lists[ENDPOINT_SERVICES])(struct server_source *) = {
        [ENDPOINT_BLOB] = list_blobs,
        [ENDPOINT_QUEUE] = list_queues,
        [ENDPOINT_TABLE] = list_tables,
        [ENDPOINT_FILE] = list_shares,
    };
    struct server_source *server = (struct server_source *)(void *)source;
    bool listed = true;

    server->worker = worker;
    server->api_client = server->is_target ? worker->to : worker->from;
    for (unsigned i = 0; i < ENDPOINT_SERVICES; i++) {
        struct arena_mark mark = arena_mark(worker->arena);
        bool failed;

        if (find_service(server, i, &failed))
            listed &= lists[i](server);
        listed &= !failed;
        arena_rewind(worker->arena, mark);
    }
    return listed;
}

static bool complete(struct source *source, struct worker *worker, struct item *item)
{
    return complete_file((struct server_source *)(void *)source, worker, item);
}

/* ---- data ---- */

static struct bytes path_of(struct arena *arena, const struct item *item)
{
    return arena_printf(arena, "/%.*s/%.*s", BYTES_ARG(percent_encode(arena, item->parent, "$")),
                        BYTES_ARG(percent_encode(arena, item->name, "/")));
}

/* Returns false if the source might normalize the blob's path to that of another one.
 * decision: 39 */
static bool is_reached(struct worker *worker, const struct item *item)
{
    return item->kind != ITEM_BLOB ||
           bytes_equal(url_normalize_path(worker->arena, item->name), item->name);
}

static bool fail_unreached(struct worker *worker, const struct item *item)
{
    return worker_problem(worker, "%.*s/%.*s: cannot be read, because its URL addresses %.*s",
                          BYTES_ARG(item->parent), BYTES_ARG(item->name),
                          BYTES_ARG(url_normalize_path(worker->arena, item->name)));
}

/* Requires the listed ETag for a blob whose URL may address another one, and, while reading data,
 * for every blob that may change. Returns false if it is required and was not listed. */
static bool require_listed(struct worker *worker, const struct item *item, bool reads_bytes,
                           struct api_request *api_request, struct fetch_header *headers)
{
    bool reached = is_reached(worker, item);
    bool may_change = reads_bytes && item->kind == ITEM_BLOB && !item->state.ptr;

    if (item->version.len > 0 && (!reached || may_change))
        headers[api_request->header_count++] =
            (struct fetch_header){ BYTES("If-Match"), item->version };
    return reached || item->version.len > 0 || fail_unreached(worker, item);
}

static bool read_problem(struct worker *worker, const struct item *item,
                         const struct api_client *api_client, int status)
{
    if ((status == 404 || status == 412) && !is_reached(worker, item))
        return fail_unreached(worker, item);
    return worker_problem(worker, "%s%s", api_client_problem(api_client),
                          status == 412 ? ": it changed while being copied" : "");
}

/* All data read belongs to the state that was listed. */
static bool read_bytes(struct source *source, struct worker *worker, const struct item *item,
                       uint64_t at, uint64_t length, struct bytes *ret_bytes)
{
    const struct server_source *server = (const struct server_source *)(const void *)source;
    struct api_client *api_client = server->is_target ? worker->to : worker->from;
    struct fetch_header headers[2];
    struct api_request api_request = { .method = "GET",
                                       .service =
                                           item->kind == ITEM_FILE ? ENDPOINT_FILE : ENDPOINT_BLOB,
                                       .path = path_of(worker->arena, item),
                                       .query = item->state.ptr ? item->state : bytes_of("", 0),
                                       .headers = headers,
                                       .range_bytes = length };
    struct fetch_client_answer answer;

    if (length < item->size)
        headers[api_request.header_count++] =
            (struct fetch_header){ BYTES("x-ms-range"),
                                   arena_printf(worker->arena, "bytes=%" PRIu64 "-%" PRIu64, at,
                                                at + length - 1) };
    if (!require_listed(worker, item, true, &api_request, headers))
        return false;
    if (!api_client_request(api_client, worker->arena, &api_request, &answer))
        return read_problem(worker, item, api_client, answer.status);
    *ret_bytes = answer.body;
    return answer.body.len == length ||
           worker_problem(worker, "%.*s: %zu bytes came instead of %" PRIu64,
                          BYTES_ARG(api_request.path), answer.body.len, length);
}

static bool take_range(struct worker *worker, const struct item *item, const struct xml_node *node,
                       struct item_ranges *ranges)
{
    uint64_t start, end;

    return bytes_parse_u64(server_text(node, "Start"), UINT64_MAX - 1, &start) &&
           bytes_parse_u64(server_text(node, "End"), UINT64_MAX - 1, &end) && start <= end &&
           item_ranges_add(worker->arena, ranges, start, end - start + 1, item->size);
}

static bool read_ranges(struct source *source, struct worker *worker, const struct item *item,
                        struct item_ranges *ret_ranges)
{
    const struct server_source *server = (const struct server_source *)(const void *)source;
    struct api_client *api_client = server->is_target ? worker->to : worker->from;
    bool is_file = item->kind == ITEM_FILE;
    struct fetch_header headers[1];
    struct api_request api_request = {
        .method = "GET",
        .headers = headers,
        .service = is_file ? ENDPOINT_FILE : ENDPOINT_BLOB,
        .path = path_of(worker->arena, item),
        .query = arena_printf(worker->arena, "comp=%s%s%.*s", is_file ? "rangelist" : "pagelist",
                              item->state.ptr ? "&" : "",
                              BYTES_ARG(item->state.ptr ? item->state : bytes_of("", 0))),
    };
    struct fetch_client_answer answer;
    struct xml_node *root;
    struct xml_error error;

    *ret_ranges = (struct item_ranges){ .count = 0 };
    if (!require_listed(worker, item, false, &api_request, headers))
        return false;
    if (!api_client_request(api_client, worker->arena, &api_request, &answer))
        return read_problem(worker, item, api_client, answer.status);
    root = xml_parse(worker->arena, answer.body, RANGES_LIMITS, &error);
    for (const struct xml_node *node = root ? root->first_child : NULL; node; node = node->next) {
        if ((bytes_is(node->name, "PageRange") || bytes_is(node->name, "Range")) &&
            !take_range(worker, item, node, ret_ranges))
            root = NULL;
    }
    return root || worker_problem(worker, "%.*s: its list of ranges cannot be read",
                                  BYTES_ARG(api_request.path));
}

static void free_source(struct source *source)
{
    free(source);
}

struct source *source_server_new(bool is_target)
{
    struct server_source *server = xcalloc(1, sizeof *server);

    server->is_target = is_target;
    server->source = (struct source){ .list = list,
                                      .complete = complete,
                                      .read = read_bytes,
                                      .ranges = read_ranges,
                                      .free = free_source };
    return &server->source;
}
