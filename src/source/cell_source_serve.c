/* At the owner of the cell that has the source of a copy: see cell_source.h. */
#include "source/cell_source.h"

#include <assert.h>

#include "base/endian.h"
#include "request/internal_request.h"
#include "source/open_source.h"

/* A source that is read for another cell. Closed at the end of the stream of its bytes. */
struct serving {
    struct peer_stream stream; /* must be first */
    struct cell_request request;
    const struct endpoint *endpoint;
    struct open_source open;
    struct page_walk walk;        /* of a step */
    struct page_walk_bytes bytes; /* of a step */
    struct cell_head head;
    /* Arguments of own_open() and page_walk_begin(): */
    struct request client;
    struct call call;
    struct decision decision;
    struct problem problem;
    struct gathering g;
    struct stage *stage;
    uint64_t seen;
};

static struct serving *serving_new(const struct endpoint *endpoint,
                                   const struct cell_request *request, struct arena *arena)
{
    struct serving *s = arena_alloc(arena, sizeof *s);

    s->request = *request;
    s->endpoint = endpoint;
    s->client = (struct request){ .secure = request->source.url.secure,
                                  .is_forwarded = request->is_forwarded,
                                  .peer = request->peer };
    s->call = (struct call){ .endpoint = endpoint, .arena = arena, .problem = &s->problem };
    call_set_request(&s->call, &s->client);
    s->call.input.account = request->account;
    s->call.input.identity.kind = request->by_key ? IDENTITY_ACCOUNT_KEY : IDENTITY_ANONYMOUS;
    s->decision = (struct decision){
        .arena = arena, .store = endpoint->store, .access = STORE_MAY_BLOCK, .problem = &s->problem
    };
    s->g = (struct gathering){ .endpoint = endpoint,
                               .call = &s->call,
                               .decision = &s->decision,
                               .stage = &s->stage,
                               .seen = &s->seen };
    return s;
}

/* Checks that the source is the one found by the first request. */
static enum error check_same(struct serving *s)
{
    struct bytes etag = s->request.etag;

    if (!etag.ptr || bytes_equal(etag, s->open.etag))
        return OK;
    return s->request.source.rule == SOURCE_COPIED ? E_SourceConditionNotMet
                                                   : source_cannot_verify(&s->g, E_ConditionNotMet);
}

/* ---- the response ---- */

static enum error write_result(struct serving *s)
{
    struct decision d = s->decision;
    struct text out;
    enum error e;

    text_init(&out, s->call.arena, 1024);
    d.attempt = arena_mark(s->call.arena);
    e = s->endpoint->service->source->write(&d, s->open.result, &out);
    s->head.operation = bytes_from_string(s->open.operation->name);
    s->head.result = text_bytes(&out);
    s->head.account = s->open.account;
    s->head.by_key = s->open.by_key;
    s->head.offset = s->open.offset;
    s->head.length = s->open.length;
    return e;
}

static bool read_requested(struct peer_stream *stream, char *to, size_t max, size_t *ret_count)
{
    struct serving *s = (struct serving *)(void *)stream;

    return own_read(&s->g, &s->open, to, max, ret_count) == OK;
}

static bool read_step(struct peer_stream *stream, char *to, size_t max, size_t *ret_count)
{
    struct serving *s = (struct serving *)(void *)stream;

    return s->bytes.source.read(&s->bytes.source, to, max, ret_count) == OK;
}

static enum error send_requested(struct serving *s)
{
    enum error e = OK;

    if (s->request.read == CELL_READS_FACTS && !s->request.source.range.ptr &&
        s->open.facts.content.block_count > 0)
        e = own_blocks(&s->g, &s->open, &s->head.layout);
    if (e)
        return e;
    own_begin(&s->g, &s->open);
    s->stream.read = read_requested;
    s->stream.length = s->open.length;
    return OK;
}

static enum error send_step(struct serving *s)
{
    const struct page_walk_from from = { s->request.position, s->request.previous };
    enum error e;

    if (from.position >= s->open.facts.content.length ||
        (from.previous != 0 && !s->endpoint->service->source->find_older))
        return E_InvalidInput;
    e = page_walk_begin(&s->walk, &s->g, &s->open, &from);
    if (!e)
        e = page_walk_find_ranges(&s->walk);
    if (e)
        return e;
    s->head.layout.ranges = s->walk.ranges;
    s->head.layout.range_count = s->walk.range_count;
    s->head.next = s->walk.next;
    s->bytes = page_walk_bytes(&s->walk);
    s->stream.read = read_step;
    s->stream.length = s->walk.bytes;
    return OK;
}

/* A sparse source may be copied in steps: its bytes wait until they are requested, unless the copy
 * reads the entire source at once. */
static enum error send_bytes(struct serving *s)
{
    switch (s->request.read) {
    case CELL_READS_STEP:
        return send_step(s);
    case CELL_READS_FACTS:
        if (s->open.facts.content.form == CONTENT_SPARSE && s->request.source.rule == SOURCE_COPIED)
            return OK;
        return send_requested(s);
    case CELL_READS_BYTES:
    case CELL_READS:
        break;
    }
    return send_requested(s);
}

/* Waits until the bytes are durable here. Otherwise the copy could contain bytes that a crash
 * undoes. */
static enum error await_durable(struct serving *s)
{
    return store_await(s->endpoint->store, s->seen) ? E_ServerBusy : OK;
}

static void close_source(struct peer_stream *stream)
{
    struct serving *s = (struct serving *)(void *)stream;

    page_walk_end(&s->walk);
    source_close(&s->open);
}

static enum error serve(struct serving *s)
{
    enum error e = own_open(&s->g, s->endpoint, &s->request.source, s->request.placement, &s->open);

    if (!e)
        e = check_same(s);
    if (!e)
        e = write_result(s);
    if (!e)
        e = send_bytes(s);
    if (!e)
        e = await_durable(s);
    assert(!decision_is_unfinished(e));
    return e;
}

int cell_source_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body,
                      struct peer_stream **ret_stream)
{
    const struct endpoint_set *all = context;
    char prefix[CELL_HEAD_LENGTH_BYTES];
    const struct endpoint *endpoint;
    struct cell_request request;
    struct serving *s;
    struct text head;

    if (!cell_request_read(body, &request))
        return 400;
    endpoint = endpoint_find(all, request.service);
    if (!endpoint || !endpoint->service->source)
        return 400;
    s = serving_new(endpoint, &request, arena);
    s->head.error = serve(s);
    s->head.problem = s->problem;
    text_init(&head, arena, 1024 + s->head.result.len);
    cell_head_write(&head, &s->head);
    be32_put(prefix, (uint32_t)head.len);
    text_add(ret_body, bytes_of(prefix, sizeof prefix));
    text_add(ret_body, text_bytes(&head));
    s->stream.close = close_source;
    if (s->head.error || s->stream.length == 0)
        close_source(&s->stream);
    else
        *ret_stream = &s->stream;
    return 200;
}
