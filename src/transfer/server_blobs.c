/* Lists containers and blobs of a server as items. rest: List-Containers2, List-Blobs */
#include "base/dates.h"
#include "base/encode.h"
#include "transfer/listing.h"
#include "transfer/server.h"

/* Maximum number of snapshots and versions of a blob. */
#define STATES_MAX        50000u
#define GROUP_BYTES_MAX   ((size_t)1 << 30)
#define CONTEXT_BYTES_MAX ((size_t)4 << 30)

/* Listing of a container. Consecutive blobs of one name become one item. */
struct blob_listing {
    struct server_source *server;
    struct bytes container, path;
    struct path_contexts contexts;
    struct arena *arena; /* for the name's states */
    struct blob_states states;
    bool begins_page; /* nothing of this page was processed yet */
    bool is_rest;     /* listing the remaining states of a name */
    bool is_stopped;
};

static void add_property(struct blob_listing *l, struct item *item, const struct xml_node *of,
                         const char *element, const char *header)
{
    struct bytes text = server_text(of, element);

    if (text.len > 0)
        item_header_string(l->arena, item, header, text);
}

static void add_properties(struct blob_listing *l, struct item *item, const struct xml_node *of)
{
    static const char *const names[][2] = {
        { "Content-Type", "x-ms-blob-content-type" },
        { "Content-Encoding", "x-ms-blob-content-encoding" },
        { "Content-Language", "x-ms-blob-content-language" },
        { "Content-MD5", "x-ms-blob-content-md5" },
        { "Cache-Control", "x-ms-blob-cache-control" },
        { "Content-Disposition", "x-ms-blob-content-disposition" },
        { "BlobType", "x-ms-blob-type" },
        { "x-ms-blob-sequence-number", "x-ms-blob-sequence-number" },
    };
    struct bytes md5 = base64_decode(l->arena, server_text(of, "Content-MD5"));

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        add_property(l, item, of, names[i][0], names[i][1]);
    if (bytes_is(server_text(of, "BlobType"), "BlockBlob") &&
        !bytes_is(server_text(of, "AccessTierInferred"), "true"))
        add_property(l, item, of, "AccessTier", "x-ms-access-tier");
    item->has_md5 = md5.ptr && md5.len == sizeof item->md5;
    if (item->has_md5)
        memcpy(item->md5, md5.ptr, sizeof item->md5);
    item->version = server_text(of, "Etag");
    item->is_sealed = bytes_is(server_text(of, "Sealed"), "true");
    (void)bytes_parse_u64(server_text(of, "Content-Length"), UINT64_MAX, &item->size);
}

/* Converts <Tags><TagSet><Tag><Key/><Value/></Tag>.. to x-ms-tags. */
static void add_tags(struct blob_listing *l, struct item *item, const struct xml_node *blob)
{
    const struct xml_node *tag = xml_child(blob, "Tags");
    struct text text;

    tag = tag ? xml_child(tag, "TagSet") : NULL;
    text_init(&text, l->arena, 64);
    for (tag = tag ? tag->first_child : NULL; tag; tag = tag->next) {
        if (text.len > 0)
            text_add_char(&text, '&');
        text_add(&text, percent_encode(l->arena, server_text(tag, "Key"), ""));
        text_add_char(&text, '=');
        text_add(&text, percent_encode(l->arena, server_text(tag, "Value"), ""));
    }
    if (text.len > 0)
        item_header_string(l->arena, item, "x-ms-tags", text_bytes(&text));
}

/* Adds what only a file or directory of a hierarchical account has. */
static void add_path(struct blob_listing *l, struct item *item, const struct xml_node *of)
{
    const struct server_access access = {
        .owner = server_text(of, "Owner"),
        .group = server_text(of, "Group"),
        .permissions = server_text(of, "Permissions"),
        .acl = server_text(of, "Acl"),
    };

    if (l->server->hides_access)
        run_leave_out(l->server->worker->run, LEFT_OUT_ACCESS, 1);
    if (!l->server->is_hierarchical || item->state.ptr)
        return;
    server_add_access(l->arena, item, &access);
    add_property(l, item, of, "Expiry-Time", ITEM_EXPIRY);
    item_header_string(l->arena, item, ITEM_CONTEXT, path_contexts_find(&l->contexts, item->name));
}

/* Removes what every directory has. */
static void make_folder(struct item *item)
{
    size_t kept = 0;

    item->kind = ITEM_FOLDER;
    item->size = 0;
    item->has_md5 = false;
    for (size_t i = 0; i < item->headers.count; i++) {
        struct fetch_header header = item->headers.of[i];
        bool is_default =
            bytes_is(header.name, ITEM_CONTENT_TYPE) && bytes_is(header.value, ITEM_DEFAULT_TYPE);

        if (!is_default && !bytes_is(header.name, "x-ms-blob-type") &&
            !bytes_is(header.name, "x-ms-access-tier") && !bytes_is(header.name, ITEM_FOLDER_MARK))
            item->headers.of[kept++] = header;
    }
    item->headers.count = kept;
}

/* Returns the query that addresses this state; ptr NULL for the blob itself. */
static struct bytes state_of(struct arena *arena, const struct xml_node *blob)
{
    struct bytes snapshot = server_text(blob, "Snapshot"), version = server_text(blob, "VersionId");

    if (snapshot.len > 0)
        return arena_printf(arena, "snapshot=%.*s", BYTES_ARG(percent_encode(arena, snapshot, "")));
    if (version.len > 0 && !bytes_is(server_text(blob, "IsCurrentVersion"), "true"))
        return arena_printf(arena, "versionid=%.*s", BYTES_ARG(percent_encode(arena, version, "")));
    return (struct bytes){ NULL, 0 };
}

/* Puts the blobs of one name. Omits versions of a deleted blob, since they have no blob to belong
 * to. */
static void put_states(struct blob_listing *l)
{
    struct run *run = l->server->worker->run;
    struct item *first = l->states.first, *next;
    uint64_t count = l->states.count;

    for (struct item *item = first; run_is_comparing(run) && item; item = next) {
        next = item->next;
        item->next = NULL;
        l->is_stopped |= run_put(run, item) == PUT_STOPPED;
    }
    if (run_is_comparing(run) || count == 0)
        return;
    first = blob_states_order(&l->states, l->arena);
    if (first)
        l->is_stopped = run_put(run, first) == PUT_STOPPED;
    else
        run_leave_out(run, LEFT_OUT_DELETED, count);
}

static bool add_state(struct blob_listing *l, struct bytes name, const struct xml_node *blob)
{
    const struct xml_node *properties = xml_child(blob, "Properties");
    struct bytes snapshot = server_text(blob, "Snapshot");
    struct item item = { .kind = ITEM_BLOB, .parent = l->container, .name = name };

    if (l->states.count == STATES_MAX)
        return worker_problem(l->server->worker, "%.*s/%.*s has more than %u snapshots",
                              BYTES_ARG(l->container), BYTES_ARG(name), STATES_MAX);
    item.state = state_of(l->arena, blob);
    if (item.state.ptr)
        (void)instant_parse_iso(snapshot.len > 0 ? snapshot : server_text(blob, "VersionId"),
                                &item.moment);
    add_properties(l, &item, properties);
    add_path(l, &item, properties);
    if (!l->is_rest)
        server_leave_lease(l->server, properties);
    server_add_metadata(l->arena, &item, blob);
    add_tags(l, &item, blob);
    if (l->server->is_hierarchical &&
        bytes_is(server_text(properties, "ResourceType"), "directory"))
        make_folder(&item);
    blob_states_add(&l->states, item_copy(l->arena, &item));
    return true;
}

/* ---- a name across two pages ---- */

static bool take_rest(void *context, struct xml_node *page)
{
    struct blob_listing *l = context;
    const struct xml_node *blob = xml_child(page, "Blobs");

    for (blob = blob ? blob->first_child : NULL; blob; blob = blob->next) {
        struct bytes name = server_name(l->arena, server_text(blob, "Name"));

        if (!bytes_is(blob->name, "Blob") || !xml_child(blob, "Properties"))
            continue;
        if (!bytes_equal(name, l->states.first->name))
            return false; /* only longer names follow */
        if (!add_state(l, name, blob))
            l->is_stopped = true;
    }
    return !l->is_stopped;
}

/* Lists the last name of a page again: Azurite's page marker is a name, so its next page starts
 * with another one, even if snapshots of the last one are left. decision: 906 */
static void list_rest(struct blob_listing *l)
{
    struct bytes name = percent_encode(l->arena, l->states.first->name, "");
    const struct server_pages pages = {
        .service = ENDPOINT_BLOB,
        .path = l->path,
        .query = arena_string(l->arena, arena_printf(l->arena, "%s&prefix=%.*s",
                                                     l->server->blobs_query, BYTES_ARG(name))),
        .take = take_rest,
        .context = l,
    };

    l->is_rest = true;
    (void)server_list_pages(l->server, &pages);
    l->is_rest = false;
}

static void end_name(struct blob_listing *l, bool is_at_page_end)
{
    if (is_at_page_end && l->states.count > 0)
        list_rest(l);
    put_states(l);
    l->states = (struct blob_states){ .count = 0 };
    arena_free(l->arena);
    l->arena = arena_new(GROUP_BYTES_MAX);
}

/* ---- containers ---- */

static bool take_blob(struct blob_listing *l, const struct xml_node *blob)
{
    struct bytes name = server_name(l->arena, server_text(blob, "Name"));

    if (!xml_child(blob, "Properties") || name.len == 0)
        return worker_problem(l->server->worker, "%.*s: its listing has a blob without a name",
                              BYTES_ARG(l->container));
    if (l->states.count > 0 && !bytes_equal(l->states.first->name, name)) {
        end_name(l, l->begins_page);
        name = server_name(l->arena, server_text(blob, "Name"));
    }
    l->begins_page = false;
    return add_state(l, name, blob) && !l->is_stopped;
}

static bool take_blobs(void *context, struct xml_node *page)
{
    struct blob_listing *l = context;
    const struct xml_node *blob = xml_child(page, "Blobs");

    l->begins_page = true;
    for (blob = blob ? blob->first_child : NULL; blob; blob = blob->next) {
        if (bytes_is(blob->name, "Blob") && !take_blob(l, blob))
            return false;
    }
    return true;
}

static bool list_container(struct server_source *server, struct bytes name)
{
    struct blob_listing listing = { .server = server, .container = name };
    struct server_pages pages = {
        .service = ENDPOINT_BLOB,
        .take = take_blobs,
        .context = &listing,
    };
    bool listed;

    pages.path = listing.path =
        arena_printf(server->worker->arena, "/%.*s",
                     BYTES_ARG(percent_encode(server->worker->arena, name, "$")));
    pages.query = server->blobs_query;
    listing.arena = arena_new(GROUP_BYTES_MAX);
    listing.contexts.arena = arena_new(CONTEXT_BYTES_MAX);
    path_contexts_read(server, listing.path, &listing.contexts);
    listed = server_list_pages(server, &pages);
    if (listed)
        end_name(&listing, listing.begins_page);
    arena_free(listing.arena);
    arena_free(listing.contexts.arena);
    return listed && !listing.is_stopped;
}

static bool take_container(struct server_source *server, const struct xml_node *node)
{
    struct arena *arena = server->worker->arena;
    struct item item = { .kind = ITEM_CONTAINER, .parent = server_text(node, "Name") };
    struct bytes access = server_text(xml_child(node, "Properties"), "PublicAccess");
    struct bytes path =
        arena_printf(arena, "/%.*s", BYTES_ARG(percent_encode(arena, item.parent, "$")));
    enum put_result put;

    if (bytes_is(item.parent, "$logs") || bytes_is(item.parent, "$blobchangefeed")) {
        run_leave_out(server->worker->run, LEFT_OUT_OWN_CONTAINERS, 1);
        return true; /* the service's own, which no client can write to */
    }
    server_leave_lease(server, xml_child(node, "Properties"));
    if (access.len > 0)
        item_header_string(arena, &item, "x-ms-blob-public-access", access);
    server_add_metadata(arena, &item, node);
    item.body = server_policies(server, ENDPOINT_BLOB, path, "restype=container&comp=acl");
    put = run_put(server->worker->run, &item);
    server_choose_query(server, path);
    if (put != PUT_STOPPED && put != PUT_FAILED && server->is_hierarchical)
        put = server_put_root(server, item.parent, path);
    if (put == PUT_STOPPED)
        return false;
    if (put != PUT_FAILED) /* continue with others if one cannot be listed */
        (void)list_container(server, item.parent);
    return true;
}

bool list_blobs(struct server_source *server)
{
    static const struct server_owners owners = {
        .service = ENDPOINT_BLOB,
        .query = "comp=list&include=metadata",
        .list = "Containers",
        .element = "Container",
        .take = take_container,
    };

    server_find_hierarchy(server);
    return server_list_owners(server, &owners);
}
