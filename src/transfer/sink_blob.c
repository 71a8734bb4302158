/* Creates blobs with their snapshots on a server. Each part is sent with its MD5, which the service
 * checks, and the complete data is verified against the MD5 reported by the source. rest: Put-Blob,
 * Put-Block, Put-Block-List, Append-Block, Put-Page, Snapshot-Blob */
#include "transfer/sink.h"

#include <inttypes.h>

#include "base/encode.h"
#include "base/url.h"
#include "base/xml.h"

#define BLOCK_BYTES     ((uint64_t)8 << 20)
#define BLOCK_BYTES_MAX ((uint64_t)256 << 20)
#define BLOCKS_MAX      50000u

static bool put(struct sink_state *p, const char *query, struct header_list headers,
                struct bytes body)
{
    struct arena *arena = p->worker->arena;
    struct sink_request request = { .method = "PUT",
                                    .service = ENDPOINT_BLOB,
                                    .path = p->path,
                                    .query = bytes_from_string(query),
                                    .headers = headers,
                                    .body = body };
    uint8_t digest[MD5_SIZE];

    if (body.len > 0) {
        md5_of(body, digest);
        sink_header(arena, &request.headers, "Content-MD5",
                    base64_encode(arena, bytes_of(digest, sizeof digest)));
    }
    return sink_ask(p->worker, &request, NULL);
}

/* Frees the bytes of a part before the next one; keeps earlier results. */
static bool send_part(struct sink_state *p, const char *query, struct header_list headers,
                      uint64_t at, uint64_t length)
{
    struct bytes bytes;

    return sink_state_read(p, at, length, &bytes) && put(p, query, headers, bytes);
}

/* ---- block blobs ---- */

static bool put_small(struct sink_state *p)
{
    struct bytes bytes;

    return sink_state_read(p, 0, p->item->size, &bytes) && sink_state_check_md5(p) &&
           put(p, "", sink_headers(p->worker->arena, p->item), bytes);
}

static struct bytes block_id(struct arena *arena, uint64_t number)
{
    return base64_encode(arena, arena_printf(arena, "lagra-import-%08" PRIu64, number));
}

static bool put_blocks(struct sink_state *p, uint64_t block_bytes)
{
    struct arena *arena = p->worker->arena;
    uint64_t size = p->item->size;

    for (uint64_t at = 0, number = 0; at < size; at += block_bytes, number++) {
        struct arena_mark mark = arena_mark(arena);
        const char *query = arena_string(
            arena, arena_printf(arena, "comp=block&blockid=%.*s",
                                BYTES_ARG(percent_encode(arena, block_id(arena, number), ""))));
        bool sent = send_part(p, query, (struct header_list){ .count = 0 }, at,
                              size - at < block_bytes ? size - at : block_bytes);

        arena_rewind(arena, mark);
        if (!sent)
            return false;
    }
    return true;
}

/* Put Block List uses the headers of Put Blob except the type. */
static struct header_list list_headers(struct arena *arena, const struct item *item)
{
    struct item copy = { .kind = ITEM_BLOB };

    for (size_t i = 0; i < item->headers.count; i++) {
        if (!bytes_is(item->headers.of[i].name, "x-ms-blob-type"))
            item_header(arena, &copy, item->headers.of[i].name, item->headers.of[i].value);
    }
    return copy.headers;
}

static bool put_large(struct sink_state *p)
{
    struct arena *arena = p->worker->arena;
    uint64_t block_bytes = BLOCK_BYTES;
    struct text list;

    while (p->item->size / block_bytes >= BLOCKS_MAX)
        block_bytes *= 2;
    if (block_bytes > BLOCK_BYTES_MAX)
        return worker_problem(p->worker, "%.*s is too large", BYTES_ARG(p->path));
    if (!put_blocks(p, block_bytes) || !sink_state_check_md5(p))
        return false;
    text_init(&list, arena, 4096);
    xml_open(&list, "BlockList");
    for (uint64_t at = 0, number = 0; at < p->item->size; at += block_bytes, number++)
        xml_element(&list, "Uncommitted", block_id(arena, number));
    xml_close(&list, "BlockList");
    return put(p, "comp=blocklist", list_headers(arena, p->item), text_bytes(&list));
}

/* ---- append and page blobs ---- */

static bool put_append(struct sink_state *p)
{
    struct arena *arena = p->worker->arena;

    if (!put(p, "", sink_headers(arena, p->item), bytes_of("", 0)))
        return false;
    for (uint64_t at = 0; at < p->item->size; at += SINK_RANGE_BYTES) {
        struct arena_mark mark = arena_mark(arena);
        uint64_t left = p->item->size - at;
        struct header_list headers = { .count = 0 };
        bool sent;

        sink_header(arena, &headers, "x-ms-blob-condition-appendpos",
                    arena_printf(arena, "%" PRIu64, at));
        sent = send_part(p, "comp=appendblock", headers, at,
                         left < SINK_RANGE_BYTES ? left : SINK_RANGE_BYTES);
        arena_rewind(arena, mark);
        if (!sent)
            return false;
    }
    return sink_state_check_md5(p) &&
           (!p->item->is_sealed ||
            put(p, "comp=seal", (struct header_list){ .count = 0 }, bytes_of("", 0)));
}

static bool put_range(struct sink_state *p, uint64_t at, uint64_t length)
{
    struct arena *arena = p->worker->arena;
    struct arena_mark mark = arena_mark(arena);
    struct header_list headers = { .count = 0 };
    bool sent;

    sink_header(arena, &headers, "x-ms-page-write", bytes_from_string("update"));
    sink_header(arena, &headers, "x-ms-range",
                arena_printf(arena, "bytes=%" PRIu64 "-%" PRIu64, at, at + length - 1));
    sent = send_part(p, "comp=page", headers, at, length);
    arena_rewind(arena, mark);
    return sent;
}

static bool put_pages(struct sink_state *p)
{
    struct arena *arena = p->worker->arena;
    struct header_list headers = sink_headers(arena, p->item);
    struct item_ranges ranges;

    sink_header(arena, &headers, "x-ms-blob-content-length",
                arena_printf(arena, "%" PRIu64, p->item->size));
    if (!put(p, "", headers, bytes_of("", 0)) ||
        !p->source->ranges(p->source, p->worker, p->item, &ranges))
        return false;
    for (size_t i = 0; i < ranges.count; i++) {
        uint64_t at = ranges.of[i].at, end = at + ranges.of[i].length;

        for (; at < end; at += SINK_RANGE_BYTES) {
            if (!put_range(p, at, end - at < SINK_RANGE_BYTES ? end - at : SINK_RANGE_BYTES))
                return false;
        }
    }
    return true;
}

/* ---- states ---- */

static bool put_state(struct source *source, struct worker *worker, const struct item *item,
                      struct bytes path)
{
    struct sink_state state = { .source = source, .worker = worker, .item = item, .path = path };
    struct bytes type = item_find_header(item, "x-ms-blob-type");

    md5_stream_init(&state.md5);
    if (bytes_is(type, "AppendBlob"))
        return put_append(&state);
    if (bytes_is(type, "PageBlob"))
        return put_pages(&state);
    if (!bytes_is(type, "BlockBlob"))
        return worker_problem(worker, "%.*s: unknown blob type", BYTES_ARG(path));
    if (sink_has_access(item))
        return sink_put_path(&state);
    return item->size <= BLOCK_BYTES ? put_small(&state) : put_large(&state);
}

/* Deletes what a killed import has created, because its snapshots would be duplicated. */
static bool clear(struct worker *worker, struct bytes path)
{
    struct sink_request request = { .method = "DELETE",
                                    .service = ENDPOINT_BLOB,
                                    .path = path,
                                    .query = bytes_of("", 0),
                                    .accepted = 404 };

    sink_header(worker->arena, &request.headers, "x-ms-delete-snapshots",
                bytes_from_string("include"));
    return sink_ask(worker, &request, NULL);
}

/* Refuses names that a server would normalize, which might overwrite another blob. decision: 39 */
static bool check_name(struct worker *worker, const struct item *item)
{
    struct bytes stored = url_normalize_path(worker->arena, item->name);

    return bytes_equal(stored, item->name) ||
           worker_problem(worker, "%.*s/%.*s: the Blob service would store it as %.*s",
                          BYTES_ARG(item->parent), BYTES_ARG(item->name), BYTES_ARG(stored));
}

bool sink_put_blob(struct source *source, struct worker *worker, const struct item *item)
{
    struct arena *arena = worker->arena;
    struct bytes path = sink_path(arena, item->parent, item->name);
    const struct sink_request snapshot = { .method = "PUT",
                                           .service = ENDPOINT_BLOB,
                                           .path = path,
                                           .query = bytes_from_string("comp=snapshot"),
                                           .body = bytes_of("", 0) };

    if (!check_name(worker, item) || (item->next && !clear(worker, path)))
        return false;
    for (; item; item = item->next) {
        struct arena_mark mark = arena_mark(arena);
        bool made = put_state(source, worker, item, path) &&
                    (!item->next || sink_ask(worker, &snapshot, NULL));

        if (made && sink_has_access(item) &&
            !bytes_is(item_find_header(item, "x-ms-blob-type"), "BlockBlob"))
            made = sink_set_access(worker, item, path);

        arena_rewind(arena, mark);
        if (!made)
            return false;
    }
    return true;
}
