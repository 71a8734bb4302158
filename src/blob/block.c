/* Put Block: stages one block of a block blob to be. Nobody sees it before a Put Block List names
 * it. */
#include "blob/blob_request.h"

#include "base/encode.h"

/* The most bytes of one block, by version; the row holds the first. semantics 10.1 */
static const struct size_limit limits[] = {
    { "2019-12-12", UINT64_C(4000) << 20 },
    { "2016-05-31", UINT64_C(100) << 20 },
    { "", UINT64_C(4) << 20 },
};

struct put_block {
    struct bytes id;    /* base64 */
    uint32_t id_length; /* decoded */
    struct body_sums sums;
};

size_t block_id_length(struct arena *arena, struct bytes id)
{
    struct bytes decoded = base64_decode(arena, id);

    return decoded.ptr ? decoded.len : 0;
}

static enum error parse_id(struct decision *d, struct put_block *given)
{
    struct bytes id = call_query(d->call, "blockid");
    size_t length;

    if (id.len == 0)
        return fail_query(d, E_MissingRequiredQueryParameter, "blockid", id, NULL);
    length = block_id_length(d->arena, id);
    if (length == 0)
        return fail_query(d, E_InvalidQueryParameterValue, "blockid", id,
                          "Not a valid base64 string.");
    if (length > BLOCK_ID_MAX)
        return fail_query(d, E_OutOfRangeInput, "blockid", id, "At most 64 bytes before base64.");
    given->id = id;
    given->id_length = (uint32_t)length;
    return OK;
}

/* rest: Put-Block */
enum error check_put_block(struct decision *d)
{
    struct put_block *given = arena_alloc(d->arena, sizeof *given);
    enum error e;

    e = blob_refuse_unbuilt(d, REQUEST_BLOCK);
    if (e)
        return e;
    e = parse_id(d, given);
    if (e)
        return e;
    e = blob_check_size(d, limits, d->call->request->content_length);
    if (e)
        return e;
    e = blob_parse_sums(d, SUMS_OF_PART, &given->sums);
    if (e)
        return e;
    d->call->inline_max = BLOCK_INLINE_MAX;
    d->call->parameters = given;
    return OK;
}

/* What is staged so far. Blocks that are over count as none, and go with this change. */
static enum store_result read_staged(struct decision *d, struct uncommitted *ret_total)
{
    const struct blob_state *state = blob_state(d);
    enum store_result result;

    if (!state->found || state->blob.nothing_staged) {
        *ret_total = (struct uncommitted){ .count = 0 };
        return STORE_OK;
    }
    result = uncommitted_read(d->before, d->arena, ret_total);
    if (result || ret_total->count == 0 || !blocks_are_over(ret_total->last_put, d->now))
        return result;
    *ret_total = (struct uncommitted){ .count = 0 };
    return uncommitted_clear(d->before, d->changes, d->arena);
}

/* One more block is one too many, unless it replaces one. */
static enum error check_count(struct decision *d, const struct uncommitted *total, struct bytes id)
{
    struct content_block block;
    enum store_result result;

    if (total->count < UNCOMMITTED_BLOCKS_MAX)
        return OK;
    result = uncommitted_find(d->before, d->arena, id, &block);
    if (result == STORE_NOT_FOUND)
        return E_UncommittedBlockCountExceedsLimit;
    return result ? fail_store(d, result) : OK;
}

/* A blob that is not there yet gets a record that only a listing with its uncommitted blobs shows;
 * one that is there remembers that blocks are staged now. */
static void write_blob(struct decision *d)
{
    const struct blob_state *state = blob_state(d);
    struct blob blob = { .type = BLOB_BLOCK, .uncommitted = true, .created = d->now };

    if (d->subject.exists && !state->blob.nothing_staged)
        return;
    if (state->found)
        blob = state->blob;
    if (!d->subject.exists)
        blob.modified = d->now;
    blob.nothing_staged = false;
    blob_write(d->changes, d->arena, &blob);
}

static enum error check_block(struct decision *d)
{
    const struct body *body = &d->call->body;

    if (body->length == 0)
        return fail_header(d, E_InvalidHeaderValue, "Content-Length", bytes_from_string("0"));
    if (d->subject.exists && blob_state(d)->blob.tier == TIER_ARCHIVE)
        return E_BlobArchived;
    return blob_check_size(d, limits, body->length);
}

/* All ids of the staged blocks of a blob have one length.
 *
 * returns  InvalidBlobOrBlock (a length that differs), BlockCountExceedsLimit,
 *          InvalidHeaderValue (an empty block), RequestBodyTooLarge, BlobArchived
 * rest: Put-Block; semantics 5 */
enum error put_block(struct decision *d)
{
    const struct put_block *given = d->call->parameters;
    struct uncommitted total;
    enum store_result result;
    enum error e;

    e = check_block(d);
    if (e)
        return e;
    result = read_staged(d, &total);
    if (result)
        return blob_fail_content(d, result);
    if (total.count > 0 && total.id_length != given->id_length)
        return E_InvalidBlobOrBlock;
    e = check_count(d, &total, given->id);
    if (e)
        return e;
    total.id_length = given->id_length;
    result =
        uncommitted_put(d->before, d->changes, d->arena, &total, d->now, given->id, &d->call->body);
    if (result)
        return blob_fail_content(d, result);
    write_blob(d);

    answer(d, 201);
    blob_answer_sums(d, &given->sums);
    blob_answer_encrypted(d);
    return OK;
}
