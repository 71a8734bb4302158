/* Parses fault rules from JSON: see fault_rule.h. A table describes the members of each object. */
#include "admin/fault_rule.h"

#include <assert.h>
#include <inttypes.h>

#include "base/json.h"
#include "service/operation.h"
#include "request/internal_request.h"

/* The rule being parsed, and the first problem found. */
struct reading {
    struct arena *arena;
    const struct endpoint_set *endpoints;
    struct fault_rule *rule;
    const char *problem; /* NULL if none exists */
    bool has_seed;
};

/* Sets `problem` from a printf-style message, unless it is already set. */
__attribute__((format(printf, 2, 3))) static void fail(struct reading *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (!r->problem)
        r->problem = arena_string(r->arena, arena_vprintf(r->arena, format, args));
    va_end(args);
}

/* ---- values ---- */

static struct bytes read_text(struct reading *r, const char *name, const struct json_member *member,
                              size_t max)
{
    struct bytes text = json_text(member);

    if (text.ptr && text.len <= max && !memchr(text.ptr, '\0', text.len))
        return text;
    fail(r, "%s must be a string of 1 to %zu bytes", name, max);
    return bytes_of(NULL, 0);
}

static uint64_t read_number(struct reading *r, const char *name, const struct json_member *member,
                            uint64_t min, uint64_t max)
{
    uint64_t value = 0;

    if (member->kind == JSON_NUMBER && bytes_parse_u64(member->text, max, &value) && value >= min)
        return value;
    fail(r, "%s must be an integer from %" PRIu64 " to %" PRIu64, name, min, max);
    return min;
}

/* Accepts only true, because false would have no effect. */
static bool read_true(struct reading *r, const char *name, const struct json_member *member)
{
    if (member->kind != JSON_TRUE)
        fail(r, "%s must be true or absent", name);
    return true;
}

static void read_object(struct reading *r, const char *name, const struct json_member *member,
                        const struct json_row *rows, size_t count)
{
    struct json_reader reader;

    if (member->kind != JSON_OBJECT) {
        fail(r, "%s must be an object", name);
        return;
    }
    json_object_init(&reader, r->arena, member->text, 3);
    (void)json_rows_read(&reader, name, rows, count, r, &r->problem);
}

/* ---- match ---- */

static void read_account(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->match.account = read_text(r, name, member, 64);
}

static void read_service(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;
    struct bytes text = read_text(r, name, member, 16);

    if (endpoint_find(r->endpoints, text))
        r->rule->match.service = text;
    else
        fail(r, "%s must be blob, queue, table, file or dfs", name);
}

static void read_operation(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->match.operation = read_text(r, name, member, 128);
}

static void read_name(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->match.name = read_text(r, name, member, FAULT_PATTERN_MAX);
}

static void read_headers(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;
    struct fault_match *match = &r->rule->match;
    struct json_reader reader;
    struct json_member inner;

    if (member->kind != JSON_OBJECT) {
        fail(r, "%s must be an object of strings", name);
        return;
    }
    json_object_init(&reader, r->arena, member->text, 0);
    while (!r->problem && json_next(&reader, &inner)) {
        if (match->header_count == FAULT_HEADERS_MAX || inner.name.len == 0 ||
            inner.name.len > FAULT_PATTERN_MAX) {
            fail(r, "%s takes up to 8 names of headers", name);
            return;
        }
        match->headers[match->header_count++] = (struct fault_header){
            .name = arena_copy_lower(r->arena, inner.name),
            .value = read_text(r, name, &inner, FAULT_PATTERN_MAX),
        };
    }
    if (match->header_count == 0)
        fail(r, "%s takes up to 8 names of headers", name);
}

static const struct json_row match_rows[] = {
    { "account", read_account }, { "service", read_service }, { "operation", read_operation },
    { "name", read_name },       { "headers", read_headers },
};

/* Checks that the operation exists, in the given service if there is one. */
static void check_operation(struct reading *r)
{
    const struct fault_match *match = &r->rule->match;

    if (!match->operation.ptr)
        return;
    for (size_t i = 0; i < r->endpoints->count; i++) {
        const struct service *service = r->endpoints->endpoints[i].service;

        if (match->service.ptr && !bytes_is(match->service, service->name))
            continue;
        for (size_t j = 0; j < service->operation_count; j++)
            if (bytes_is(match->operation, service->operations[j].name))
                return;
    }
    fail(r, "operation must be the name of an operation in docs/api-coverage.md");
}

/* ---- fault ---- */

static void read_delay(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->fault.delay_ticks =
        read_number(r, name, member, 1, FAULT_DELAY_MS_MAX) * (TICKS_PER_SECOND / 1000);
}

static void read_error(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;
    struct bytes code = read_text(r, name, member, 128);
    enum error e;

    if (error_find(code, &e) && error_status(e) >= 400)
        r->rule->fault.error = e;
    else
        fail(r, "%s must be an error code of Azure Storage", name);
}

static void read_status(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->fault.status = (int)read_number(r, name, member, 400, 599);
}

static void read_retry(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->fault.retry_after_s = (unsigned)read_number(r, name, member, 1, FAULT_RETRY_S_MAX);
}

static void read_done(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->fault.is_done = read_true(r, name, member);
}

static void read_cut(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;
    static const char *const places[] = {
        [FAULT_CUT_BEFORE_REQUEST_BODY] = "beforeRequestBody",
        [FAULT_CUT_IN_REQUEST_BODY] = "inRequestBody",
        [FAULT_CUT_BEFORE_ANSWER] = "beforeAnswer",
        [FAULT_CUT_BEFORE_ANSWER_BODY] = "beforeAnswerBody",
        [FAULT_CUT_IN_ANSWER_BODY] = "inAnswerBody",
        [FAULT_CUT_BEHIND_ANSWER] = "afterAnswer",
    };
    struct bytes text = read_text(r, name, member, 32);

    for (size_t i = 1; i < sizeof places / sizeof places[0]; i++)
        if (bytes_is(text, places[i]))
            r->rule->fault.cut = (enum fault_cut)i;
    if (r->rule->fault.cut == FAULT_CUT_NOWHERE)
        fail(r,
             "%s must be beforeRequestBody, inRequestBody, beforeAnswer, beforeAnswerBody, "
             "inAnswerBody or "
             "afterAnswer",
             name);
}

static void read_wrong_md5(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->fault.wrong_md5 = read_true(r, name, member);
}

static void read_rate(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->fault.bytes_per_second = read_number(r, name, member, 1, FAULT_RATE_MAX);
}

static const struct json_row fault_rows[] = {
    { "delayMs", read_delay },        { "error", read_error },
    { "status", read_status },        { "retryAfterSeconds", read_retry },
    { "operationIsDone", read_done }, { "cut", read_cut },
    { "wrongMd5", read_wrong_md5 },   { "bytesPerSecond", read_rate },
};

/* Refuses meaningless combinations. */
static void check_fault(struct reading *r)
{
    const struct fault *fault = &r->rule->fault;
    bool comes_before = fault->cut == FAULT_CUT_BEFORE_REQUEST_BODY ||
                        fault->cut == FAULT_CUT_IN_REQUEST_BODY ||
                        fault->cut == FAULT_CUT_BEFORE_ANSWER;
    bool is_of_body = fault->wrong_md5 || fault->bytes_per_second > 0;

    if (fault->delay_ticks == 0 && !fault->error && !fault->cut && !is_of_body)
        fail(r, "fault requires delayMs, error, cut, wrongMd5 or bytesPerSecond");
    if (!fault->error && (fault->status > 0 || fault->retry_after_s > 0 || fault->is_done))
        fail(r, "status, retryAfterSeconds and operationIsDone require error");
    if (fault->error && (comes_before || fault->wrong_md5))
        fail(r, "error cannot be combined with wrongMd5 or a cut before the response");
    if (comes_before && is_of_body)
        fail(r, "a cut before the response cannot be combined with wrongMd5 or bytesPerSecond");
}

/* ---- when ---- */

static void read_skip(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->when.skip = read_number(r, name, member, 1, FAULT_COUNT_MAX);
}

static void read_count(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->when.count = read_number(r, name, member, 1, FAULT_COUNT_MAX);
}

static void read_share(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;
    double share;

    if (json_number(member, &share) && share > 0 && share <= 1)
        r->rule->when.share = share;
    else
        fail(r, "%s must be a number above 0 and at most 1", name);
}

static void read_seed(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->when.seed = read_number(r, name, member, 0, UINT32_MAX);
    r->has_seed = true;
}

static void read_schedule(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;
    struct bytes text = read_text(r, name, member, FAULT_SCHEDULE_MAX);

    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != 'x' && text.ptr[i] != '.')
            fail(r, "%s must consist of letters x and dots", name);
    if (text.ptr && !memchr(text.ptr, 'x', text.len))
        fail(r, "%s must contain an x", name);
    r->rule->when.schedule = text;
}

static void read_repeat(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->when.repeats = read_true(r, name, member);
}

static void read_after(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->when.after_ms = read_number(r, name, member, 1, FAULT_TIME_MS_MAX);
}

static void read_for(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    r->rule->when.for_ms = read_number(r, name, member, 1, FAULT_TIME_MS_MAX);
}

static const struct json_row when_rows[] = {
    { "skip", read_skip },     { "count", read_count },       { "share", read_share },
    { "seed", read_seed },     { "schedule", read_schedule }, { "repeat", read_repeat },
    { "afterMs", read_after }, { "forMs", read_for },
};

static void check_when(struct reading *r)
{
    const struct fault_when *when = &r->rule->when;
    bool ends = when->count > 0 || when->for_ms > 0 || (when->schedule.ptr && !when->repeats);

    if (when->repeats && !when->schedule.ptr)
        fail(r, "repeat requires schedule");
    if (when->schedule.ptr && when->share > 0)
        fail(r, "a rule cannot have both a share and a schedule");
    if (r->has_seed && (when->share <= 0 || when->share >= 1))
        fail(r, "seed requires a share below 1");
    if (!ends)
        fail(r, "a rule must end: when requires count, forMs, or a schedule without repeat");
}

/* ---- the entire rule ---- */

static void read_match(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    read_object(r, name, member, match_rows, sizeof match_rows / sizeof match_rows[0]);
    check_operation(r);
}

static void read_fault(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    read_object(r, name, member, fault_rows, sizeof fault_rows / sizeof fault_rows[0]);
    check_fault(r);
}

static void read_when(void *context, const char *name, const struct json_member *member)
{
    struct reading *r = context;

    read_object(r, name, member, when_rows, sizeof when_rows / sizeof when_rows[0]);
}

static const struct json_row rule_rows[] = {
    { "match", read_match },
    { "fault", read_fault },
    { "when", read_when },
};

bool fault_name_is_valid(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i], lower = (char)(c | 0x20);

        if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '.' && c != '_' &&
            c != '-')
            return false;
    }
    return name.len > 0 && name.len <= FAULT_NAME_MAX;
}

const char *fault_rule_read(struct arena *arena, const struct endpoint_set *endpoints,
                            struct bytes name, struct bytes text, struct fault_rule *ret_rule)
{
    struct reading r = { .arena = arena, .endpoints = endpoints, .rule = ret_rule };
    struct json_member whole = { .kind = JSON_OBJECT, .text = text };

    assert(fault_name_is_valid(name));
    *ret_rule = (struct fault_rule){ .name = name, .text = text };
    read_object(&r, "the rule", &whole, rule_rows, sizeof rule_rows / sizeof rule_rows[0]);
    check_fault(&r);
    check_when(&r);
    if (ret_rule->when.share <= 0)
        ret_rule->when.share = 1;
    return r.problem;
}
