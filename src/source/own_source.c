/* See open_source.h. */
#include "source/open_source.h"

#include "base/url.h"
#include "service/blob_key.h"
#include "service/deciding.h"

/* ---- errors ---- */

/* Recorded: a source whose tags do not match is ConditionNotMet. */
static bool only_tags(const struct copy_source *source)
{
    bool tags = false;

    for (size_t i = 0; i < source->header_count; i++) {
        if (bytes_has_prefix(source->headers[i].name, bytes_from_string("if-")))
            return false;
        tags = tags || bytes_is(source->headers[i].name, "x-ms-if-tags");
    }
    return tags;
}

/* decision: 52 */
static enum error fail_own(struct gathering *g, const struct copy_source *source,
                           const struct open_source *open, enum error e)
{
    bool condition = e == E_ConditionNotMet || e == E_ConditionNotMetOnRead;

    if (e == E_UnsupportedHeader || e == E_NotImplemented || e == E_MisdirectedRequest ||
        source->rule == SOURCE_COPIED)
        *g->call->problem = *source_read_problem(open->inner);
    if (e == E_UnsupportedHeader || e == E_NotImplemented || e == E_MisdirectedRequest)
        return e;
    if (source->rule == SOURCE_READ)
        return source_cannot_verify(g, e);
    if (condition)
        return only_tags(source) ? e : E_SourceConditionNotMet;
    return open->by_key ? e : source_cannot_verify(g, e);
}

/* ---- opening ---- */

/* Returns true if the URL has its own signature, which then authorizes the read. */
static bool is_signed(const struct copy_source *source)
{
    struct bytes query = source->url.query, name, value;

    while (url_take_parameter(&query, &name, &value)) {
        if (bytes_is_nocase(name, "sig"))
            return true;
    }
    return false;
}

static bool names_who_asks(const struct copy_source *source)
{
    for (size_t i = 0; i < source->header_count; i++) {
        if (bytes_is(source->headers[i].name, "authorization"))
            return true;
    }
    return is_signed(source);
}

/* Determines the requested bytes. */
static enum error cut(struct gathering *g, const struct copy_source *source,
                      struct open_source *open)
{
    open->offset = 0;
    open->length = open->facts.content.length;
    if (range_parse(source->range, open->length, &open->offset, &open->length) ==
        RANGE_UNSATISFIABLE)
        return source_cannot_verify(g, E_InvalidRange);
    return OK;
}

struct bytes own_etag(struct gathering *g, struct etag etag)
{
    char text[ETAG_TEXT_SIZE];

    etag_format(etag, text);
    return arena_copy(g->call->arena, bytes_from_string(text));
}

/* Only Copy Blob within the account reads an archived blob. rest: Copy-Blob */
static enum error refuse_archived(struct gathering *g, const struct copy_source *source,
                                  const struct open_source *open)
{
    bool is_copied =
        source->rule == SOURCE_COPIED && bytes_equal(open->account, g->call->input.account);

    return is_copied ? OK : open->facts.archived;
}

void own_close(struct open_source *open)
{
    if (open->reader)
        content_reader_close(open->reader);
    if (open->snapshot)
        read_view_close(open->snapshot);
    if (open->inner)
        source_read_end(open->inner);
}

/* Reads the properties, and keeps open the snapshot from which they were read. */
static enum error read_head(struct gathering *g, const struct endpoint *endpoint,
                            const struct source_read_request *asked, struct open_source *open)
{
    enum error e = source_read_begin(endpoint, g->call->arena, asked, &open->inner);

    gather_saw(g, source_read_seen(open->inner));
    if (!e)
        open->snapshot = source_read_take_snapshot(open->inner);
    return e;
}

/* Returns a file's path as read by the service: "%5C" is a separator too (recorded). In blob names
 * it becomes '/' anyway (decision 39). decision: 862 */
static struct bytes own_path(struct arena *arena, const struct endpoint *endpoint,
                             struct bytes path)
{
    struct text out;

    if (strcmp(endpoint->service->name, "file") != 0)
        return path;
    text_init(&out, arena, path.len);
    for (size_t i = 0; i < path.len; i++) {
        bool is_backslash = path.len - i >= 3 && bytes_is_nocase(bytes_of(path.ptr + i, 3), "%5c");

        text_add_char(&out, is_backslash ? '/' : path.ptr[i]);
        i += is_backslash ? 2 : 0;
    }
    return text_bytes(&out);
}

/* A container for which the root cell has no placement does not exist; other cells cannot know
 * this. */
static bool may_be_elsewhere(const struct endpoint *endpoint, uint64_t placement)
{
    return endpoint->peers && !endpoint->places && placement == 0;
}

enum error own_open(struct gathering *g, const struct endpoint *endpoint,
                    const struct copy_source *source, uint64_t placement, struct open_source *open)
{
    const struct input *input = &g->call->input;
    /* rest: Copy-Blob: within its account the key is sufficient. Otherwise the read is authorized
     * by the URL, by x-ms-copy-source-authorization, or by public access. */
    bool by_key = source->rule == SOURCE_COPIED && input->identity.kind == IDENTITY_ACCOUNT_KEY &&
                  !names_who_asks(source);
    const struct source_read_request asked = {
        .host = source->url.authority,
        .path = own_path(g->call->arena, endpoint, source->url.path),
        .query = source->url.query,
        .headers = source->headers,
        .header_count = source->header_count,
        .secure = source->url.secure,
        .is_forwarded = g->call->request->is_forwarded,
        .peer = g->call->request->peer,
        .placement = placement,
        .may_be_elsewhere = may_be_elsewhere(endpoint, placement),
        .demands = { .letters = source->reads_tags ? "t" : NULL,
                     .actions = source->reads_tags ? ACTION_BLOB_TAGS_READ : 0,
                     .not_public = source->reads_tags },
        .identity = by_key ? &input->identity : NULL,
        .account = input->account,
        .key = source->key,
    };
    enum error e = read_head(g, endpoint, &asked, open);

    if (!open->inner)
        return e;
    open->is_own = true;
    open->key = source_read_key(open->inner);
    open->account = source_read_account(open->inner);
    open->by_key = by_key && bytes_equal(open->account, input->account);
    if (!e && !endpoint->service->source)
        e = E_InvalidUri;
    if (!e) {
        open->operation = source_read_operation(open->inner);
        open->result = source_read_result(open->inner);
        e = endpoint->service->source->facts(open->operation, open->result, &open->facts);
    }
    if (!e)
        e = refuse_archived(g, source, open);
    if (e)
        return fail_own(g, source, open, e);
    open->etag = own_etag(g, open->facts.etag);
    return cut(g, source, open);
}

/* ---- reading ---- */

enum error own_blocks(struct gathering *g, struct open_source *open,
                      struct copied_bytes *ret_blocks)
{
    struct content_block *blocks;
    enum store_result result = content_blocks(open->snapshot, g->call->arena, &open->facts.content,
                                              &blocks, &ret_blocks->block_count);

    ret_blocks->blocks = blocks;
    return result ? decision_fail_store(g->decision, result) : OK;
}

void own_begin(struct gathering *g, struct open_source *open)
{
    open->reader = content_reader_open(g->endpoint->store, open->snapshot, g->call->arena,
                                       &open->facts.content, open->offset, open->length);
    if (open->key)
        content_reader_set_key(open->reader, open->key->key);
    open->snapshot = NULL;
}

enum error own_read(struct gathering *g, struct open_source *open, char *to, size_t max,
                    size_t *ret_count)
{
    enum store_result result = content_reader_read(open->reader, to, max, NULL, ret_count);

    return result ? decision_fail_store(g->decision, result) : OK;
}
