/* See path_request.h. */
#include "path_request.h"

#include <assert.h>
#include <inttypes.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dates.h"
#include "draft.h"
#include "world.h"

/* Deletion ids are times since 1601. */
#define DELETION_ID_START                                                                          \
    ((uint64_t)(INSTANT_UNIX_EPOCH - UINT64_C(11644473600) * TICKS_PER_SECOND))

/* Front ends have one port each, where the Data Lake endpoint recognizes requests for the Blob service (decision 1200). */
bool path_request_is_by_blob(const struct ask *ask)
{
    return ask->path.by_blob && world->plan.fronts == 0;
}

void path_request_format(const struct ask *ask, char *to, size_t size)
{
    path_ask_format(&ask->path, to, size);
}

static void add(struct draft *draft, const char *name, struct bytes value)
{
    assert(draft->header_count < DRAFT_HEADERS_MAX);
    draft->headers[draft->header_count].name = name;
    draft->headers[draft->header_count++].value = value;
}

static void set_method(struct draft *draft, enum http_method method, const char *text)
{
    draft->method = method;
    draft->method_text = text;
}

static void add_condition(const struct path_condition *condition, bool of_source,
                          struct arena *arena, struct draft *draft)
{
    static const char *const names[PATH_IFS][2] = {
        [PATH_IF_MATCH] = { "if-match", "x-ms-source-if-match" },
        [PATH_IF_MATCH_ANY] = { "if-match", "x-ms-source-if-match" },
        [PATH_IF_NONE_MATCH] = { "if-none-match", "x-ms-source-if-none-match" },
        [PATH_IF_NONE_MATCH_ANY] = { "if-none-match", "x-ms-source-if-none-match" },
        [PATH_IF_MODIFIED] = { "if-modified-since", "x-ms-source-if-modified-since" },
        [PATH_IF_UNMODIFIED] = { "if-unmodified-since", "x-ms-source-if-unmodified-since" },
    };
    struct bytes value = bytes_from_string("*");
    char date[INSTANT_HTTP_SIZE];

    if (condition->kind == PATH_IF_NOTHING)
        return;
    if (condition->kind == PATH_IF_MATCH || condition->kind == PATH_IF_NONE_MATCH)
        value = arena_printf(arena, "\"0x%" PRIX64 "\"", condition->etag);
    if (condition->kind >= PATH_IF_MODIFIED) {
        instant_format_http(INSTANT_UNIX_EPOCH + (uint64_t)condition->date * TICKS_PER_SECOND,
                            date);
        value = arena_copy(arena, bytes_from_string(date));
    }
    add(draft, names[condition->kind][of_source], value);
}

static void add_number(struct draft *draft, const char *name, int number, struct arena *arena)
{
    add(draft, name, arena_printf(arena, "%d", number));
}

static void add_leases(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    static const char *const acts[ACTS] = { "acquire", "renew", "change", "release", "break" };
    static const char *const actions[] = { NULL, "acquire", "auto-renew", "release",
                                           "acquire-release" };
    const struct lease_terms *lease = &ask->lease;
    bool acquires =
        ask->lease_action == PATH_ACQUIRES || ask->lease_action == PATH_ACQUIRES_AND_RELEASES;

    if (lease->id > 0)
        add(draft, "x-ms-lease-id", bytes_from_string(lease_texts[lease->id]));
    if (ask->source_lease > 0)
        add(draft, "x-ms-source-lease-id", bytes_from_string(lease_texts[ask->source_lease]));
    if (ask->lease_action != PATH_LEASES_NOTHING)
        add(draft, "x-ms-lease-action", bytes_from_string(actions[ask->lease_action]));
    if (ask->op == PATH_LEASE) {
        add(draft, "x-ms-lease-action", bytes_from_string(acts[lease->act]));
        acquires = lease->act == ACT_ACQUIRE;
        if (lease->act == ACT_BREAK && lease->break_s >= 0)
            add_number(draft, "x-ms-lease-break-period", lease->break_s, arena);
    }
    if (acquires)
        add_number(draft, "x-ms-lease-duration", lease->duration_s, arena);
    if (acquires || (ask->op == PATH_LEASE && lease->act == ACT_CHANGE))
        add(draft, "x-ms-proposed-lease-id", bytes_from_string(lease_texts[lease->proposed]));
}

static void add_value(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    char number[16], encoded[BASE64_ENCODE_RAW_LENGTH(sizeof number) + 1];
    size_t length = (size_t)snprintf(number, sizeof number, "%u", ask->value);

    if (ask->value == 0)
        return;
    if (ask->by_blob) {
        add(draft, "x-ms-meta-v", arena_printf(arena, "%u", ask->value));
        return;
    }
    base64_encode_raw(encoded, length, (const uint8_t *)number);
    encoded[BASE64_ENCODE_RAW_LENGTH(length)] = '\0';
    add(draft, "x-ms-properties", arena_printf(arena, "v=%s", encoded));
}

static void add_content(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    char *bytes = arena_alloc(arena, ask->content.length + 1);

    pattern_fill(ask->content.seed, 0, (unsigned char *)bytes, ask->content.length);
    draft->body = bytes_of(bytes, ask->content.length);
}

static void add_escaped(struct text *text, const char *value)
{
    for (; *value; value++)
        text_printf(text, "%%%02X", (unsigned char)*value);
}

/* Returns the path of the filesystem of a place. */
static struct bytes filesystem_path(unsigned place, struct arena *arena)
{
    return arena_printf(arena, "/devstoreaccount1/%s", path_filesystems[path_filesystem_of(place)]);
}

static void write_list(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    char directory[PATH_TEXT_SIZE];
    struct text query;

    text_init(&query, arena, 256);
    text_printf(&query, "resource=filesystem&recursive=%s", ask->is_recursive ? "true" : "false");
    path_text(ask->place, directory);
    if (!path_is_root(ask->place))
        text_printf(&query, "&directory=%s", directory);
    if (ask->max > 0)
        text_printf(&query, "&maxresults=%u", ask->max);
    if (ask->continuation[0]) {
        text_add_string(&query, "&continuation=");
        add_escaped(&query, ask->continuation);
    }
    set_method(draft, METHOD_GET, "GET");
    draft->path = filesystem_path(ask->place, arena);
    draft->query = text_bytes(&query);
}

static void add_expiry(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    static const char *const options[] = { NULL, "RelativeToNow", "Absolute", "NeverExpire" };
    char date[INSTANT_HTTP_SIZE];

    if (ask->expiry == PATH_NO_EXPIRY)
        return;
    add(draft, "x-ms-expiry-option", bytes_from_string(options[ask->expiry]));
    if (ask->expiry == PATH_EXPIRES_IN)
        add(draft, "x-ms-expiry-time", arena_printf(arena, "%" PRIu64, ask->expiry_time));
    if (ask->expiry != PATH_EXPIRES_AT)
        return;
    instant_format_http(INSTANT_UNIX_EPOCH + ask->expiry_time * TICKS_PER_SECOND, date);
    add(draft, "x-ms-expiry-time", arena_copy(arena, bytes_from_string(date)));
}

static void write_create(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    set_method(draft, METHOD_PUT, "PUT");
    add_value(ask, arena, draft);
    add_expiry(ask, arena, draft);
    if (ask->op == PATH_PUT) {
        add(draft, "x-ms-blob-type", bytes_from_string("BlockBlob"));
        add_content(ask, arena, draft);
    } else {
        draft->query =
            bytes_from_string(ask->op == PATH_CREATE_FILE ? "resource=file" : "resource=directory");
    }
}

/* Snapshot Blob, Put Block, Put Block List, Get Block List. */
static void write_blocks(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    static const char *const sources[] = { "Committed", "Uncommitted", "Latest" };
    char name[16];
    struct text body;

    set_method(draft, METHOD_PUT, "PUT");
    if (ask->op == PATH_PUT_BLOCK) {
        block_name(ask->content.block - 1, name);
        draft->query = arena_printf(arena, "comp=block&blockid=%s", name);
        add_content(ask, arena, draft);
        return;
    }
    draft->query = bytes_from_string(ask->op == PATH_SNAPSHOT ? "comp=snapshot" : "comp=blocklist");
    if (ask->op == PATH_SNAPSHOT)
        return;
    if (ask->op == PATH_GET_BLOCK_LIST) {
        set_method(draft, METHOD_GET, "GET");
        draft->query = bytes_from_string("comp=blocklist&blocklisttype=all");
        return;
    }
    add_value(ask, arena, draft);
    text_init(&body, arena, 512);
    text_add_string(&body, "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>");
    for (unsigned i = 0; i < ask->list_count; i++) {
        const char *source = sources[ask->list[i].source];

        block_name(ask->list[i].block, name);
        text_printf(&body, "<%s>%s</%s>", source, name, source);
    }
    text_add_string(&body, "</BlockList>");
    draft->body = text_bytes(&body);
}

static void write_delete(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    set_method(draft, METHOD_DELETE, "DELETE");
    if (!ask->by_blob)
        draft->query = bytes_from_string(ask->is_recursive ? "recursive=true" : "recursive=false");
    else if (ask->snapshot[0])
        draft->query = arena_printf(arena, "snapshot=%s", ask->snapshot);
    if (ask->with_snapshots)
        add(draft, "x-ms-delete-snapshots", bytes_from_string("include"));
}

static void write_update(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    set_method(draft, METHOD_PATCH, "PATCH");
    switch ((int)ask->op) {
    case PATH_APPEND:
        draft->query = arena_printf(arena, "action=append&position=%u%s", ask->position,
                                    ask->flushes ? "&flush=true" : "");
        add_content(ask, arena, draft);
        break;
    case PATH_FLUSH:
        draft->query =
            arena_printf(arena, "action=flush&position=%u%s", ask->position,
                         ask->keeps_rest ? "&retainuncommitteddata=true&close=true" : "");
        break;
    case PATH_SET_PROPERTIES:
        if (ask->by_blob)
            set_method(draft, METHOD_PUT, "PUT");
        draft->query = bytes_from_string(ask->by_blob ? "comp=metadata" : "action=setProperties");
        add_value(ask, arena, draft);
        break;
    default:
        break;
    }
}

static void write_acl(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    const struct path_rights *rights = &ask->acl.access;
    char list[PATH_ACL_SIZE];

    set_method(draft, METHOD_PATCH, "PATCH");
    draft->query = bytes_from_string("action=setAccessControl");
    path_acl_text(&ask->acl, false, list);
    if (ask->sets_mode)
        add(draft, "x-ms-permissions",
            arena_printf(arena, "%d%u%u%u", ask->acl.is_sticky, rights->user, rights->group,
                         rights->other));
    else
        add(draft, "x-ms-acl", arena_copy(arena, bytes_from_string(list)));
}

/* Path Lease, or Lease Blob. */
static void write_lease(const struct path_ask *ask, struct draft *draft)
{
    if (ask->by_blob) {
        set_method(draft, METHOD_PUT, "PUT");
        draft->query = bytes_from_string("comp=lease");
    } else {
        set_method(draft, METHOD_POST, "POST");
    }
}

static void write_rename(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    char source[PATH_TEXT_SIZE];

    path_text(ask->from, source);
    set_method(draft, METHOD_PUT, "PUT");
    if (ask->is_legacy)
        draft->query = bytes_from_string("mode=legacy");
    add(draft, "x-ms-rename-source",
        arena_printf(arena, "/%s/%s", path_filesystems[path_filesystem_of(ask->from)], source));
}

/* Requests about retention, all of which the Blob endpoint has. */
static void write_retention(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    set_method(draft, METHOD_PUT, "PUT");
    if (ask->op == PATH_SET_EXPIRY) {
        draft->query = bytes_from_string("comp=expiry");
        add_expiry(ask, arena, draft);
        return;
    }
    if (ask->op == PATH_UNDELETE) {
        draft->query = bytes_from_string("comp=undelete");
        if (ask->deletion > 0)
            add(draft, "x-ms-undelete-source",
                arena_printf(arena, "?deletionid=%" PRIu64, ask->deletion - DELETION_ID_START));
        return;
    }
    draft->path = bytes_from_string("/devstoreaccount1/");
    draft->query = bytes_from_string("restype=service&comp=properties");
    if (ask->op == PATH_GET_SERVICE) {
        set_method(draft, METHOD_GET, "GET");
        return;
    }
    draft->body =
        arena_printf(arena,
                     "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>%s</Enabled>%s"
                     "</DeleteRetentionPolicy></StorageServiceProperties>",
                     ask->days > 0 ? "true" : "false",
                     ask->days > 0 ? arena_printf(arena, "<Days>%u</Days>", ask->days).ptr : "");
}

static void write_deleted_list(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    struct text query;

    text_init(&query, arena, 256);
    text_add_string(&query, "restype=container&comp=list&showonly=deleted");
    if (ask->max > 0)
        text_printf(&query, "&maxresults=%u", ask->max);
    if (ask->marker[0]) {
        text_add_string(&query, "&marker=");
        add_escaped(&query, ask->marker);
    }
    set_method(draft, METHOD_GET, "GET");
    draft->path = filesystem_path(ask->place, arena);
    draft->query = text_bytes(&query);
}

static void write_read(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    bool reads = ask->op == PATH_READ;

    set_method(draft, reads ? METHOD_GET : METHOD_HEAD, reads ? "GET" : "HEAD");
    if (ask->op == PATH_GET_ACCESS)
        draft->query = bytes_from_string("action=getAccessControl");
    if (ask->snapshot[0])
        draft->query = arena_printf(arena, "snapshot=%s", ask->snapshot);
}

static void write_filesystem(const struct path_ask *ask, struct arena *arena, struct draft *draft)
{
    draft->path = filesystem_path(ask->place, arena);
    draft->query = bytes_from_string("resource=filesystem");
    if (ask->op == PATH_CREATE_FILESYSTEM) {
        set_method(draft, METHOD_PUT, "PUT");
    } else if (ask->op == PATH_DELETE_FILESYSTEM) {
        set_method(draft, METHOD_DELETE, "DELETE");
    } else if (ask->op == PATH_GET_FILESYSTEM) {
        set_method(draft, METHOD_HEAD, "HEAD");
        draft->query = bytes_from_string("restype=container");
    } else {
        set_method(draft, METHOD_GET, "GET");
        draft->query = bytes_from_string("restype=container&comp=list&include=snapshots");
    }
}

void path_request_write(const struct ask *of, struct arena *arena, struct draft *ret_draft)
{
    const struct path_ask *ask = &of->path;
    char path[PATH_TEXT_SIZE];

    path_text(ask->place, path);
    ret_draft->path =
        arena_printf(arena, "%.*s/%s", BYTES_ARG(filesystem_path(ask->place, arena)), path);
    switch (ask->op) {
    case PATH_CREATE_FILESYSTEM:
    case PATH_DELETE_FILESYSTEM:
    case PATH_GET_FILESYSTEM:
    case PATH_LIST_SNAPSHOTS:
        write_filesystem(ask, arena, ret_draft);
        break;
    case PATH_CREATE_FILE:
    case PATH_CREATE_DIRECTORY:
    case PATH_PUT:
        write_create(ask, arena, ret_draft);
        break;
    case PATH_APPEND:
    case PATH_FLUSH:
    case PATH_SET_PROPERTIES:
        write_update(ask, arena, ret_draft);
        break;
    case PATH_SET_ACL:
        write_acl(ask, arena, ret_draft);
        break;
    case PATH_LEASE:
        write_lease(ask, ret_draft);
        break;
    case PATH_RENAME:
        write_rename(ask, arena, ret_draft);
        break;
    case PATH_DELETE:
        write_delete(ask, arena, ret_draft);
        break;
    case PATH_SNAPSHOT:
    case PATH_PUT_BLOCK:
    case PATH_PUT_BLOCK_LIST:
    case PATH_GET_BLOCK_LIST:
        write_blocks(ask, arena, ret_draft);
        break;
    case PATH_SET_EXPIRY:
    case PATH_UNDELETE:
    case PATH_SET_SERVICE:
    case PATH_GET_SERVICE:
        write_retention(ask, arena, ret_draft);
        break;
    case PATH_LIST_DELETED:
        write_deleted_list(ask, arena, ret_draft);
        break;
    case PATH_READ:
    case PATH_GET_PROPERTIES:
    case PATH_GET_ACCESS:
        write_read(ask, arena, ret_draft);
        break;
    case PATH_LIST:
        write_list(ask, arena, ret_draft);
        break;
    case PATH_HOLD: /* by protect_send() */
    case PATH_OPS:
        assert(false);
    }
    if (ask->by_blob && world->plan.fronts > 0)
        add(ret_draft, "accept", bytes_from_string("application/xml"));
    add_condition(&ask->condition, false, arena, ret_draft);
    add_condition(&ask->source_condition, true, arena, ret_draft);
    add_leases(ask, arena, ret_draft);
}

/* ---- response headers ---- */

static void copy(char *to, size_t size, struct bytes from)
{
    (void)snprintf(to, size, "%.*s", BYTES_ARG(from));
}

/* "name=base64,.." */
static unsigned read_value(struct bytes properties)
{
    struct base64_decode_ctx context;
    struct bytes property = { NULL, 0 };
    uint8_t number[64];
    size_t length = sizeof number - 1;

    while (properties.ptr && !bytes_has_prefix(property, (struct bytes)BYTES("v=")))
        bytes_cut(properties, ',', &property, &properties);
    if (!bytes_has_prefix(property, (struct bytes)BYTES("v=")) || property.len > 40)
        return 0;
    base64_decode_init(&context);
    if (!base64_decode_update(&context, &length, number, property.len - 2, property.ptr + 2))
        return 0;
    number[length] = '\0';
    return (unsigned)strtoul((const char *)number, NULL, 10);
}

static uint64_t read_deletion(struct bytes value)
{
    uint64_t id;

    return bytes_parse_u64(value, UINT64_MAX - DELETION_ID_START, &id) ? DELETION_ID_START + id : 0;
}

static int64_t read_date(struct bytes value)
{
    instant at;

    return instant_parse_http(value, &at) ? (int64_t)((at - INSTANT_UNIX_EPOCH) / TICKS_PER_SECOND)
                                          : 0;
}

void path_request_read_header(const struct http_header *header, struct reply *reply)
{
    struct path_reply *path = &reply->path;

    if (bytes_is_nocase(header->name, "x-ms-continuation"))
        copy(path->continuation, sizeof path->continuation, header->value);
    else if (bytes_is_nocase(header->name, "x-ms-resource-type"))
        copy(path->resource_type, sizeof path->resource_type, header->value);
    else if (bytes_is_nocase(header->name, "x-ms-existing-resource-type"))
        copy(path->existing_type, sizeof path->existing_type, header->value);
    else if (bytes_is_nocase(header->name, "x-ms-properties"))
        path->value = read_value(header->value);
    else if (bytes_is_nocase(header->name, "x-ms-deletion-id"))
        path->deletion = read_deletion(header->value);
    else if (bytes_is_nocase(header->name, "x-ms-expiry-time"))
        path->expiry_s = read_date(header->value);
    else if (bytes_is_nocase(header->name, "x-ms-owner"))
        copy(path->owner, sizeof path->owner, header->value);
    else if (bytes_is_nocase(header->name, "x-ms-permissions"))
        copy(path->permissions, sizeof path->permissions, header->value);
    else if (bytes_is_nocase(header->name, "x-ms-acl"))
        copy(path->acl, sizeof path->acl, header->value);
}
