/* Applies a fault requested by a test (faults.h) to a request: a delay before the decision, an
 * error instead of the response, a closed connection, a wrong checksum, or a body that is sent
 * slowly or not to its end. */
#include "request/request_private.h"

#include <assert.h>

#include "service/waiting.h"

/* Number of times per second that a slow body sends bytes, if it has enough of them. */
#define RUNS_PER_SECOND 20u

static bool find(struct flow *flow)
{
    struct fault fault;

    if (!faults_take(&flow->work.call, &fault))
        return false;
    flow->fault = arena_alloc(flow->exchange->arena, sizeof *flow->fault);
    flow->fault->what = fault;
    return true;
}

/* ---- before the operation ---- */

enum state fault_begin(struct flow *flow)
{
    const struct fault *what;

    if (!flow->fault && !find(flow))
        return ADMIT;
    what = &flow->fault->what;
    if (what->delay_ticks > 0 && !flow->fault->is_delayed) {
        flow->fault->is_delayed = true;
        if (waiters_delay(clock_now() + what->delay_ticks, flow_arm(flow))) {
            return flow_wait(flow);
        }
    }
    if (what->cut == FAULT_CUT_BEFORE_REQUEST_BODY ||
        (what->cut == FAULT_CUT_IN_REQUEST_BODY && flow->exchange->request.content_length == 0))
        return CUT;
    if (what->error && !what->is_done) {
        flow->work.error = what->error;
        return CORS;
    }
    return ADMIT;
}

bool fault_cuts_body(const struct flow *flow, size_t more)
{
    uint64_t length = flow->exchange->request.content_length;

    return flow->fault && flow->fault->what.cut == FAULT_CUT_IN_REQUEST_BODY &&
           (length == HTTP_LENGTH_UNKNOWN || flow->intake.received + more >= length / 2);
}

/* ---- instead of the response ---- */

bool fault_answer(struct flow *flow)
{
    const struct fault *what = flow->fault ? &flow->fault->what : NULL;
    struct problem problem = { .field_count = 0 };

    if (!what || !what->error)
        return false;
    problem.retry_after_s = what->retry_after_s;
    answer_error(&flow->work.answer, what->error, &problem);
    if (what->status > 0)
        answer_status(&flow->work.answer, what->status);
    return true;
}

/* ---- headers and body of the response ---- */

/* Changes the checksum; the value is still valid base64. */
static void spoil(struct arena *arena, struct http_header *header)
{
    char *value = arena_string(arena, header->value);

    if (header->value.len == 0)
        return;
    value[0] = value[0] == 'A' ? 'B' : 'A';
    header->value.ptr = value;
}

static void answer_wrong_md5(struct answer *a)
{
    static const char *const sums[] = { "Content-MD5", "x-ms-content-crc64" };
    bool had_md5 = false;

    for (size_t i = 0; i < a->response->header_count; i++) {
        struct http_header *header = &a->response->headers[i];

        for (size_t j = 0; j < sizeof sums / sizeof sums[0]; j++)
            if (bytes_is_nocase(header->name, sums[j])) {
                spoil(a->arena, header);
                had_md5 |= j == 0;
            }
    }
    if (!had_md5) /* 16 zero bytes, the MD5 of no known body */
        answer_string(a, "Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA==");
}

/* Waits until the next bytes are due. Returns BODY_WAIT, or 1 once they are due. */
static long pace(struct fault_body *body)
{
    struct flow *flow = body->flow;
    instant now;

    if (body->run_ticks == 0)
        return 1;
    now = clock_now();
    if (body->next > now && waiters_delay(body->next, flow_arm(flow))) {
        flow_wait(flow);
        return BODY_WAIT;
    }
    body->next = (body->next > now ? body->next : now) + body->run_ticks;
    return 1;
}

/* Reads from a body with a fault. Bytes that are due remain due while the inner source waits
 * (is_due). */
static long read_faulty(struct body_source *source, uint64_t at, char *to, size_t max)
{
    struct fault_body *body = (struct fault_body *)(void *)source;
    long n;

    if (at >= body->end)
        return BODY_FAILED;
    if (max > body->end - at)
        max = (size_t)(body->end - at);
    if (max > body->run_max)
        max = (size_t)body->run_max;
    if (!body->is_due && pace(body) == BODY_WAIT)
        return BODY_WAIT;
    body->is_due = true;
    if (body->inner) {
        n = body->inner->read(body->inner, at, to, max);
    } else {
        memcpy(to, body->bytes.ptr + at, max);
        n = (long)max;
    }
    body->is_due = n == BODY_WAIT;
    return n;
}

/* Replaces the response's body with one that applies the fault. end: number of bytes to send. */
static void wrap_body(struct flow *flow, uint64_t end)
{
    struct response *response = &flow->exchange->response;
    const struct fault *what = &flow->fault->what;
    struct fault_body *body = &flow->fault->body;

    assert(response->body_kind == BODY_BYTES || response->body_kind == BODY_SOURCE);
    *body = (struct fault_body){
        .source = { .read = read_faulty }, .flow = flow, .end = end, .run_max = UINT64_MAX
    };
    if (what->bytes_per_second > 0) {
        body->run_max = (what->bytes_per_second + RUNS_PER_SECOND - 1) / RUNS_PER_SECOND;
        body->run_ticks = body->run_max * TICKS_PER_SECOND / what->bytes_per_second;
    }
    if (response->body_kind == BODY_BYTES) {
        body->bytes = response->body;
        response->body_length = response->body.len;
    } else {
        body->inner = response->source;
    }
    response->body_kind = BODY_SOURCE;
    response->source = &body->source;
}

static uint64_t sent_length(const struct exchange *exchange)
{
    const struct response *response = &exchange->response;

    if (exchange->request.method == METHOD_HEAD || response->body_kind == BODY_NONE)
        return 0;
    return response->body_kind == BODY_BYTES ? response->body.len : response->body_length;
}

bool fault_spoils_answer(struct flow *flow)
{
    const struct fault *what = &flow->fault->what;
    uint64_t length = sent_length(flow->exchange), end = length;

    if (what->wrong_md5 && flow->work.answer.error == OK)
        answer_wrong_md5(&flow->work.answer);
    if (what->cut == FAULT_CUT_BEHIND_ANSWER)
        exchange_cut_behind(flow->exchange);
    if (what->cut == FAULT_CUT_BEFORE_ANSWER)
        return true;
    if (what->cut == FAULT_CUT_BEFORE_ANSWER_BODY)
        end = 0;
    if (what->cut == FAULT_CUT_IN_ANSWER_BODY)
        end = length / 2;
    if (length == 0)
        return what->cut == FAULT_CUT_BEFORE_ANSWER_BODY || what->cut == FAULT_CUT_IN_ANSWER_BODY;
    if (end < length || what->bytes_per_second > 0)
        wrap_body(flow, end);
    return false;
}
