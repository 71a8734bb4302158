/* See cell_parts.h. */
#include "request/cell_parts.h"

#include "base/log.h"
#include "cluster/peer.h"
#include "http/multipart.h"
#include "request/response_record.h"

#define VERSION       1
#define RESPONSE_MAX  ((size_t)4 << 20)
/* Deleting many large blobs may take a long time. */
#define RESPONSE_MS   20000u
/* Same as for forwarded requests */
#define RETRY_AFTER_S 3u
#define PARTS_MAX     256u
/* Upper bound for the memory of the part that is being executed. */
#define SCRATCH_MAX   (MEMORY_BUDGET_BYTES + MEMORY_LARGE_BYTES)

enum { IS_SECURE = 1, IS_FORWARDED = 2 };
enum { IS_ELSEWHERE, IS_HERE };
/* Statuses of refusals, also sent by peer_requests.h. They do not include 503, which may be sent
 * after the execution. */
enum { MALFORMED = 400, TOO_LARGE = 413 };

/* The parts for one cell. */
struct sent {
    uint32_t cell;
    uint64_t count;
    struct peer_call *call;
};

/* ---- at the root: requests ---- */

static bool is_for(const struct work *part, uint32_t cell)
{
    return part->is_elsewhere && part->problem.elsewhere.cell == cell;
}

/* Finds the cells of the parts. Returns their number. */
static size_t list_cells(const struct batch_parameters *parameters, const struct work *works,
                         struct sent *sent)
{
    size_t count = 0;

    for (size_t i = 0; i < parameters->count; i++) {
        size_t at = 0;

        if (!works[i].is_elsewhere)
            continue;
        while (at < count && !is_for(&works[i], sent[at].cell))
            at++;
        if (at == count)
            sent[count++].cell = works[i].problem.elsewhere.cell;
        sent[at].count++;
    }
    return count;
}

static struct bytes write_request(const struct call *whole,
                                  const struct batch_parameters *parameters,
                                  const struct work *works, const struct sent *sent)
{
    const struct request *request = whole->request;
    struct text out;

    text_init(&out, whole->arena, 4096);
    encode_u8(&out, VERSION);
    encode_bytes(&out, bytes_from_string(whole->service->name));
    encode_bytes(&out, request->path);
    encode_bytes(&out, request->authority);
    encode_bytes(&out, call_header(whole, "x-ms-version"));
    encode_bytes(&out, request->peer);
    encode_bytes(&out, whole->version);
    encode_u8(&out, (uint8_t)((request->secure ? IS_SECURE : 0) |
                              (request->is_forwarded ? IS_FORWARDED : 0)));
    encode_u64(&out, sent->count);
    for (size_t i = 0; i < parameters->count; i++) {
        if (!is_for(&works[i], sent->cell))
            continue;
        encode_u64(&out, works[i].problem.elsewhere.incarnation);
        encode_fixed(&out, works[i].call.request_id.b, sizeof works[i].call.request_id.b);
        encode_bytes(&out, parameters->parts[i].text);
    }
    return text_bytes(&out);
}

/* ---- at the root: responses ---- */

static bool read_response(struct decoder *in, struct arena *arena, struct work *part)
{
    struct response *response;

    if (decode_u8(in) == IS_ELSEWHERE) {
        part->problem.elsewhere.cell = 0;
        part->error = E_MisdirectedRequest;
        return !in->bad;
    }
    part->error = part->answer.error = problem_decode_error(in);
    response = arena_alloc(arena, sizeof *response);
    response_decode(in, arena, response);
    part->answer.response = response;
    return !in->bad;
}

static bool read_responses(struct bytes body, struct arena *arena, size_t count, struct work *works,
                           uint32_t cell)
{
    struct decoder in;

    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return false;
    for (size_t i = 0; i < count; i++)
        if (is_for(&works[i], cell) && !read_response(&in, arena, &works[i]))
            return false;
    return decoder_ok(&in);
}

/* Refuses parts that no owner has executed. */
static void refuse_parts(struct work *works, size_t count, uint32_t cell)
{
    for (size_t i = 0; i < count; i++)
        if (is_for(&works[i], cell)) {
            works[i].error = E_ServerBusy;
            works[i].problem.retry_after_s = RETRY_AFTER_S;
        }
}

/* Returns true for the statuses of a request none of whose parts was executed. */
static bool was_refused(int status)
{
    return status == MALFORMED || status == TOO_LARGE ||
           status == 404; /* sent by an earlier version */
}

/* Reads the responses to the parts. Returns false if it is unknown whether the parts were
 * executed. */
static bool end(const struct call *whole, size_t count, struct work *works, const struct sent *sent)
{
    struct peer_response response;
    enum peer_result result = peer_end(sent->call, &response);

    if (result == PEER_NO_OWNER || (result == PEER_OK && was_refused(response.status))) {
        refuse_parts(works, count, sent->cell);
        return true;
    }
    if (result == PEER_OK && response.status == 200 &&
        read_responses(response.body, whole->arena, count, works, sent->cell))
        return true;
    log_line(LOG_ERROR, "cell %u: no responses to parts of a batch (status %d)",
             (unsigned)sent->cell, result == PEER_OK ? response.status : 0);
    return false;
}

bool cell_parts_run(const struct call *whole, const struct batch_parameters *parameters,
                    struct work *works)
{
    struct sent *sent = arena_array(whole->arena, parameters->count, sizeof *sent);
    size_t count = list_cells(parameters, works, sent);
    bool is_known = true;

    for (size_t i = 0; i < count; i++) {
        struct peer_request request = { .cell = sent[i].cell,
                                        .path = CELL_PARTS_PATH,
                                        .body = write_request(whole, parameters, works, &sent[i]),
                                        .response_max = RESPONSE_MAX,
                                        .response_ms = RESPONSE_MS };

        sent[i].call = peer_begin(whole->endpoint->peers, &request, whole->arena);
    }
    for (size_t i = 0; i < count; i++)
        is_known = end(whole, parameters->count, works, &sent[i]) && is_known;
    return is_known;
}

/* ---- at the owner of the cell ---- */

struct serving {
    struct work whole; /* the batch; only its call is used */
    struct request request;
    struct response response; /* to the current part */
    struct http_header version;
    struct arena *scratch; /* memory of the current part */
    struct arena_mark fresh;
    uint64_t seen;
};

/* Reads the batch, and routes it for the account. */
static bool read_batch(struct serving *s, const struct endpoint_set *all, struct arena *arena,
                       struct decoder *in)
{
    static const struct bytes name = BYTES("x-ms-version");
    const struct endpoint *endpoint;
    struct bytes version;
    uint8_t flags;

    if (decode_u8(in) != VERSION)
        return false;
    endpoint = endpoint_find(all, decode_bytes(in));
    s->request = (struct request){ .method = METHOD_POST, .method_text = BYTES("POST") };
    s->request.path = decode_bytes(in);
    s->request.authority = decode_bytes(in);
    s->version = (struct http_header){ name, decode_bytes(in), name };
    s->request.headers = &s->version;
    s->request.header_count = s->version.value.ptr ? 1 : 0;
    s->request.peer = decode_bytes(in);
    version = decode_bytes(in);
    flags = decode_u8(in);
    s->request.secure = flags & IS_SECURE;
    s->request.is_forwarded = flags & IS_FORWARDED;
    if (in->bad || !endpoint || !s->request.peer.ptr || !version.ptr ||
        !bytes_has_prefix(s->request.path, (struct bytes)BYTES("/")) ||
        http_has_control(s->request.path, ' ') || http_has_control(s->request.authority, ' ') ||
        http_has_control(s->request.peer, ' ') || http_has_control(s->version.value, ' ') ||
        http_has_control(version, ' '))
        return false;
    work_init(&s->whole, endpoint, arena, &s->request, &s->response);
    if (route_request(&s->whole.call))
        return false;
    s->whole.call.version = version;
    return true;
}

/* Reads a part, and checks that a batch may have it. */
static bool read_part(struct serving *s, struct decoder *in, struct work *ret_part)
{
    struct arena *arena = s->whole.call.arena;
    struct request *request = arena_alloc(arena, sizeof *request);
    uint64_t placement = decode_u64(in);
    struct guid id;
    struct bytes body;

    decode_fixed(in, id.b, sizeof id.b);
    if (!multipart_request(arena, decode_bytes(in), MULTIPART_STRICT, request, &body) || in->bad ||
        placement == 0 || request->content_length != 0)
        return false;
    work_init_part(ret_part, &s->whole, request, &s->response);
    ret_part->call.input.placement = placement; /* the part's own, not the batch's */
    ret_part->call.request_id = id;
    ret_part->decision.access = STORE_MAY_BLOCK;
    return !work_route_part(ret_part, &s->whole.call) && ret_part->call.operation &&
           ret_part->call.operation->listed;
}

static void execute(struct serving *s, struct work *part)
{
    if (work_begin_part(part, s->scratch))
        return;
    do /* its space was dropped: decide again */
        part->error = deciding_run_unawaited(&part->decision, deciding_operation, NULL);
    while (part->error == DECIDE_GONE);
}

static void write_response(struct text *out, const struct work *part)
{
    bool is_elsewhere = part->error == E_MisdirectedRequest;

    encode_u8(out, is_elsewhere ? IS_ELSEWHERE : IS_HERE);
    if (is_elsewhere)
        return;
    problem_encode_error(out, part->error);
    response_encode(out, part->answer.response);
}

static void serve_part(struct serving *s, struct work *part, struct text *ret_body)
{
    execute(s, part);
    work_answer_part(part);
    write_response(ret_body, part);
    if (part->decision.seen > s->seen)
        s->seen = part->decision.seen;
    deciding_end(&part->decision);
    arena_rewind(s->scratch, s->fresh);
}

/* All parts are read before the first one is executed. */
static int serve_parts(struct serving *s, struct decoder *in, struct text *ret_body)
{
    struct arena *arena = s->whole.call.arena;
    uint64_t count = decode_u64(in);
    struct work *parts;

    if (in->bad || count > PARTS_MAX)
        return MALFORMED;
    parts = arena_array(arena, (size_t)count, sizeof *parts);
    for (uint64_t i = 0; i < count; i++)
        if (!read_part(s, in, &parts[i]))
            return MALFORMED;
    if (!decoder_ok(in))
        return MALFORMED;
    if (arena_is_exhausted(arena))
        return TOO_LARGE;
    s->scratch = arena_new_like(arena, SCRATCH_MAX);
    s->fresh = arena_mark(s->scratch);
    encode_u8(ret_body, VERSION);
    for (uint64_t i = 0; i < count; i++)
        serve_part(s, &parts[i], ret_body);
    arena_free(s->scratch);
    return store_await(s->whole.call.endpoint->store, s->seen) ? 500 : 200;
}

int cell_parts_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    struct serving *s = arena_alloc(arena, sizeof *s);
    struct decoder in;

    decoder_init(&in, body);
    return read_batch(s, context, arena, &in) ? serve_parts(s, &in, ret_body) : MALFORMED;
}
