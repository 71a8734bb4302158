/* See item.h. */
#include "transfer/item.h"

#include <nettle/sha2.h>
#include <stdlib.h>

#include "base/dates.h"
#include "base/json.h"

#define HEADERS_FIRST 16u
#define RANGES_FIRST  16u
#define ENTITY_DEPTH  4u
#define NUMBER_BYTES  40u

const char *const item_kind_names[ITEM_KINDS] = {
    [ITEM_SERVICE] = "service",     [ITEM_CONTAINER] = "container", [ITEM_BLOB] = "blob",
    [ITEM_QUEUE] = "queue",         [ITEM_MESSAGE] = "message",     [ITEM_QUEUE_END] = "queueEnd",
    [ITEM_TABLE] = "table",         [ITEM_ENTITY] = "entity",       [ITEM_SHARE] = "share",
    [ITEM_DIRECTORY] = "directory", [ITEM_FILE] = "file",           [ITEM_FOLDER] = "folder",
};

bool item_is_noted(enum item_kind kind)
{
    return kind == ITEM_FOLDER || kind == ITEM_QUEUE_END || !item_is_ordered(kind);
}

bool item_is_ordered(enum item_kind kind)
{
    return kind != ITEM_BLOB && kind != ITEM_ENTITY && kind != ITEM_FILE;
}

bool item_ranges_add(struct arena *arena, struct item_ranges *ranges, uint64_t at, uint64_t length,
                     uint64_t size)
{
    struct item_range *last = ranges->count > 0 ? &ranges->of[ranges->count - 1] : NULL;

    if (length > size || at > size - length || (last && at < last->at + last->length))
        return false;
    if (length == 0)
        return true;
    if (last && at == last->at + last->length) {
        last->length += length;
        return true;
    }
    if (ranges->count == ranges->capacity) {
        size_t capacity = ranges->capacity > 0 ? 2 * ranges->capacity : RANGES_FIRST;
        struct item_range *more = arena_array(arena, capacity, sizeof *more);

        if (ranges->count > 0)
            memcpy(more, ranges->of, ranges->count * sizeof *more);
        ranges->of = more;
        ranges->capacity = capacity;
    }
    ranges->of[ranges->count++] = (struct item_range){ at, length };
    return true;
}

/* ---- headers ---- */

void item_header(struct arena *arena, struct item *item, struct bytes name, struct bytes value)
{
    struct header_list *list = &item->headers;

    if (!value.ptr)
        return;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : HEADERS_FIRST;
        struct fetch_header *more = arena_array(arena, capacity, sizeof *more);

        if (list->count > 0)
            memcpy(more, list->of, list->count * sizeof *more);
        list->of = more;
        list->capacity = capacity;
    }
    list->of[list->count++] = (struct fetch_header){ name, value };
}

void item_header_string(struct arena *arena, struct item *item, const char *name,
                        struct bytes value)
{
    item_header(arena, item, bytes_from_string(name), value);
}

struct bytes item_find_header(const struct item *item, const char *name)
{
    for (size_t i = 0; i < item->headers.count; i++) {
        if (bytes_is(item->headers.of[i].name, name))
            return item->headers.of[i].value;
    }
    return (struct bytes){ NULL, 0 };
}

/* ---- copies ---- */

static struct bytes copy_bytes(struct arena *arena, struct bytes from)
{
    return from.ptr ? arena_copy(arena, from) : from;
}

static struct item *copy_one(struct arena *arena, const struct item *item)
{
    struct item *copy = arena_alloc(arena, sizeof *copy);

    *copy = *item;
    copy->parent = copy_bytes(arena, item->parent);
    copy->name = copy_bytes(arena, item->name);
    copy->state = copy_bytes(arena, item->state);
    copy->version = copy_bytes(arena, item->version);
    copy->body = copy_bytes(arena, item->body);
    copy->place = copy_bytes(arena, item->place);
    copy->date = copy_bytes(arena, item->date);
    copy->headers = (struct header_list){ NULL, 0, 0 };
    copy->ranges = (struct item_ranges){ NULL, 0, 0 };
    for (size_t i = 0; i < item->ranges.count; i++)
        (void)item_ranges_add(arena, &copy->ranges, item->ranges.of[i].at,
                              item->ranges.of[i].length, UINT64_MAX);
    for (size_t i = 0; i < item->headers.count; i++)
        item_header(arena, copy, arena_copy(arena, item->headers.of[i].name),
                    arena_copy(arena, item->headers.of[i].value));
    return copy;
}

struct item *item_copy(struct arena *arena, const struct item *item)
{
    struct item *first = copy_one(arena, item), *last = first;

    while (last->next) {
        last->next = copy_one(arena, last->next);
        last = last->next;
    }
    return first;
}

/* ---- flat accounts ---- */

bool item_is_tree_header(struct bytes name)
{
    static const char *const names[] = { ITEM_OWNER,       ITEM_GROUP,  ITEM_ACL,
                                         ITEM_PERMISSIONS, ITEM_EXPIRY, ITEM_CONTEXT };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_is(name, names[i]))
            return true;
    }
    return false;
}

struct item *item_flatten(struct arena *arena, const struct item *item, bool *ret_lost)
{
    struct item *copy = item_copy(arena, item);

    *ret_lost = false;
    for (struct item *state = copy; state; state = state->next) {
        struct header_list *headers = &state->headers;
        size_t kept = 0;

        for (size_t i = 0; i < headers->count; i++) {
            if (!item_is_tree_header(headers->of[i].name))
                headers->of[kept++] = headers->of[i];
        }
        *ret_lost |= kept < headers->count;
        headers->count = kept;
    }
    if (item->kind != ITEM_FOLDER)
        return copy;
    copy->kind = ITEM_BLOB;
    item_header_string(arena, copy, "x-ms-blob-type", bytes_from_string("BlockBlob"));
    item_header_string(arena, copy, ITEM_FOLDER_MARK, bytes_from_string("true"));
    if (!item_find_header(copy, ITEM_CONTENT_TYPE).ptr)
        item_header_string(arena, copy, ITEM_CONTENT_TYPE, bytes_from_string(ITEM_DEFAULT_TYPE));
    return copy->name.len > 0 ? copy : NULL;
}

uint64_t item_bytes(const struct item *item)
{
    uint64_t bytes = 0;

    for (; item; item = item->next)
        bytes += item->size;
    return bytes;
}

/* ---- hashes ---- */

static void add_number(struct sha256_ctx *hash, uint64_t number)
{
    sha256_update(hash, sizeof number, (const uint8_t *)&number);
}

/* Adds the length too, so that different lists of values never hash the same bytes. */
static void add_bytes(struct sha256_ctx *hash, struct bytes value)
{
    add_number(hash, value.ptr ? value.len : UINT64_MAX);
    if (value.len > 0)
        sha256_update(hash, value.len, (const uint8_t *)value.ptr);
}

static void end_hash(struct sha256_ctx *hash, struct item_hash *ret_hash)
{
    sha256_digest(hash, ITEM_HASH_SIZE, ret_hash->of);
}

void item_hash_source(const struct item *item, struct item_hash *ret_hash)
{
    struct sha256_ctx hash;

    sha256_init(&hash);
    add_number(&hash, item->kind);
    add_bytes(&hash, item->parent);
    add_bytes(&hash, item->name);
    add_bytes(&hash, item->body);
    for (; item; item = item->next) {
        add_bytes(&hash, item->state);
        add_bytes(&hash, item->version);
        add_number(&hash, item->size);
        for (size_t i = 0; i < item->headers.count; i++) {
            add_bytes(&hash, item->headers.of[i].name);
            add_bytes(&hash, item->headers.of[i].value);
        }
    }
    end_hash(&hash, ret_hash);
}

void item_hash_noted(const struct item *item, struct item_hash *ret_hash)
{
    const struct item queue = { .kind = ITEM_QUEUE_END, .parent = item->parent };

    if (item->kind == ITEM_QUEUE || item->kind == ITEM_QUEUE_END)
        item = &queue;
    item_hash_source(item, ret_hash);
}

/* Adds a pair to a checksum that is independent of the order of pairs. */
static void add_pair(uint64_t sum[4], struct bytes name, struct bytes value)
{
    struct item_hash pair;
    struct sha256_ctx hash;
    uint64_t words[4];

    sha256_init(&hash);
    add_bytes(&hash, name);
    add_bytes(&hash, value);
    end_hash(&hash, &pair);
    memcpy(words, pair.of, sizeof words);
    for (size_t i = 0; i < 4; i++)
        sum[i] += words[i];
}

/* Normalizes numbers and times, which have several spellings. */
static struct bytes plain_value(struct arena *arena, const struct json_member *member, bool is_time)
{
    char text[NUMBER_BYTES], iso[INSTANT_ISO_SIZE];
    instant time;

    if (member->kind == JSON_NUMBER && member->text.len < sizeof text) {
        memcpy(text, member->text.ptr, member->text.len);
        text[member->text.len] = '\0';
        return arena_printf(arena, "%.17g", strtod(text, NULL));
    }
    if (is_time && member->kind == JSON_STRING && instant_parse_iso(member->text, &time)) {
        instant_format_iso(time, iso);
        return arena_copy(arena, bytes_from_string(iso));
    }
    if (member->kind == JSON_TRUE || member->kind == JSON_FALSE)
        return bytes_from_string(member->kind == JSON_TRUE ? "true" : "false");
    return member->text;
}

/* Returns true if an annotation gives the property the type of a time. */
static bool is_time(struct arena *arena, struct bytes entity, struct bytes name)
{
    const char *type = arena_string(arena, arena_printf(arena, "%.*s@odata.type", BYTES_ARG(name)));
    struct json_member member;

    return json_object_pick(arena, entity, ENTITY_DEPTH, &type, 1, &member) &&
           bytes_is(member.text, "Edm.DateTime");
}

static bool is_of_server(struct bytes name)
{
    return bytes_has_prefix(name, bytes_from_string("odata.")) || bytes_is(name, "Timestamp") ||
           bytes_has_suffix(name, bytes_from_string("@odata.type"));
}

static void add_entity(struct arena *arena, struct bytes entity, uint64_t sum[4])
{
    struct json_reader reader;
    struct json_member member;

    json_object_init(&reader, arena, entity, ENTITY_DEPTH);
    while (json_next(&reader, &member)) {
        bool looks_like_time = member.kind == JSON_STRING && member.text.len >= 20 &&
                               member.text.ptr[member.text.len - 1] == 'Z';

        if (!is_of_server(member.name) && member.kind != JSON_NULL)
            add_pair(sum, member.name,
                     plain_value(arena, &member,
                                 looks_like_time && is_time(arena, entity, member.name)));
    }
}

/* Returns true for headers that both sides store: not those added by a service, or used only in
 * requests. */
static bool is_alike(struct bytes name)
{
    static const char *const passed_over[] = {
        "x-ms-blob-content-md5",
        "x-ms-content-md5",
        "x-ms-access-tier",
        "x-ms-blob-sequence-number",
        "x-ms-tags",
        "x-ms-file-permission-key",
        "x-ms-file-attributes",
        "x-ms-file-creation-time",
        "x-ms-file-last-write-time",
        "x-ms-file-change-time",
        "x-ms-blob-public-access",
        "x-ms-share-quota",
    };

    for (size_t i = 0; i < sizeof passed_over / sizeof passed_over[0]; i++) {
        if (bytes_is(name, passed_over[i]))
            return false;
    }
    return true;
}

void item_hash_alike(struct arena *arena, const struct item *item, struct item_hash *ret_hash)
{
    struct arena_mark mark = arena_mark(arena);
    struct sha256_ctx hash;
    bool has_headers = item->kind == ITEM_BLOB || item->kind == ITEM_FOLDER;
    uint64_t sum[4] = { 0 };

    for (size_t i = 0; has_headers && i < item->headers.count; i++) {
        if (item->headers.of[i].value.len > 0 && is_alike(item->headers.of[i].name))
            add_pair(sum, arena_copy_lower(arena, item->headers.of[i].name),
                     item->headers.of[i].value);
    }
    if (item->kind == ITEM_ENTITY)
        add_entity(arena, item->body, sum);
    sha256_init(&hash);
    add_number(&hash, item->size);
    sha256_update(&hash, sizeof sum, (const uint8_t *)sum);
    end_hash(&hash, ret_hash);
    arena_rewind(arena, mark);
}

static void pick_keys(struct arena *arena, const struct item *item, struct json_member ret_keys[2])
{
    static const char *const names[] = { "PartitionKey", "RowKey" };

    memset(ret_keys, 0, 2 * sizeof ret_keys[0]);
    (void)json_object_pick(arena, item->body, ENTITY_DEPTH, names, 2, ret_keys);
}

struct bytes item_text(struct arena *arena, const struct item *item)
{
    struct json_member keys[2];

    if (item->kind == ITEM_ENTITY) {
        pick_keys(arena, item, keys);
        return arena_printf(arena, "%.*s(PartitionKey='%.*s',RowKey='%.*s')",
                            BYTES_ARG(item->parent), BYTES_ARG(keys[0].text),
                            BYTES_ARG(keys[1].text));
    }
    return arena_printf(arena, "%.*s%s%.*s", BYTES_ARG(item->parent), item->name.len > 0 ? "/" : "",
                        BYTES_ARG(item->name));
}

void item_hash_name(struct arena *arena, const struct item *item, struct item_hash *ret_hash)
{
    struct arena_mark mark = arena_mark(arena);
    struct json_member keys[2];
    struct sha256_ctx hash;

    sha256_init(&hash);
    add_number(&hash, item->kind);
    add_bytes(&hash, item->parent);
    add_bytes(&hash, item->name);
    if (item->kind == ITEM_ENTITY) {
        pick_keys(arena, item, keys);
        add_bytes(&hash, keys[0].text);
        add_bytes(&hash, keys[1].text);
    }
    end_hash(&hash, ret_hash);
    arena_rewind(arena, mark);
}

bool item_is_state(const struct item *item)
{
    return item->kind == ITEM_BLOB && (item->state.ptr || item->next);
}
