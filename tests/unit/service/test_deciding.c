/* Attempts to decide: what each begins with, and what is kept from one to the next.
 * service/deciding.c */
#include "../request/fixture.h"

#include <stdlib.h>

#include "store/states.h"

/* ---- a service of one operation, which counts ---- */

struct probe_parameters {
    struct parameters base;
    unsigned checked, parsed;
};
struct probe_result {
    struct result base;
    uint64_t seen;
};
OPERATION_DECLARE(probe);
OPERATION_DECLARE_PARSE(probe);

static unsigned decided;
static enum store_result read_answers;
static bool somebody_drops;

static void drop_beside(struct store *store);

enum error probe_check(struct call *call, struct probe_parameters *p)
{
    (void)call;
    p->checked++;
    return OK;
}

enum error probe_parse(struct call *call, struct probe_parameters *p)
{
    p->parsed++;
    return call->input.body.length == 13
               ? call_fail_header(call, E_InvalidHeaderValue, "Content-Length", bytes_of(NULL, 0))
               : OK;
}

enum error probe_decide(struct decision *d, const struct probe_parameters *p,
                        struct probe_result *r)
{
    assert_int_equal(p->checked, 1);
    assert_int_equal(p->parsed, 1);
    assert_true(changes_empty(d->changes));
    assert_int_equal(r->seen, 0); /* each attempt has a result of its own */
    r->seen = ++decided;
    changes_put(d->changes, RECORD_INNER, bytes_from_string("k"), bytes_from_string("v"), NULL, 0);
    if (somebody_drops)
        drop_beside(d->store);
    return read_answers ? decision_fail_store(d, read_answers) : OK;
}

void probe_answer(struct answer *a, const struct probe_parameters *p, const struct probe_result *r)
{
    (void)p;
    (void)r;
    answer_status(a, 200);
}

OPERATION_WITH_PARSE(probe);

static const struct operation row = {
    .name = "Probe",
    .methods = METHOD_PUT,
    .level = LEVEL_ANY,
    .selector = "",
    .rights = { .effect = WRITES, .of_anybody = true },
    .ok = { 200 },
    .functions = &probe_functions,
};

static const struct partition partition = { .space = { { 1 } }, .key = BYTES("p") };
static bool somebody_writes;
static instant written_at;

/* What another writer does between the moment that an attempt begins and that it opens its
 * snapshot. */
static void write_beside(struct store *store)
{
    struct arena *arena = arena_new(1u << 16);
    struct changes *changes = changes_new(arena);
    struct read_view *snapshot = read_view_open(store, partition, STORE_MAY_BLOCK);
    uint64_t sequence;

    changes_put(changes, RECORD_INNER, bytes_from_string("other"), bytes_from_string("1"), NULL, 0);
    written_at = clock_now();
    assert_int_equal(store_commit(store, &(struct commit_part){ snapshot, changes }, 1, written_at,
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
    arena_free(arena);
}

/* Somebody drops the space between two reads of a decision: what is read behind it is not there. */
static void drop_beside(struct store *store)
{
    const struct partition owner = { .space = { { 2 } }, .key = BYTES("o") };
    struct arena *arena = arena_new(1u << 16);
    struct changes *changes = changes_new(arena);
    struct read_view *snapshot = read_view_open(store, owner, STORE_MAY_BLOCK);
    uint64_t sequence;

    changes_drop_space(changes, partition.space);
    assert_int_equal(store_commit(store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
    arena_free(arena);
}

static struct store_state *returned_to; /* NULL: nobody goes back */

/* Once. */
static void return_beside(struct store *store)
{
    uint64_t sequence;

    assert_int_equal(store_return_to(store, returned_to, NULL, &sequence), STORE_OK);
    store_drop_state(store, returned_to);
    returned_to = NULL;
}

static enum error locate(struct decision *d, struct partition *ret_partition)
{
    if (somebody_writes)
        write_beside(d->store);
    if (returned_to)
        return_beside(d->store);
    *ret_partition = partition;
    return OK;
}

static enum error check_names(const struct resource *resource)
{
    (void)resource;
    return OK;
}

static const struct service service = {
    .name = "probe",
    .operations = &row,
    .operation_count = 1,
    .check_names = check_names,
    .locate = locate,
};

/* ---- a request to it, checked and parsed ---- */

static struct work *begin(struct fixture *f, uint64_t body_length)
{
    struct work *work = &f->work;

    decided = 0;
    read_answers = STORE_OK;
    somebody_writes = somebody_drops = false;
    f->endpoint.service = &service;
    f->endpoint.store = store_open_memory();
    fixture_request(f, METHOD_PUT, "/" DEVELOPMENT_ACCOUNT "/", NULL);
    assert_int_equal(route_request(&work->call), OK);
    assert_int_equal(prepare_head(&work->call, &work->decision), OK);
    work->call.input.body.length = body_length;
    prepare_body(&work->call, &work->decision);
    return work;
}

static enum error decide(struct work *work)
{
    return deciding_attempt(&work->decision, deciding_operation, NULL);
}

static enum error commit(struct work *work)
{
    return deciding_commit(&work->decision);
}

static void end(struct fixture *f)
{
    deciding_end(&f->work.decision);
    store_close(f->endpoint.store);
}

/* Rule: the clock is read after the state is opened, so the instant of a decision, and an ETag made
 * of it, is above everything that the state holds. An attempt that read it before would be below
 * what another writer put in between. store.h, read_view_instant() */
static void instants_are_above_the_state(void **state)
{
    struct fixture *f = *state;
    struct work *work = begin(f, 0);

    somebody_writes = true;
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(decide(work), OK);
        assert_true(work->decision.now > written_at);
        assert_true(work->decision.now > read_view_instant(work->decision.before));
    }
    end(f);
}

/* Rule: a decision that met another writer is made again: head and body are read once. */
static void conflicts_parse_nothing_again(void **state)
{
    struct fixture *f = *state;
    struct work *work = begin(f, 0);

    assert_int_equal(decide(work), OK);
    write_beside(f->endpoint.store);
    assert_int_equal(commit(work), DECIDE_AGAIN);
    assert_int_equal(decide(work), OK);
    assert_int_equal(commit(work), OK);
    assert_int_equal(decided, 2);
    assert_int_equal(work->decision.attempts, 2);
    end(f);
}

/* Rule: so is one that may have read something before the store went back to a state, though it changes what is as it
 * was: a blob in a container that is not there any more. decision: 646 */
static void returns_are_noticed(void **state)
{
    struct fixture *f = *state;
    struct work *work = begin(f, 0);

    returned_to = store_keep_state(f->endpoint.store);
    assert_int_equal(decide(work), OK);
    assert_int_equal(commit(work), DECIDE_AGAIN);
    assert_int_equal(decide(work), OK);
    assert_int_equal(commit(work), OK);
    end(f);
}

/* Rule: reads that find nothing in memory, or whose state is gone, are no answers: the changes
 * collected so far are dropped, and the next attempt begins anew. base/errors.h */
static void unfinished_decisions_leave_nothing(void **state)
{
    struct fixture *f = *state;
    struct work *work = begin(f, 0);

    read_answers = STORE_WAIT;
    assert_int_equal(decide(work), DECIDE_BLOCKING);
    assert_int_equal(work->decision.attempts, 0); /* nobody was faster */
    read_answers = STORE_CONFLICT;
    assert_int_equal(decide(work), DECIDE_AGAIN);
    read_answers = STORE_OK;
    assert_int_equal(decide(work), OK);
    assert_int_equal(commit(work), OK);
    end(f);
}

/* Rule: what is missing in a space that has been dropped since is no damage. Found by the simulator: a file was
 * created beside Delete Share. */
static void dropped_spaces_are_no_damage(void **state)
{
    struct fixture *f = *state;
    struct work *work = begin(f, 0);

    read_answers = STORE_CORRUPT;
    assert_int_equal(decide(work), E_InternalError);
    somebody_drops = true;
    assert_int_equal(decide(work), DECIDE_AGAIN);
    end(f);
}

/* Rule: a malformed body is refused with what its parser said of it, again in each attempt. */
static void malformed_bodies_keep_their_problem(void **state)
{
    struct fixture *f = *state;
    struct work *work = begin(f, 13);

    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(decide(work), E_InvalidHeaderValue);
        assert_int_equal(work->problem.field_count, 1);
        assert_string_equal(work->problem.fields[0].name, "HeaderName");
    }
    assert_int_equal(decided, 0);
    end(f);
}

/* ---- news ---- */

struct told {
    struct commit_callback news;
};
static unsigned told;

static void tell(struct commit_callback *news)
{
    (void)news;
    told++;
}

static enum error has_news(struct decision *d, void *of)
{
    struct told *news = arena_alloc(d->arena, sizeof *news);

    (void)of;
    decision_open_subject(d, partition);
    decision_read_clock(d);
    changes_put(d->changes, RECORD_INNER, bytes_from_string("k"), bytes_from_string("v"), NULL, 0);
    news->news.run = tell;
    decision_on_commit(d, &news->news);
    return OK;
}

static struct decision decision_on(struct fixture *f, struct store *store, struct problem *problem)
{
    return (struct decision){ .service = &service,
                              .input = &f->work.call.input,
                              .arena = f->work.call.arena,
                              .store = store,
                              .access = STORE_MAY_BLOCK,
                              .problem = problem,
                              .attempt = arena_mark(f->work.call.arena) };
}

/* Rule: news are told with the commit, once. service/decision.h */
static void news_are_true(void **state)
{
    struct fixture *f = *state;
    struct problem problem;
    struct decision d;

    (void)begin(f, 0);
    d = decision_on(f, f->endpoint.store, &problem);
    told = 0;
    assert_int_equal(deciding_attempt(&d, has_news, NULL), OK);
    assert_int_equal(told, 0);
    assert_int_equal(deciding_commit(&d), OK);
    assert_int_equal(told, 1);
    deciding_end(&d);
    end(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(instants_are_above_the_state),
        TEST(conflicts_parse_nothing_again),
        TEST(unfinished_decisions_leave_nothing),
        TEST(dropped_spaces_are_no_damage),
        TEST(malformed_bodies_keep_their_problem),
        TEST(news_are_true),
        TEST(returns_are_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
