/* See open_source.h. */
#include "source/open_source.h"

#include "source/cell_source.h"

/* This server sends a customer's key to no other machine. decision: 1422 */
static enum error refuse_key(struct gathering *g)
{
    return call_fail(g->call, E_NotImplemented,
                     "The key of a copy source is supported for sources on this server only.");
}

enum error source_open(struct gathering *g, const struct copy_source *source,
                       struct open_source *ret_open)
{
    const struct endpoint *endpoint = source_endpoint(g->call, source);
    enum error e;

    *ret_open = (struct open_source){ .inner = NULL };
    if (!endpoint)
        return source->key ? refuse_key(g) : remote_open(g, source, ret_open);
    e = own_open(g, endpoint, source, 0, ret_open);
    if (e == E_MisdirectedRequest && source->key)
        return refuse_key(g);
    return e == E_MisdirectedRequest ? cell_open(g, endpoint, source, ret_open) : e;
}

void source_close(struct open_source *open)
{
    own_close(open);
    if (open->elsewhere)
        cell_close(open);
    if (open->fetch)
        fetch_close(open->fetch);
}

struct pending_source source_pending(const struct gathering *g, const struct copy_source *source,
                                     const struct open_source *open, struct guid id)
{
    if (!open->is_own)
        return (struct pending_source){
            .id = id, .url = source->text, .account = g->call->input.account, .etag = open->etag
        };
    return (struct pending_source){ .id = id,
                                    .is_own = true,
                                    .is_other =
                                        source_endpoint(g->call, source) != g->call->endpoint,
                                    .url = url_without(g->call->arena, source->text, "sig"),
                                    .account = open->account,
                                    .etag = open->etag };
}

/* ---- reading ---- */

/* Bytes of a fast local source read between two calls of the watch. */
#define LOOK_BYTES (4u << 20)

struct reading {
    struct gather_source bytes; /* must be first */
    struct gathering *g;
    struct open_source *open;
    struct source_watch *watch;
    uint64_t done, looked;
};

static enum error read_bytes(struct gathering *g, struct open_source *open, char *to, size_t max,
                             size_t *ret_count)
{
    if (open->elsewhere)
        return cell_read(g, open, to, max, ret_count);
    return open->is_own ? own_read(g, open, to, max, ret_count)
                        : remote_read(g, open, to, max, ret_count);
}

static enum error read_some(struct gather_source *bytes, char *to, size_t max, size_t *ret_count)
{
    struct reading *reading = (struct reading *)(void *)bytes;
    enum error e = OK;

    if (reading->watch &&
        (!reading->open->is_own || reading->done - reading->looked >= LOOK_BYTES)) {
        reading->looked = reading->done;
        e = reading->watch->look(reading->watch, reading->done);
    }
    if (!e)
        e = read_bytes(reading->g, reading->open, to, max, ret_count);
    reading->done += e ? 0 : *ret_count;
    return e;
}

static const uint64_t *block_lengths(struct gathering *g, const struct copied_bytes *blocks)
{
    uint64_t *lengths = arena_array(g->call->arena, blocks->block_count, sizeof *lengths);

    for (size_t i = 0; i < blocks->block_count; i++)
        lengths[i] = blocks->blocks[i].length;
    return lengths;
}

/* Opens the reader of an own source. */
static enum error begin_own(struct reading *reading, struct copied_bytes *ret_blocks)
{
    struct gathering *g = reading->g;
    struct open_source *open = reading->open;
    enum error e = OK;

    if (ret_blocks && open->facts.content.block_count > 0) {
        e = open->elsewhere ? cell_blocks(open, ret_blocks) : own_blocks(g, open, ret_blocks);
        if (!e) {
            reading->bytes.blocks = block_lengths(g, ret_blocks);
            reading->bytes.block_count = ret_blocks->block_count;
        }
    }
    if (!e && open->elsewhere)
        return cell_begin(g, open);
    if (!e)
        own_begin(g, open);
    return e;
}

/* For operations that always return a checksum, the error does not contain the expected one, as in
 * the real service. */
static enum error fail_sum(struct gathering *g, const struct copy_source *source, enum error e,
                           const void *given, const void *computed, size_t size)
{
    return source->answered == SOURCE_SUM_MD5 ? e
                                              : call_fail_sum(g->call, e, given, computed, size);
}

/* Compares the checksums with those in the request. */
static enum error check_sums(struct gathering *g, const struct copy_source *source)
{
    const struct body *body = &g->call->input.body;

    if (source->expects_md5 && memcmp(source->md5, body->md5, sizeof body->md5) != 0)
        return fail_sum(g, source, E_Md5Mismatch, source->md5, body->md5, sizeof body->md5);
    if (source->expects_crc64 && memcmp(source->crc64, &body->crc64, sizeof body->crc64) != 0)
        return fail_sum(g, source, E_Crc64Mismatch, source->crc64, &body->crc64,
                        sizeof body->crc64);
    return OK;
}

enum error source_gather(struct gathering *g, const struct copy_source *source,
                         struct open_source *open, uint64_t max, struct copied_bytes *ret_blocks,
                         struct source_watch *watch)
{
    struct reading reading = {
        .bytes = { .read = read_some, .length = open->length, .max = max },
        .g = g,
        .open = open,
        .watch = watch,
    };
    enum error e = OK;

    if (ret_blocks)
        *ret_blocks = (struct copied_bytes){ .block_count = 0 };
    if (open->is_own)
        e = begin_own(&reading, ret_blocks);
    if (!e)
        e = gather_body(g, &reading.bytes);
    return e ? e : check_sums(g, source);
}

enum error source_gather_block(struct gathering *g, const struct copy_source *source,
                               const struct size_limit *limits, uint64_t max)
{
    struct open_source open;
    enum error e = source_open(g, source, &open);

    if (!e)
        /* unknown length: checked as bytes arrive */
        e = body_check_size(g->call, limits, open.length);
    if (!e)
        e = source_gather(g, source, &open, max, NULL, NULL);
    source_close(&open);
    if (!e && g->call->input.body.length == 0)
        e = call_fail_header(g->call, E_InvalidHeaderValue, "x-ms-copy-source", source->text);
    return e ? e : body_check_size(g->call, limits, g->call->input.body.length);
}
