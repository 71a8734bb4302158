/* Lists shares, directories and files of a server as items. Omits snapshots of shares.
 * rest: List-Shares, List-Directories-and-Files, Get-File-Properties, Get-Permission */
#include "base/encode.h"
#include "base/json.h"
#include "transfer/server.h"

/* Maximum size of a path, whose characters the service counts.
 * rest: Naming-and-Referencing-Shares */
#define PATH_BYTES_MAX  8192u
/* Maximum size of the paths of all directories of a share. */
#define PATHS_BYTES_MAX ((size_t)4 << 30)

/* The paths of directories still to be listed. */
struct share_listing {
    struct server_source *server;
    struct bytes share;
    struct arena *arena;
    struct bytes directory; /* current directory; empty for the share's root */
    struct bytes *waiting;
    size_t count, capacity;
};

static struct bytes path_of(struct arena *arena, struct bytes share, struct bytes path)
{
    return arena_printf(arena, "/%.*s%s%.*s", BYTES_ARG(percent_encode(arena, share, "")),
                        path.len > 0 ? "/" : "", BYTES_ARG(percent_encode(arena, path, "/")));
}

/* ---- headers of files and directories ---- */

/* Returns the text of a permission; each side has its own keys. */
static struct bytes permission(struct api_client *api_client, struct arena *arena,
                               struct bytes share, struct bytes key)
{
    static const char *const name = "permission";
    const struct fetch_header header = { BYTES("x-ms-file-permission-key"), key };
    const struct api_request api_request = { .method = "GET",
                                             .service = ENDPOINT_FILE,
                                             .path = path_of(arena, share, bytes_of("", 0)),
                                             .query = bytes_from_string(
                                                 "restype=share&comp=filepermission"),
                                             .headers = &header,
                                             .header_count = 1 };
    struct fetch_client_answer answer;
    struct json_member member;

    if (!api_client_request(api_client, arena, &api_request, &answer) ||
        !json_object_pick(arena, answer.body, 2, &name, 1, &member))
        return (struct bytes){ NULL, 0 };
    return json_text(&member);
}

static void add_headers(struct arena *arena, struct item *item, const struct fetch_head *head)
{
    static const char *const names[][2] = {
        { "content-type", "x-ms-content-type" },
        { "content-encoding", "x-ms-content-encoding" },
        { "content-language", "x-ms-content-language" },
        { "content-md5", "x-ms-content-md5" },
        { "cache-control", "x-ms-cache-control" },
        { "content-disposition", "x-ms-content-disposition" },
        { "x-ms-file-attributes", "x-ms-file-attributes" },
        { "x-ms-file-creation-time", "x-ms-file-creation-time" },
        { "x-ms-file-last-write-time", "x-ms-file-last-write-time" },
    };
    bool is_file = item->kind == ITEM_FILE;

    for (size_t i = is_file ? 0 : 6; i < sizeof names / sizeof names[0]; i++)
        item_header_string(arena, item, names[i][1], fetch_head_find(head, names[i][0]));
    for (size_t i = 0; i < head->header_count; i++) {
        if (bytes_has_prefix(head->headers[i].name, bytes_from_string("x-ms-meta-")))
            item_header(arena, item, head->headers[i].name, head->headers[i].value);
    }
}

bool complete_file(struct server_source *server, struct worker *worker, struct item *item)
{
    struct api_client *api_client = server->is_target ? worker->to : worker->from;
    bool is_file = item->kind == ITEM_FILE;
    const struct api_request api_request = {
        .method = "HEAD",
        .service = ENDPOINT_FILE,
        .path = path_of(worker->arena, item->parent, item->name),
        .query = bytes_from_string(is_file ? "" : "restype=directory")
    };
    struct fetch_client_answer answer;
    struct bytes key;

    if (!api_client_request(api_client, worker->arena, &api_request, &answer))
        return worker_problem(worker, "%s", api_client_problem(api_client));
    add_headers(worker->arena, item, &answer.head);
    key = fetch_head_find(&answer.head, "x-ms-file-permission-key");
    if (key.len > 0)
        item_header_string(worker->arena, item, "x-ms-file-permission",
                           permission(api_client, worker->arena, item->parent, key));
    if (is_file) {
        item->date = fetch_head_find(&answer.head, "x-ms-file-last-write-time");
        (void)bytes_parse_u64(fetch_head_find(&answer.head, "content-length"), UINT64_MAX,
                              &item->size);
    }
    return true;
}

/* ---- listing ---- */

static void add_waiting(struct share_listing *l, struct bytes path)
{
    if (l->count == l->capacity) {
        size_t capacity = l->capacity > 0 ? 2 * l->capacity : 64;
        struct bytes *more = arena_array(l->arena, capacity, sizeof *more);

        if (l->count > 0)
            memcpy(more, l->waiting, l->count * sizeof *more);
        l->waiting = more;
        l->capacity = capacity;
    }
    l->waiting[l->count++] = path;
}

static bool take_entry(struct share_listing *l, const struct xml_node *node)
{
    struct worker *worker = l->server->worker;
    const struct xml_node *properties = xml_child(node, "Properties");
    struct bytes name = server_name(worker->arena, server_text(node, "Name"));
    struct item item = { .kind = ITEM_FILE, .parent = l->share };

    if (bytes_is(node->name, "Directory"))
        item.kind = ITEM_DIRECTORY;
    else if (!bytes_is(node->name, "File"))
        return true;
    if (name.len == 0 || memchr(name.ptr, '/', name.len))
        return worker_problem(worker, "share %.*s: its listing has an invalid name",
                              BYTES_ARG(l->share));
    item.name =
        arena_printf(item.kind == ITEM_DIRECTORY ? l->arena : worker->arena, "%.*s%s%.*s",
                     BYTES_ARG(l->directory), l->directory.len > 0 ? "/" : "", BYTES_ARG(name));
    if (item.name.len > PATH_BYTES_MAX || arena_held(l->arena) > PATHS_BYTES_MAX / 2)
        return worker_problem(worker, "share %.*s: too many directories", BYTES_ARG(l->share));
    item.version = server_text(properties, "Etag");
    (void)bytes_parse_u64(server_text(properties, "Content-Length"), UINT64_MAX, &item.size);
    if (item.kind == ITEM_DIRECTORY) {
        item.size = 0;
        add_waiting(l, item.name);
        if (!run_is_comparing(worker->run) && !complete_file(l->server, worker, &item))
            return true; /* error already reported */
    }
    return run_put(worker->run, &item) != PUT_STOPPED;
}

static bool take_entries(void *context, struct xml_node *page)
{
    struct share_listing *l = context;
    struct arena *arena = l->server->worker->arena;
    const struct xml_node *node = xml_child(page, "Entries");

    for (node = node ? node->first_child : NULL; node; node = node->next) {
        struct arena_mark mark = arena_mark(arena);
        bool taken = take_entry(l, node);

        arena_rewind(arena, mark);
        if (!taken)
            return false;
    }
    return true;
}

static bool list_share(struct server_source *server, struct bytes share)
{
    struct share_listing listing = { .server = server,
                                     .share = share,
                                     .arena = arena_new(PATHS_BYTES_MAX) };
    bool listed = true;

    add_waiting(&listing, bytes_of("", 0));
    while (listed && listing.count > 0) {
        struct server_pages pages = {
            .service = ENDPOINT_FILE,
            .query = "restype=directory&comp=list&include=etag",
            .take = take_entries,
            .context = &listing,
        };

        listing.directory = listing.waiting[--listing.count];
        pages.path = path_of(server->worker->arena, share, listing.directory);
        listed = server_list_pages(server, &pages);
    }
    arena_free(listing.arena);
    return listed;
}

static bool take_share(struct server_source *server, const struct xml_node *node)
{
    struct arena *arena = server->worker->arena;
    struct item item = { .kind = ITEM_SHARE, .parent = server_text(node, "Name") };
    struct bytes path = path_of(arena, item.parent, bytes_of("", 0));
    enum put_result put;

    if (server_text(node, "Snapshot").len > 0) {
        run_leave_out(server->worker->run, LEFT_OUT_SHARE_SNAPSHOTS, 1);
        return true;
    }
    server_leave_lease(server, xml_child(node, "Properties"));
    item_header_string(arena, &item, "x-ms-share-quota",
                       server_text(xml_child(node, "Properties"), "Quota"));
    server_add_metadata(arena, &item, node);
    item.body = server_policies(server, ENDPOINT_FILE, path, "restype=share&comp=acl");
    put = run_put(server->worker->run, &item);
    if (put != PUT_FAILED && put != PUT_STOPPED)
        (void)list_share(server, item.parent);
    return put != PUT_STOPPED;
}

bool list_shares(struct server_source *server)
{
    static const struct server_owners owners = {
        .service = ENDPOINT_FILE,
        .query = "comp=list&include=metadata%2Csnapshots",
        .list = "Shares",
        .element = "Share",
        .take = take_share,
    };

    return server_list_owners(server, &owners);
}
