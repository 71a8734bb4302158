/* What lists of blobs do not show of a hierarchical account: the access control lists of root
 * directories, and the encryption contexts of files. rest: Path-List, Path-Get-Properties */
#include <nettle/sha2.h>
#include <stdlib.h>

#include "base/encode.h"
#include "base/json.h"
#include "transfer/listing.h"
#include "transfer/server.h"

#define PAGE_DEPTH 4u

#define FLAT_QUERY "restype=container&comp=list&include=snapshots%2Cmetadata%2Ctags%2Cversions"

/* Shows access control lists; the second one for servers that do not list tags of paths. */
static const char *const queries[] = {
    "restype=container&comp=list&include=snapshots%2Cmetadata%2Ctags%2Cpermissions",
    "restype=container&comp=list&include=snapshots%2Cmetadata%2Cpermissions",
};

void server_find_hierarchy(struct server_source *server)
{
    struct arena *arena = server->worker->arena;
    struct arena_mark mark = arena_mark(arena);

    if (!api_client_is_hierarchical(server->api_client, arena, &server->is_hierarchical) &&
        !run_is_comparing(server->worker->run))
        worker_note(server->worker,
                    "the source does not report whether it has a hierarchical namespace; it is "
                    "copied as a flat account");
    server->has_paths =
        server->is_hierarchical && api_client_has_service(server->api_client, ENDPOINT_DFS);
    server->blobs_query = NULL;
    arena_rewind(arena, mark);
}

/* Returns true if the server accepts the query. */
static bool accepts(struct server_source *server, struct bytes path, const char *query)
{
    struct arena *arena = server->worker->arena;
    struct arena_mark mark = arena_mark(arena);
    const struct api_request request = {
        .method = "GET",
        .service = ENDPOINT_BLOB,
        .path = path,
        .query = arena_printf(arena, "%s&maxresults=1", query),
    };
    struct fetch_client_answer answer;
    bool accepted = api_client_request(server->api_client, arena, &request, &answer);

    arena_rewind(arena, mark);
    return accepted;
}

void server_choose_query(struct server_source *server, struct bytes path)
{
    for (size_t i = 0; i < sizeof queries / sizeof queries[0] && !server->blobs_query; i++) {
        if (server->is_hierarchical && accepts(server, path, queries[i]))
            server->blobs_query = queries[i];
    }
    if (server->blobs_query)
        return;
    server->blobs_query = FLAT_QUERY;
    if (server->is_hierarchical && !run_is_comparing(server->worker->run))
        worker_note(server->worker,
                    "access control lists cannot be read, so the account is copied as a flat "
                    "one: %s",
                    api_client_problem(server->api_client));
    server->hides_access = server->is_hierarchical;
    server->is_hierarchical = false;
}

/* Reports that the endpoint does not respond, and stops using it. */
static void lose_paths(struct server_source *server)
{
    server->has_paths = false;
    if (!run_is_comparing(server->worker->run))
        worker_note(server->worker,
                    "the encryption contexts of files and the access control lists of root "
                    "directories are not copied: %s",
                    api_client_problem(server->api_client));
}

/* ---- root directories ---- */

void server_add_access(struct arena *arena, struct item *item, const struct server_access *access)
{
    struct bytes mode = access->permissions;
    bool is_sticky = mode.len >= 9 && (mode.ptr[8] == 't' || mode.ptr[8] == 'T');

    if (access->acl.len == 0)
        return;
    item_header_string(arena, item, ITEM_OWNER, access->owner);
    item_header_string(arena, item, ITEM_GROUP, access->group);
    item_header_string(arena, item, ITEM_ACL, access->acl);
    if (is_sticky)
        item_header_string(arena, item, ITEM_PERMISSIONS, bytes_of(mode.ptr, 9));
}

enum put_result server_put_root(struct server_source *server, struct bytes container,
                                struct bytes path)
{
    struct arena *arena = server->worker->arena;
    struct item item = { .kind = ITEM_FOLDER, .parent = container, .name = bytes_of("", 0) };
    const struct api_request request = { .method = "HEAD",
                                         .service = ENDPOINT_DFS,
                                         .path = arena_printf(arena, "%.*s/", BYTES_ARG(path)),
                                         .query = bytes_from_string("action=getAccessControl") };
    struct fetch_client_answer answer;

    if (server->has_paths && !api_client_request(server->api_client, arena, &request, &answer))
        lose_paths(server);
    if (server->has_paths) {
        const struct server_access access = {
            .owner = fetch_head_find(&answer.head, ITEM_OWNER),
            .group = fetch_head_find(&answer.head, ITEM_GROUP),
            .permissions = fetch_head_find(&answer.head, ITEM_PERMISSIONS),
            .acl = fetch_head_find(&answer.head, ITEM_ACL),
        };

        server_add_access(arena, &item, &access);
    } else if (run_is_comparing(server->worker->run)) {
        return PUT_CREATED; /* nothing is known that could be compared */
    } else {
        run_leave_out(server->worker->run, LEFT_OUT_ACCESS, 1);
    }
    return run_put(server->worker->run, &item);
}

/* ---- encryption contexts ---- */

struct path_context {
    struct bytes name, context;
};

static void add_context(struct path_contexts *contexts, const struct json_member of[2])
{
    if (contexts->count == contexts->capacity) {
        size_t capacity = contexts->capacity > 0 ? 2 * contexts->capacity : 64;
        struct path_context *more = arena_array(contexts->arena, capacity, sizeof *more);

        if (contexts->count > 0)
            memcpy(more, contexts->of, contexts->count * sizeof *more);
        contexts->of = more;
        contexts->capacity = capacity;
    }
    contexts->of[contexts->count++] =
        (struct path_context){ arena_copy(contexts->arena, of[0].text),
                               arena_copy(contexts->arena, of[1].text) };
}

/* Reads the contexts of a page, and hashes its names. Returns false if it is not a page. */
static bool take_page(struct server_source *server, struct bytes body,
                      struct path_contexts *contexts, struct item_hash *ret_names,
                      uint64_t *ret_entries)
{
    static const char *const list = "paths", *const names[] = { "name", "EncryptionContext" };
    struct arena *arena = server->worker->arena;
    struct json_member paths, path, of[2];
    struct json_reader reader;
    struct sha256_ctx hash;

    *ret_entries = 0;
    if (!json_object_pick(arena, body, PAGE_DEPTH, &list, 1, &paths) || paths.kind != JSON_LIST)
        return false;
    sha256_init(&hash);
    json_list_init(&reader, arena, paths.text, PAGE_DEPTH - 1);
    while (json_next(&reader, &path)) {
        if (path.kind != JSON_OBJECT || !json_object_pick(arena, path.text, 1, names, 2, of) ||
            of[0].kind != JSON_STRING)
            return false;
        sha256_update(&hash, of[0].text.len + 1, (const uint8_t *)arena_string(arena, of[0].text));
        ++*ret_entries;
        if (json_text(&of[1]).ptr)
            add_context(contexts, of);
    }
    sha256_digest(&hash, ITEM_HASH_SIZE, ret_names->of);
    return !reader.bad;
}

static int by_name(const void *x, const void *y)
{
    const struct path_context *a = x, *b = y;

    return bytes_compare(a->name, b->name);
}

/* Reads one page; *marker, in the contexts' arena, is that of the next one. */
static bool list_page(struct server_source *server, struct bytes path, struct bytes *marker,
                      struct listing_bound *bound, struct path_contexts *contexts)
{
    struct arena *arena = server->worker->arena;
    const struct api_request request = {
        .method = "GET",
        .service = ENDPOINT_DFS,
        .path = path,
        .query = arena_printf(arena, "resource=filesystem&recursive=true%s%.*s",
                              marker->len > 0 ? "&continuation=" : "",
                              BYTES_ARG(percent_encode(arena, *marker, ""))),
    };
    struct fetch_client_answer answer;
    struct item_hash names;
    struct bytes next;
    uint64_t entries;

    if (!api_client_request(server->api_client, arena, &request, &answer)) {
        lose_paths(server);
        return false;
    }
    if (!take_page(server, answer.body, contexts, &names, &entries))
        return worker_problem(server->worker, "dfs %.*s: its list of paths cannot be read",
                              BYTES_ARG(path));
    next = fetch_head_find(&answer.head, "x-ms-continuation");
    if (next.len > 0 && !listing_bound_page(bound, &names, entries, next))
        return worker_problem(server->worker, "dfs %.*s: its list of paths does not end",
                              BYTES_ARG(path));
    *marker = next.len > 0 ? arena_copy(contexts->arena, next) : bytes_of("", 0);
    return true;
}

void path_contexts_read(struct server_source *server, struct bytes path,
                        struct path_contexts *contexts)
{
    struct arena *arena = server->worker->arena;
    struct listing_bound bound = { .pages = 0 };
    struct bytes marker = bytes_of("", 0);
    bool listed;

    if (!server->has_paths)
        return;
    do {
        struct arena_mark mark = arena_mark(arena);

        listed = list_page(server, path, &marker, &bound, contexts);
        arena_rewind(arena, mark);
    } while (listed && marker.len > 0);
    if (contexts->count > 0)
        qsort(contexts->of, contexts->count, sizeof contexts->of[0], by_name);
}

struct bytes path_contexts_find(const struct path_contexts *contexts, struct bytes name)
{
    const struct path_context wanted = { .name = name };
    const struct path_context *found =
        contexts->count > 0
            ? bsearch(&wanted, contexts->of, contexts->count, sizeof contexts->of[0], by_name)
            : NULL;

    return found ? found->context : (struct bytes){ NULL, 0 };
}
