/* See fixture.h. */
#include "request/request_private.h"

#include <stdlib.h>

#include "blob/kept_path_index.h"
#include "blob/tag_index.h"

#include "fixture.h"

struct fixture {
    struct store *store;
    struct accounts *accounts;
    struct server_options options;
    struct endpoint endpoint;
    struct arena *arena;
    bool holds_tasks;
    bool is_operator;
};

#define ARENA_MAX ((size_t)1 << 30)

/* ---- a request from text ---- */

static enum http_method method_of(struct bytes text)
{
    static const struct {
        const char *name;
        enum http_method method;
    } methods[] = {
        { "GET", METHOD_GET },     { "HEAD", METHOD_HEAD },     { "PUT", METHOD_PUT },
        { "POST", METHOD_POST },   { "DELETE", METHOD_DELETE }, { "OPTIONS", METHOD_OPTIONS },
        { "PATCH", METHOD_PATCH }, { "MERGE", METHOD_MERGE },
    };

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (bytes_is(text, methods[i].name))
            return methods[i].method;
    }
    return METHOD_OTHER;
}

#define HEADERS_MAX 32

static void add_header(struct arena *arena, struct request *request, struct http_header *headers,
                       struct bytes line)
{
    struct bytes name, value;

    bytes_cut(line, ':', &name, &value);
    assert_true(value.ptr && request->header_count < HEADERS_MAX);
    headers[request->header_count++] = (struct http_header){
        .name = arena_copy_lower(arena, name),
        .value = bytes_trim(value),
        .name_as_sent = name,
    };
}

static void make_request(struct fixture *f, struct request *request, const char *target,
                         const char *headers, size_t length)
{
    struct http_header *list = arena_array(f->arena, HEADERS_MAX, sizeof *list);
    struct bytes rest = bytes_from_string(headers), line, path;

    bytes_cut(bytes_from_string(target), ' ', &request->method_text, &path);
    bytes_cut(path, '?', &path, &request->query);
    request->method = method_of(request->method_text);
    request->path = arena_printf(f->arena, "/" DEVELOPMENT_ACCOUNT "%.*s", BYTES_ARG(path));
    request->content_length = length;
    request->listener_tag = &f->endpoint;
    request->headers = list;
    while (rest.len > 0) {
        bytes_cut(rest, '\n', &line, &rest);
        add_header(f->arena, request, list, line);
    }
    request->authority = request_header(request, "host");
    if (request->method == METHOD_PUT && !request_header(request, "content-length").ptr)
        add_header(f->arena, request, list, arena_printf(f->arena, "Content-Length: %zu", length));
}

/* ---- the way of a request ---- */

static void run_due_of(struct store *store, const struct service *service,
                       const struct endpoint *endpoint)
{
    bool left;

    while (tasks_run_due(store, &service, endpoint, 1, clock_now(), &left) <= clock_now())
        assert_false(left);
    assert_false(left);
}

void run_due(struct store *store)
{
    run_due_of(store, &blob_service, NULL);
}

void fixture_serve(struct fixture *f, const struct service *service)
{
    f->endpoint.service = service ? service : &blob_service;
}

void fixture_run_due(struct fixture *f)
{
    run_due_of(f->store, f->endpoint.service, &f->endpoint);
}

void fixture_hold_tasks(struct fixture *f)
{
    f->holds_tasks = true;
}

struct reply ask_as_operator(struct fixture *f, const char *target, const char *headers)
{
    struct reply got;

    f->is_operator = true;
    got = ask(f, target, headers, NULL);
    f->is_operator = false;
    return got;
}

void fixture_read_sources(struct fixture *f, struct fetcher *fetcher, struct background *background)
{
    f->endpoint.fetcher = fetcher;
    f->endpoint.background = background;
}

static struct flow *flow_new(struct fixture *f, struct exchange *exchange)
{
    struct flow *flow = arena_alloc(f->arena, sizeof *flow);

    flow->magic = FLOW_MAGIC;
    flow->exchange = exchange;
    pause_init(&flow->driver.pause, flow_wake);
    flow_set_current(flow, &flow->work);
    work_init(&flow->work, &f->endpoint, f->arena, &exchange->request, &exchange->response);
    flow->work.call.input.identity.kind = IDENTITY_ACCOUNT_KEY;
    flow->work.call.input.by_operator = f->is_operator;
    flow->work.decision.access = STORE_MAY_BLOCK;
    return flow;
}

static enum error admit(struct work *work)
{
    enum error e = route_request(&work->call);

    if (!e && !work->call.account)
        e = E_AuthenticationFailed;
    return e ? e : prepare_head(&work->call, &work->decision);
}

static enum error take_body(struct flow *flow, struct bytes body)
{
    size_t taken;

    intake_init(flow);
    while (body.len > 0) {
        enum body_taken result = intake_take(flow, body, &taken);

        if (result == BODY_TOO_LARGE)
            return E_RequestBodyTooLarge;
        assert_int_equal(result, BODY_TAKEN);
        body = bytes_from(body, taken);
    }
    assert_int_equal(intake_finish(flow), STORE_OK);
    return intake_check_sums(flow);
}

/* Bytes that the request only names; then attempts begin. */
static enum error gather(struct flow *flow)
{
    const struct operation *operation = flow->work.call.operation;
    enum error e = operation->functions->gather
                       ? prepare_gather(&flow->work.call, &flow->work.decision, &flow->intake.stage)
                       : OK;

    if (!e)
        prepare_body(&flow->work.call, &flow->work.decision);
    return e;
}

/* A request that another one interrupts may have to be decided again. */
static enum error commit(struct decision *d, enum error e)
{
    enum error committed = deciding_commit(d);

    assert_true(committed == OK || committed == DECIDE_AGAIN);
    return committed ? committed : e;
}

/* The answers of all requests stay in the fixture's arena: an attempt begins where that of the same request did. */
static enum error decide_and_commit(const struct fixture *f, const struct flow *flow)
{
    struct work *work = flow->current;
    enum error e;

    do {
        e = deciding_attempt(&work->decision, flow->driver.attempt, work);
        if (e == DECIDE_PREPARED || (!e && !deciding_is_empty(&work->decision)))
            e = commit(&work->decision, e);
    } while (e == DECIDE_AGAIN || e == DECIDE_PREPARED);
    if (!e && work->decision.leaves_more && !f->holds_tasks)
        run_due(work->decision.store);
    return e;
}

/* Lists whose parts go their own ways need an exchange. */
static enum error begin_list(struct flow *flow)
{
    const struct batch_functions *list = flow->work.call.operation->functions->batch;

    if (!list)
        return OK;
    if (!list->whole)
        return E_NotImplemented;
    transaction_begin(flow);
    return flow->work.error;
}

static void render(struct work *work, enum error e)
{
    work->error = e;
    if (work->transaction)
        transaction_answer(work);
    else if (e)
        answer_error(&work->answer, e, &work->problem);
    else
        operation_answer(&work->answer, work->decision.parameters, work->decision.result);
}

static void never(struct waiter *waiter)
{
    (void)waiter;
    fail_msg("the memory store does not wait");
}

/* The bytes that would be sent; ends the decision. */
static struct bytes read_sent(struct fixture *f, struct decision *d, const struct answer *a)
{
    struct waiter waiter = { .wake = never };
    size_t length = (size_t)a->content.length, done = 0;
    char *to = arena_bytes(f->arena, length);
    struct content_reader *reader;

    if (!a->content.wanted || length == 0) {
        deciding_end(d);
        return a->response->body;
    }
    reader = content_reader_open(f->store, decision_take_snapshot(d), f->arena, &a->content.content,
                                 a->content.offset, length);
    deciding_end(d);
    while (done < length) {
        size_t count = 0;

        assert_int_equal(content_reader_read(reader, to + done, length - done, &waiter, &count),
                         STORE_OK);
        done += count;
    }
    content_reader_close(reader);
    return bytes_of(to, length);
}

struct reply ask_bytes(struct fixture *f, const char *target, const char *headers,
                       struct bytes body)
{
    struct exchange *exchange = arena_alloc(f->arena, sizeof *exchange);
    struct flow *flow;
    struct work *work;
    struct reply answer;
    enum error e;

    exchange->arena = f->arena;
    make_request(f, &exchange->request, target, headers, body.len);
    flow = flow_new(f, exchange);
    work = &flow->work;
    e = admit(work);
    if (!e)
        e = take_body(flow, body);
    if (!e)
        e = gather(flow);
    if (!e)
        e = begin_list(flow);
    if (!e)
        e = decide_and_commit(f, flow);
    render(work, e);
    answer = (struct reply){ .status = exchange->response.status,
                             .code = error_code(e),
                             .response = &exchange->response };
    answer.body = read_sent(f, &work->decision, &work->answer);
    if (flow->intake.stage)
        stage_close(flow->intake.stage);
    return answer;
}

struct reply ask(struct fixture *f, const char *target, const char *headers, const char *body)
{
    return ask_bytes(f, target, headers, bytes_from_string(body));
}

struct reply askf(struct fixture *f, const char *headers, const char *body, const char *target, ...)
{
    struct bytes text;
    va_list args;

    va_start(args, target);
    text = arena_vprintf(f->arena, target, args);
    va_end(args);
    return ask(f, arena_string(f->arena, text), headers, body);
}

const char *textf(struct fixture *f, const char *format, ...)
{
    struct bytes text;
    va_list args;

    va_start(args, format);
    text = arena_vprintf(f->arena, format, args);
    va_end(args);
    return arena_string(f->arena, text);
}

const char *header_of(struct fixture *f, const struct reply *answer, const char *name)
{
    for (size_t i = 0; i < answer->response->header_count; i++) {
        if (bytes_is_nocase(answer->response->headers[i].name, name))
            return arena_string(f->arena, answer->response->headers[i].value);
    }
    return NULL;
}

struct store *store_of(struct fixture *f)
{
    return f->store;
}

struct read_view *open_blob(struct fixture *f)
{
    struct partition at = { .space = blob_account_space(bytes_from_string(DEVELOPMENT_ACCOUNT)),
                            .key = BYTES("box") };
    struct read_view *snapshot = read_view_open(f->store, at, STORE_MAY_BLOCK);
    struct container container;

    assert_int_equal(container_read(snapshot, f->arena, &container), STORE_OK);
    read_view_close(snapshot);
    at = (struct partition){ .space = container.space, .key = BYTES("b") };
    return read_view_open(f->store, at, STORE_MAY_BLOCK);
}

uint64_t bytes_kept(struct fixture *f)
{
    struct store_usage usage;

    store_collect_now(f->store, &usage);
    return usage.piece_bytes;
}

unsigned count_blob_records(struct fixture *f, enum record_family family)
{
    struct read_view *snapshot = open_blob(f);
    struct scan *scan = scan_open(snapshot, family, bytes_of("", 0), bytes_of("", 0));
    struct record record;
    unsigned count = 0;

    while (scan_next(scan, NULL, &record) == STORE_OK)
        count++;
    scan_close(scan);
    read_view_close(snapshot);
    return count;
}

void assert_nothing_is_left(struct fixture *f)
{
    run_due(store_of(f));
    assert_int_equal(count_blob_records(f, RECORD_LISTED), 0);
    assert_int_equal(count_blob_records(f, RECORD_INNER), 0);
    assert_int_equal(bytes_kept(f), 0);
}

/* ---- begin and end ---- */

void fixture_make_hierarchical(struct fixture *f)
{
    account_set_hierarchical(accounts_find(f->accounts, bytes_from_string(DEVELOPMENT_ACCOUNT)),
                             true);
}

int fixture_setup(void **state)
{
    return fixture_setup_on(state, store_open_memory());
}

int fixture_setup_on(void **state, struct store *store)
{
    struct fixture *f = xcalloc(1, sizeof *f);

    f->store = store;
    f->accounts = accounts_new();
    accounts_add_development(f->accounts);
    f->arena = arena_new(ARENA_MAX);
    f->endpoint = (struct endpoint){
        .service = &blob_service,
        .store = f->store,
        .accounts = f->accounts,
        .options = &f->options,
    };
    f->options.rehydrate_seconds = 100;
    *state = f;
    return ask(f, "PUT /box?restype=container", NULL, NULL).status == 201 ? 0 : -1;
}

/* Checks that the index contains this record of a deleted path. */
static void check_kept_path(struct fixture *f, struct guid space, const struct space_record *at,
                            struct bytes path)
{
    struct bytes prefix = kept_path_prefix(f->arena, path);
    struct index_iterator *index =
        index_iterator_open(f->store, space, prefix, prefix, bytes_of("", 0), STORE_MAY_BLOCK);
    struct index_record found;

    do
        assert_int_equal(index_iterator_next(index, &found), STORE_OK);
    while (!bytes_equal(found.partition_key, at->partition_key));
    assert_true(bytes_equal(found.value, at->value));
    index_iterator_close(index);
}

/* How many tags base blobs have, and how many deleted paths there are, each of which is in the index. */
static size_t count_indexed(struct fixture *f, struct guid space)
{
    struct space_iterator *blobs =
        space_iterator_open(f->store, space, bytes_of(NULL, 0), bytes_of(NULL, 0), STORE_MAY_BLOCK);
    struct space_record at;
    size_t count = 0;

    while (space_iterator_next(blobs, &at) == STORE_OK) {
        struct index_iterator *index;
        struct index_record found;
        struct tags tags = { .count = 0 };
        struct blob blob;

        if (bytes_is(at.record_key, "n")) /* a name of a tree */
            continue;
        assert_true(blob_decode(at.value, &blob) && tags_decode(blob.tags, &tags));
        for (size_t i = 0; blob_ref_is_base(blob.ref) && i < tags.count; i++) {
            struct bytes key = tag_index_key(f->arena, tags.items[i].name, tags.items[i].value);

            index =
                index_iterator_open(f->store, space, key, key, at.partition_key, STORE_MAY_BLOCK);
            assert_int_equal(index_iterator_next(index, &found), STORE_OK);
            assert_true(bytes_equal(found.partition_key, at.partition_key) &&
                        bytes_equal(found.value, blob.tags));
            index_iterator_close(index);
            count++;
        }
        if (!blob.deleted_path.ptr)
            continue;
        check_kept_path(f, space, &at, blob.deleted_path);
        count++;
    }
    space_iterator_close(blobs);
    return count;
}

/* The index of the container "box" holds the tags of its base blobs, its deleted paths, and nothing
 * else, whatever the test has done. */
static void check_index(struct fixture *f)
{
    struct partition at = { .space = blob_account_space(bytes_from_string(DEVELOPMENT_ACCOUNT)),
                            .key = BYTES("box") };
    struct read_view *snapshot = read_view_open(f->store, at, STORE_MAY_BLOCK);
    struct container container;
    bool exists = container_read(snapshot, f->arena, &container) == STORE_OK;
    struct index_iterator *index;
    struct index_record found;
    size_t count = 0;

    read_view_close(snapshot);
    if (!exists)
        return;
    index = index_iterator_open(f->store, container.space, bytes_of(NULL, 0), bytes_of(NULL, 0),
                                bytes_of(NULL, 0), STORE_MAY_BLOCK);
    while (index_iterator_next(index, &found) == STORE_OK)
        count++;
    index_iterator_close(index);
    assert_int_equal(count, count_indexed(f, container.space));
}

int fixture_setup_hierarchical(void **state)
{
    struct partition at = { .space = blob_account_space(bytes_from_string(DEVELOPMENT_ACCOUNT)),
                            .key = BYTES("box") };
    int result = fixture_setup(state);
    struct fixture *f = *state;
    struct read_view *before = read_view_open(f->store, at, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(f->arena);
    struct container container;
    uint64_t sequence;

    assert_int_equal(container_read(before, f->arena, &container), STORE_OK);
    container.hierarchical = true;
    container_write(changes, f->arena, &container);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ before, changes }, 1,
                                  clock_above(read_view_instant(before)), STORE_MAY_BLOCK,
                                  &sequence),
                     STORE_OK);
    read_view_close(before);
    return result;
}

int fixture_setup_filesystems(void **state)
{
    int result = fixture_setup(state);
    struct fixture *f = *state;

    fixture_make_hierarchical(f);
    assert_ok(ask(f, "DELETE /box?restype=container", NULL, NULL), 202);
    assert_ok(ask(f, "PUT /box?restype=container", NULL, NULL), 201);
    assert_ok(ask(f, "PUT /bag?restype=container", NULL, NULL), 201);
    return result;
}

int fixture_teardown(void **state)
{
    struct fixture *f = *state;

    check_index(f);
    store_close(f->store);
    accounts_free(f->accounts);
    arena_free(f->arena);
    free(f);
    return 0;
}
