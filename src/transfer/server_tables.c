/* Lists tables and entities of a server as items. rest: Query-Tables, Query-Entities */
#include <nettle/sha2.h>

#include "base/encode.h"
#include "base/json.h"
#include "transfer/listing.h"
#include "transfer/server.h"

#define DEPTH 6u

struct table_listing {
    struct server_source *server;
    struct bytes path; /* "/Tables" or "/NAME()" */
    /* Called for each member of "value"; returns false to end the listing. */
    bool (*take)(struct table_listing *listing, struct bytes object);
    struct bytes table; /* table of the entities */
    struct listing_bound bound;
};

/* Returns the query for the next page, from the continuation headers. */
static struct bytes continuation(struct arena *arena, const struct fetch_head *head)
{
    static const char *const names[] = { "NextTableName", "NextPartitionKey", "NextRowKey" };
    struct text query;

    text_init(&query, arena, 64);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *header = arena_string(
            arena, arena_copy_lower(arena, arena_printf(arena, "x-ms-continuation-%s", names[i])));
        struct bytes value = fetch_head_find(head, header);

        if (value.ptr)
            text_printf(&query, "%s%s=%.*s", query.len > 0 ? "&" : "", names[i],
                        BYTES_ARG(percent_encode(arena, value, "")));
    }
    return text_bytes(&query);
}

/* Hashes the name or the keys of an object of a page. */
static void hash_name(struct arena *arena, struct sha256_ctx *hash, struct bytes object)
{
    static const char *const names[] = { "TableName", "PartitionKey", "RowKey" };
    struct json_member of[3];

    if (!json_object_pick(arena, object, DEPTH, names, 3, of))
        return;
    for (size_t i = 0; i < 3; i++) {
        uint64_t length = of[i].text.len;

        sha256_update(hash, sizeof length, (const uint8_t *)&length);
        if (length > 0)
            sha256_update(hash, (size_t)length, (const uint8_t *)of[i].text.ptr);
    }
}

/* next: the query for the next page; empty if none exists. */
static bool take_page(struct table_listing *l, struct bytes body, struct bytes next)
{
    static const char *const value = "value";
    struct worker *worker = l->server->worker;
    struct json_member list = { .kind = JSON_ABSENT }, member;
    struct json_reader reader;
    struct sha256_ctx hash;
    struct item_hash names;
    uint64_t entries = 0;

    if (!json_object_pick(worker->arena, body, DEPTH, &value, 1, &list) || list.kind != JSON_LIST)
        return worker_problem(worker, "table %.*s: its response is not a list in JSON",
                              BYTES_ARG(l->path));
    sha256_init(&hash);
    json_list_init(&reader, worker->arena, list.text, DEPTH);
    for (; json_next(&reader, &member); entries++) {
        if (member.kind != JSON_OBJECT || !l->take(l, member.text))
            return false;
        hash_name(worker->arena, &hash, member.text);
    }
    sha256_digest(&hash, ITEM_HASH_SIZE, names.of);
    if (next.len > 0 && !listing_bound_page(&l->bound, &names, entries, next))
        return worker_problem(worker, "table %.*s: its listing does not end", BYTES_ARG(l->path));
    return !reader.bad || worker_problem(worker, "table %.*s: its response is not a list in JSON",
                                         BYTES_ARG(l->path));
}

static bool list_pages(struct table_listing *l)
{
    static const struct fetch_header accept = { BYTES("Accept"),
                                                BYTES("application/json;odata=minimalmetadata") };
    struct worker *worker = l->server->worker;
    struct arena *markers = arena_new((size_t)1 << 30);
    struct api_request api_request = { .method = "GET",
                                       .service = ENDPOINT_TABLE,
                                       .path = l->path,
                                       .headers = &accept,
                                       .header_count = 1 };
    bool listed;

    do {
        struct arena_mark mark = arena_mark(worker->arena);
        struct fetch_client_answer answer;
        struct bytes next;

        listed = api_client_request(l->server->api_client, worker->arena, &api_request, &answer) ||
                 worker_problem(worker, "%s", api_client_problem(l->server->api_client));
        next = continuation(markers, &answer.head);
        listed = listed && take_page(l, answer.body, next);
        api_request.query = next;
        arena_rewind(worker->arena, mark);
    } while (listed && api_request.query.len > 0);
    arena_free(markers);
    return listed;
}

static bool take_entity(struct table_listing *l, struct bytes object)
{
    struct item item = { .kind = ITEM_ENTITY, .parent = l->table, .body = object };

    return run_put(l->server->worker->run, &item) != PUT_STOPPED;
}

static bool take_table(struct table_listing *l, struct bytes object)
{
    static const char *const name = "TableName";
    struct worker *worker = l->server->worker;
    struct arena *arena = worker->arena;
    struct json_member member;
    struct item item = { .kind = ITEM_TABLE };
    struct table_listing entities = { .server = l->server, .take = take_entity };
    enum put_result put;

    if (!json_object_pick(arena, object, DEPTH, &name, 1, &member) || !json_text(&member).ptr)
        return worker_problem(worker, "its list of tables contains one without a name");
    item.parent = entities.table = member.text;
    item.body = server_policies(
        l->server, ENDPOINT_TABLE,
        arena_printf(arena, "/%.*s", BYTES_ARG(percent_encode(arena, item.parent, ""))),
        "comp=acl");
    put = run_put(worker->run, &item);
    entities.path =
        arena_printf(arena, "/%.*s()", BYTES_ARG(percent_encode(arena, item.parent, "")));
    if (put != PUT_FAILED && put != PUT_STOPPED)
        (void)list_pages(&entities);
    return put != PUT_STOPPED;
}

bool list_tables(struct server_source *server)
{
    struct table_listing listing = { .server = server,
                                     .path = bytes_from_string("/Tables"),
                                     .take = take_table };

    return list_pages(&listing);
}
