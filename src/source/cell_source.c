/* See cell_source.h. */
#include "source/cell_source.h"

#include "base/endian.h"
#include "base/log.h"
#include "cluster/peer.h"
#include "source/open_source.h"

/* Maximum number of cells tried. The cells that may have a container agree on its cell within
 * moments. */
#define MOVES_MAX          16u
/* Timeout, since the owner may wait for a slow disk. */
#define REQUEST_TIMEOUT_MS 10000u

struct cell_source {
    struct cell_request request;
    const struct endpoint *endpoint; /* of the source's service */
    uint32_t cell;
    struct copied_bytes blocks;
    struct peer_call *call; /* response whose bytes are being read, or NULL */
    uint64_t left;          /* number of its unread bytes */
};

/* ---- one request ---- */

static void stop_reading(struct cell_source *from)
{
    if (from->call)
        peer_close(from->call);
    from->call = NULL;
    from->left = 0;
}

static bool read_all(struct peer_call *call, char *to, size_t size)
{
    for (size_t done = 0, count; done < size; done += count) {
        count = peer_read(call, to + done, size - done);
        if (count == 0)
            return false;
    }
    return true;
}

static enum error fail_response(const struct cell_source *from, const char *what)
{
    log_line(LOG_ERROR, "cell %u: the response about the source of a copy %s", (unsigned)from->cell,
             what);
    return E_InternalError;
}

/* Reads the head of the response; `length` bytes of the response are left. */
static enum error receive_head(struct cell_source *from, struct arena *arena, uint64_t length,
                               struct cell_head *ret_head)
{
    char prefix[CELL_HEAD_LENGTH_BYTES], *text;
    uint32_t size;

    if (length < sizeof prefix)
        return fail_response(from, "is too short");
    if (!read_all(from->call, prefix, sizeof prefix))
        return E_ServerBusy;
    size = be32_get(prefix);
    length -= sizeof prefix;
    if (size > length || size > CELL_HEAD_MAX)
        return fail_response(from, "is malformed");
    text = arena_bytes(arena, size);
    if (!read_all(from->call, text, size))
        return E_ServerBusy;
    from->left = length - size;
    return cell_head_read(arena, bytes_of(text, size), ret_head)
               ? OK
               : fail_response(from, "is malformed");
}

/* Sends the request to the cell, and receives the head of the response. Returns OK even if the head
 * contains an error, or the error of the request. */
static enum error ask(struct gathering *g, struct cell_source *from, struct cell_head *ret_head)
{
    struct arena *arena = g->call->arena;
    struct peer_request request = { .cell = from->cell,
                                    .path = CELL_SOURCE_PATH,
                                    .timeout_ms = REQUEST_TIMEOUT_MS,
                                    .is_repeatable = true };
    uint64_t length;
    struct text body;
    int status;
    enum error e;

    text_init(&body, arena, 1024);
    cell_request_write(&body, &from->request);
    request.body = text_bytes(&body);
    if (request.body.len > CELL_SOURCE_REQUEST_MAX)
        return E_InternalError;
    from->call = peer_begin(g->endpoint->peers, &request, arena);
    if (peer_end_head(from->call, &status, &length) != PEER_OK) {
        from->call = NULL;
        return E_ServerBusy;
    }
    if (status == 200)
        e = receive_head(from, arena, length, ret_head);
    else
        e = status == 503 || status == 404 /* of an earlier version */
                ? E_ServerBusy
                : fail_response(from, "has an unexpected status");
    if (e || from->left == 0)
        stop_reading(from);
    return e;
}

/* ---- opening ---- */

static const struct operation *operation_named(const struct service *service, struct bytes name)
{
    for (size_t i = 0; i < service->operation_count; i++)
        if (bytes_is(name, service->operations[i].name))
            return &service->operations[i];
    return NULL;
}

static bool blocks_fit(const struct copied_bytes *blocks, uint64_t length)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < blocks->block_count; i++) {
        if (blocks->blocks[i].length > length - sum)
            return false;
        sum += blocks->blocks[i].length;
    }
    return blocks->block_count == 0 || sum == length;
}

/* Checks that the following bytes are either the requested ones or absent. */
static bool head_fits(const struct cell_source *from, const struct cell_head *head,
                      const struct source_facts *facts)
{
    uint64_t length = facts->content.length;

    return head->offset <= length && head->length <= length - head->offset &&
           (from->left == 0 || from->left == head->length) && blocks_fit(&head->layout, length) &&
           (head->layout.block_count == 0 ||
            (head->layout.block_count == facts->content.block_count && head->length == length));
}

static enum error take_head(struct gathering *g, struct cell_source *from,
                            const struct cell_head *head, struct open_source *open)
{
    const struct source_functions *functions = from->endpoint->service->source;
    enum error e;

    open->operation = operation_named(from->endpoint->service, head->operation);
    open->result =
        functions && open->operation ? functions->read(g->call->arena, head->result) : NULL;
    if (!open->result)
        return fail_response(from, "has an unknown operation or result");
    e = functions->facts(open->operation, open->result, &open->facts);
    if (e || !head_fits(from, head, &open->facts))
        return fail_response(from, "contradicts itself");
    open->account = head->account;
    open->by_key = head->by_key;
    open->offset = head->offset;
    open->length = head->length;
    open->etag = from->request.etag = own_etag(g, open->facts.etag);
    from->blocks = head->layout;
    return OK;
}

static struct cell_source *source_new(const struct gathering *g, const struct endpoint *endpoint,
                                      const struct copy_source *source)
{
    const struct input *input = &g->call->input;
    struct cell_source *from = arena_alloc(g->call->arena, sizeof *from);

    from->endpoint = endpoint;
    from->request = (struct cell_request){
        .read = CELL_READS_FACTS,
        .service = bytes_from_string(endpoint->service->name),
        .account = input->account,
        .by_key = input->identity.kind == IDENTITY_ACCOUNT_KEY,
        .is_forwarded = g->call->request->is_forwarded,
        .peer = g->call->request->peer,
        .source = *source,
    };
    return from;
}

/* Opens the source at the cell that has its container, which may be this one. Returns
 * E_MisdirectedRequest if the request must be sent to another cell. */
static enum error open_at(struct gathering *g, const struct copy_source *source,
                          struct cell_source *from, struct open_source *open)
{
    struct cell_head head;
    enum error e;

    if (route_is_ours(g->endpoint->peers->route, from->cell))
        return own_open(g, from->endpoint, source, from->request.placement, open);
    e = ask(g, from, &head);
    if (e)
        return e;
    if (head.error) {
        stop_reading(from);
        *g->call->problem = head.problem;
        return head.error;
    }
    open->is_own = true;
    open->elsewhere = from;
    return take_head(g, from, &head, open);
}

enum error cell_open(struct gathering *g, const struct endpoint *endpoint,
                     const struct copy_source *source, struct open_source *open)
{
    struct cell_source *from = source_new(g, endpoint, source);

    if (!g->endpoint->peers)
        return E_ServerBusy;
    for (unsigned i = 0; i < MOVES_MAX; i++) {
        const struct placement where = g->call->problem->elsewhere;
        enum error e;

        own_close(open);
        *open = (struct open_source){ .inner = NULL };
        *g->call->problem = (struct problem){ .detail = NULL };
        from->cell = where.cell ? where.cell : CLUSTER_ROOT;
        from->request.placement = where.incarnation;
        e = open_at(g, source, from, open);
        if (e != E_MisdirectedRequest)
            return e;
    }
    return E_ServerBusy;
}

enum error cell_blocks(const struct open_source *open, struct copied_bytes *ret_blocks)
{
    *ret_blocks = open->elsewhere->blocks;
    return OK;
}

/* ---- reading ---- */

/* Requests more bytes of the open source. */
static enum error ask_more(struct gathering *g, struct cell_source *from,
                           struct cell_head *ret_head)
{
    enum error e;

    stop_reading(from);
    e = ask(g, from, ret_head);
    if (e || !ret_head->error)
        return e;
    stop_reading(from);
    if (ret_head->error == E_MisdirectedRequest) /* it is being moved */
        return E_ServerBusy;
    *g->call->problem = ret_head->problem;
    return ret_head->error;
}

enum error cell_begin(struct gathering *g, struct open_source *open)
{
    struct cell_source *from = open->elsewhere;
    struct cell_head head;
    enum error e;

    if (from->call || open->length == 0)
        return OK;
    from->request.read = CELL_READS_BYTES;
    e = ask_more(g, from, &head);
    if (!e &&
        (head.offset != open->offset || head.length != open->length || from->left != open->length))
        return fail_response(from, "has other bytes than requested");
    return e;
}

/* Ranges must be in order and within the step, and their bytes those that follow. */
static bool ranges_fit(const struct cell_source *from, const struct cell_head *head, uint64_t start,
                       uint64_t end)
{
    const struct copied_bytes *layout = &head->layout;
    uint64_t at = start, bytes = 0;

    for (size_t i = 0; i < layout->range_count; i++) {
        const struct content_range *range = &layout->ranges[i];

        if (range->start < at || range->end <= range->start || range->end > head->next)
            return false;
        at = range->end;
        bytes += range->is_hole ? 0 : range->end - range->start;
    }
    return head->next > start && head->next <= end && bytes == from->left &&
           bytes <= PAGES_STEP_BYTES;
}

enum error cell_step(struct gathering *g, struct open_source *open,
                     const struct page_walk_from *walk, struct content_ranges *ret_ranges)
{
    struct cell_source *from = open->elsewhere;
    struct content_range *ranges;
    uint64_t length = open->facts.content.length;
    struct cell_head head;
    enum error e;

    *ret_ranges = (struct content_ranges){ .next = length };
    if (walk->position >= length)
        return OK;
    from->request.read = CELL_READS_STEP;
    from->request.position = walk->position;
    from->request.previous = walk->previous;
    e = ask_more(g, from, &head);
    if (e)
        return e;
    if (!ranges_fit(from, &head, walk->position, length))
        return fail_response(from, "has unexpected ranges");
    ranges = arena_array(g->call->arena, head.layout.range_count, sizeof *ranges);
    if (head.layout.range_count > 0)
        memcpy(ranges, head.layout.ranges, head.layout.range_count * sizeof *ranges);
    *ret_ranges = (struct content_ranges){ .ranges = ranges,
                                           .count = head.layout.range_count,
                                           .next = head.next };
    return OK;
}

enum error cell_read(struct gathering *g, struct open_source *open, char *to, size_t max,
                     size_t *ret_count)
{
    struct cell_source *from = open->elsewhere;

    (void)g;
    *ret_count = 0;
    if (from->left == 0)
        return OK;
    *ret_count = peer_read(from->call, to, max);
    from->left -= *ret_count;
    if (*ret_count == 0) {
        log_line(LOG_WARN, "cell %u: lost its owner while reading the source of a copy",
                 (unsigned)from->cell);
        stop_reading(from);
        return E_ServerBusy;
    }
    if (from->left == 0)
        stop_reading(from);
    return OK;
}

void cell_close(struct open_source *open)
{
    stop_reading(open->elsewhere);
}
