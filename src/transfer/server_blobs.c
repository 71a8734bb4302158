/* Containers and blobs of a server, as items. rest: List-Containers2, List-Blobs */
#include "base/encode.h"
#include "transfer/server.h"

/* Snapshots and versions of one blob. */
#define STATES_MAX      50000u
#define GROUP_BYTES_MAX ((size_t)1 << 30)

/* Blobs of a container on their way: those of one name become one item, of which the older states come first. */
struct blob_listing {
    struct server_source *server;
    struct bytes container;
    struct arena *arena; /* of the group; another one behind a page's end */
    struct item *first, *last;
    unsigned states;
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

/* <Tags><TagSet><Tag><Key/><Value/></Tag>.. as x-ms-tags */
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

/* The query that reads this state; ptr NULL: it is the blob itself. */
static struct bytes state_of(struct arena *arena, const struct xml_node *blob)
{
    struct bytes snapshot = server_text(blob, "Snapshot"), version = server_text(blob, "VersionId");

    if (snapshot.len > 0)
        return arena_printf(arena, "snapshot=%.*s", BYTES_ARG(percent_encode(arena, snapshot, "")));
    if (version.len > 0 && !bytes_is(server_text(blob, "IsCurrentVersion"), "true"))
        return arena_printf(arena, "versionid=%.*s", BYTES_ARG(percent_encode(arena, version, "")));
    return (struct bytes){ NULL, 0 };
}

/* Puts what has one name. Versions of a blob that is deleted are left out: nothing holds them. */
static void end_group(struct blob_listing *l)
{
    if (l->first && !l->last->state.ptr)
        l->is_stopped = run_put(l->server->worker->run, l->first) == PUT_STOPPED;
    else
        run_leave_out(l->server->worker->run, LEFT_OUT_DELETED, l->states);
    l->first = l->last = NULL;
    l->states = 0;
    arena_free(l->arena);
    l->arena = arena_new(GROUP_BYTES_MAX);
}

static bool take_blob(struct blob_listing *l, const struct xml_node *blob)
{
    struct bytes name = server_text(blob, "Name");
    const struct xml_node *properties = xml_child(blob, "Properties");
    struct item item = { .kind = ITEM_BLOB };

    item.name = server_name(l->arena, name);
    if (l->last && !bytes_equal(l->last->name, item.name)) {
        end_group(l);
        item.name = server_name(l->arena, name);
    }
    if (!properties || item.name.len == 0)
        return worker_problem(l->server->worker, "%.*s: its listing has a blob without a name",
                              BYTES_ARG(l->container));
    if (++l->states > STATES_MAX)
        return worker_problem(l->server->worker, "%.*s/%.*s has more than %u snapshots",
                              BYTES_ARG(l->container), BYTES_ARG(name), STATES_MAX);
    item.parent = l->container;
    item.state = state_of(l->arena, blob);
    add_properties(l, &item, properties);
    server_leave_lease(l->server, properties);
    server_add_metadata(l->arena, &item, blob);
    add_tags(l, &item, blob);
    if (l->last) {
        l->last->next = item_copy(l->arena, &item);
        l->last = l->last->next;
    } else {
        l->first = l->last = item_copy(l->arena, &item);
    }
    return !l->is_stopped;
}

static bool take_blobs(void *context, struct xml_node *page)
{
    struct blob_listing *l = context;
    const struct xml_node *blob = xml_child(page, "Blobs");

    for (blob = blob ? blob->first_child : NULL; blob; blob = blob->next) {
        if (bytes_is(blob->name, "Blob") && !take_blob(l, blob))
            return false;
    }
    return true;
}

static bool list_container(struct server_source *server, struct bytes name)
{
    struct blob_listing listing = { .server = server, .container = name };
    const struct server_pages pages = {
        .service = ENDPOINT_BLOB,
        .path = arena_printf(server->worker->arena, "/%.*s",
                             BYTES_ARG(percent_encode(server->worker->arena, name, "$"))),
        .query = "restype=container&comp=list&include=snapshots%2Cmetadata%2Ctags%2Cversions",
        .take = take_blobs,
        .context = &listing,
    };
    bool listed;

    listing.arena = arena_new(GROUP_BYTES_MAX);
    listed = server_list_pages(server, &pages);
    if (listed)
        end_group(&listing);
    arena_free(listing.arena);
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
        return true; /* the service's own: nobody can write there */
    }
    server_leave_lease(server, xml_child(node, "Properties"));
    if (access.len > 0)
        item_header_string(arena, &item, "x-ms-blob-public-access", access);
    server_add_metadata(arena, &item, node);
    item.body = server_policies(server, ENDPOINT_BLOB, path, "restype=container&comp=acl");
    put = run_put(server->worker->run, &item);
    if (put == PUT_STOPPED)
        return false;
    if (put != PUT_FAILED) /* one that cannot be listed leaves the others */
        (void)list_container(server, item.parent);
    return true;
}

static bool take_containers(void *context, struct xml_node *page)
{
    struct server_source *server = context;
    const struct xml_node *node = xml_child(page, "Containers");

    for (node = node ? node->first_child : NULL; node; node = node->next) {
        struct arena_mark mark = arena_mark(server->worker->arena);
        bool taken = !bytes_is(node->name, "Container") || take_container(server, node);

        arena_rewind(server->worker->arena, mark);
        if (!taken)
            return false;
    }
    return true;
}

bool list_blobs(struct server_source *server)
{
    const struct server_pages pages = {
        .service = ENDPOINT_BLOB,
        .path = bytes_of("", 0),
        .query = "comp=list&include=metadata",
        .take = take_containers,
        .context = server,
    };

    return server_list_pages(server, &pages);
}
