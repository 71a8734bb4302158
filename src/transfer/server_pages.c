/* See server.h. */
#include <nettle/sha2.h>

#include "base/encode.h"
#include "transfer/listing.h"
#include "transfer/server.h"

/* Limits for a page of 5,000 blobs with all their properties. */
#define LISTING_LIMITS ((struct xml_limits){ .depth_max = 12, .nodes_max = (size_t)2 << 20 })

/* Page size of the listing for comparison: its pages end elsewhere than those of the first listing,
 * so that both do not miss the same entries at the ends of pages. */
#define COMPARED_PAGE  "4093"

struct bytes server_text(const struct xml_node *node, const char *name)
{
    const struct xml_node *child = node ? xml_child(node, name) : NULL;

    return child ? child->text : (struct bytes){ NULL, 0 };
}

/* Returns true if the name contains U+FFFE or U+FFFF, the only characters for which the service
 * encodes a name. rest: List-Blobs, "Encoded" */
static bool needs_encoding(struct bytes name)
{
    for (size_t i = 0; i + 2 < name.len; i++) {
        if (memcmp(name.ptr + i, "\xEF\xBF", 2) == 0 &&
            ((unsigned char)name.ptr[i + 2] & 0xfe) == 0xbe)
            return true;
    }
    return false;
}

struct bytes server_name(struct arena *arena, struct bytes name)
{
    struct bytes decoded;

    if (name.len == 0 || !memchr(name.ptr, '%', name.len))
        return name;
    decoded = percent_decode(arena, name);
    return decoded.ptr && needs_encoding(decoded) ? decoded : name;
}

void server_add_metadata(struct arena *arena, struct item *item, const struct xml_node *node)
{
    const struct xml_node *metadata = xml_child(node, "Metadata");

    for (metadata = metadata ? metadata->first_child : NULL; metadata; metadata = metadata->next)
        item_header(arena, item, arena_printf(arena, "x-ms-meta-%.*s", BYTES_ARG(metadata->name)),
                    metadata->text.ptr ? metadata->text : bytes_from_string(""));
}

static struct xml_node *parse(struct server_source *server, const struct api_request *api_request,
                              struct bytes body)
{
    struct xml_error error;
    struct xml_node *root = xml_parse(server->worker->arena, body, LISTING_LIMITS, &error);

    if (!root)
        worker_problem(server->worker, "%s %.*s: its response is not valid XML: %s",
                       service_names[api_request->service], BYTES_ARG(api_request->path),
                       error.reason);
    return root;
}

struct xml_node *server_get_xml(struct server_source *server, enum endpoint_kind service,
                                struct bytes path, struct bytes query)
{
    const struct api_request api_request = {
        .method = "GET", .service = service, .path = path, .query = query
    };
    struct fetch_client_answer answer;

    if (!api_client_request(server->api_client, server->worker->arena, &api_request, &answer)) {
        worker_problem(server->worker, "%s", api_client_problem(server->api_client));
        return NULL;
    }
    return parse(server, &api_request, answer.body);
}

/* ---- pages ---- */

static void hash_text(struct sha256_ctx *hash, struct bytes text)
{
    uint64_t length = text.len;

    sha256_update(hash, sizeof length, (const uint8_t *)&length);
    if (text.len > 0)
        sha256_update(hash, text.len, (const uint8_t *)text.ptr);
}

/* Hashes the names of the entries of a page, and returns their number. */
static uint64_t hash_names(const struct xml_node *page, struct item_hash *ret_names)
{
    static const char *const lists[] = { "Containers", "Blobs", "Queues", "Shares", "Entries" };
    static const char *const parts[] = { "Name", "Snapshot", "VersionId" };
    struct sha256_ctx hash;
    uint64_t entries = 0;

    sha256_init(&hash);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const struct xml_node *node = xml_child(page, lists[i]);

        for (node = node ? node->first_child : NULL; node; node = node->next, entries++) {
            for (size_t j = 0; j < sizeof parts / sizeof parts[0]; j++)
                hash_text(&hash, server_text(node, parts[j]));
        }
    }
    sha256_digest(&hash, ITEM_HASH_SIZE, ret_names->of);
    return entries;
}

/* The marker is in the caller's arena, because the page is freed before the next request. */
static bool take_page(struct server_source *server, const struct server_pages *pages,
                      struct arena *markers, struct listing_bound *bound, struct bytes *marker)
{
    struct arena *arena = server->worker->arena;
    struct bytes query = arena_printf(
        arena, "%s%s%s%.*s", pages->query,
        run_is_comparing(server->worker->run) ? "&maxresults=" COMPARED_PAGE : "",
        marker->len > 0 ? "&marker=" : "", BYTES_ARG(percent_encode(arena, *marker, "")));
    struct xml_node *page = server_get_xml(server, pages->service, pages->path, query);
    struct item_hash names;
    struct bytes next;
    uint64_t entries;

    if (!page || !pages->take(pages->context, page))
        return false;
    next = server_text(page, "NextMarker");
    entries = hash_names(page, &names);
    if (next.len > 0 && !listing_bound_page(bound, &names, entries, next))
        return worker_problem(server->worker, "%s %.*s: its listing does not end",
                              service_names[pages->service], BYTES_ARG(pages->path));
    *marker = next.len > 0 ? arena_copy(markers, next) : bytes_of("", 0);
    return true;
}

bool server_list_pages(struct server_source *server, const struct server_pages *pages)
{
    struct arena *markers = arena_new((size_t)1 << 30), *arena = server->worker->arena;
    struct listing_bound bound = { .pages = 0 };
    struct bytes marker = bytes_of("", 0);
    bool listed;

    do {
        struct arena_mark mark = arena_mark(arena);

        listed = take_page(server, pages, markers, &bound, &marker);
        arena_rewind(arena, mark);
    } while (listed && marker.len > 0);
    arena_free(markers);
    return listed;
}

/* ---- elements of pages ---- */

void server_leave_lease(struct server_source *server, const struct xml_node *properties)
{
    struct bytes state = server_text(properties, "LeaseState");

    if (bytes_is(state, "leased") || bytes_is(state, "breaking"))
        run_leave_out(server->worker->run, LEFT_OUT_LEASES, 1);
}

struct owners_listing {
    struct server_source *server;
    const struct server_owners *owners;
};

static bool take_owners(void *context, struct xml_node *page)
{
    const struct owners_listing *l = context;
    struct arena *arena = l->server->worker->arena;
    const struct xml_node *node = xml_child(page, l->owners->list);

    for (node = node ? node->first_child : NULL; node; node = node->next) {
        struct arena_mark mark = arena_mark(arena);
        bool taken = !bytes_is(node->name, l->owners->element) || l->owners->take(l->server, node);

        arena_rewind(arena, mark);
        if (!taken)
            return false;
    }
    return true;
}

bool server_list_owners(struct server_source *server, const struct server_owners *owners)
{
    struct owners_listing listing = { server, owners };
    const struct server_pages pages = {
        .service = owners->service,
        .path = bytes_of("", 0),
        .query = owners->query,
        .take = take_owners,
        .context = &listing,
    };

    return server_list_pages(server, &pages);
}

struct bytes server_policies(struct server_source *server, enum endpoint_kind service,
                             struct bytes path, const char *query)
{
    const struct api_request api_request = {
        .method = "GET", .service = service, .path = path, .query = bytes_from_string(query)
    };
    struct fetch_client_answer answer;

    if (run_is_comparing(server->worker->run) || api_client_is_shared(server->api_client)) {
        run_leave_out(server->worker->run, LEFT_OUT_POLICIES, 1);
        return (struct bytes){ NULL, 0 };
    }
    if (api_client_request(server->api_client, server->worker->arena, &api_request, &answer))
        return answer.body;
    worker_problem(server->worker, "%s", api_client_problem(server->api_client));
    return (struct bytes){ NULL, 0 };
}
