/* Which receipt is right when, and what a get sees when: tables over time (semantics 7). */
#include "fixture.h"

#include "queue/front.h"
#include "queue/queue.h"

/* A script of one message, a letter a step: what is done, and with which receipt.
 *   g       get for 30 s, which succeeds; its receipt is the newest. G: a get that sees nothing
 *   u       update to 10 s with the newest receipt
 *   n, o    update with the newest receipt is right; with the one before it is wrong (400)
 *   w       31 s go by
 *   s       the wall clock is set forward by an hour, which ours follows
 *   x       the message expires
 *   d       delete with the newest receipt
 *   M       update with the newest receipt is 404 */
static const struct {
    const char *rule, *steps;
} scripts[] = {
    { "hidden after a get", "gG" },
    { "visible again after its time", "gwgwg" },
    { "a receipt stays good when the message is visible again", "gwn" },
    { "a get makes the one before wrong", "gwgo" },
    { "an update makes the one before wrong", "guo" },
    { "an update hides", "guG" },
    { "an update ends like a get", "guwg" },
    { "the receipt of a put is good", "nuo" },
    { "until it is deleted", "gdMG" },
    { "expired: nothing is right and nothing seen", "gxMG" },
    { "expired while hidden, and never seen again", "gxwG" },
    { "deleted when visible again", "gwdG" },
    { "a step of the clock makes nothing visible. decision: 185", "gsGwg" },
    { "nor its receipts wrong", "gsnuo" },
    { "nor does it make an expiry later", "gsxMG" },
};

struct script_run {
    struct fixture *f;
    const char *rule;
    char *id, *newest, *before;
};

static char *element(struct fixture *f, const struct reply *answer, const char *name)
{
    const char *text = textf(f, "%.*s", BYTES_ARG(answer->body));
    const char *from = strstr(text, textf(f, "<%s>", name));
    const char *to = strstr(text, textf(f, "</%s>", name));

    if (!from || !to)
        return NULL;
    from += strlen(name) + 2;
    return (char *)(uintptr_t)textf(f, "%.*s", (int)(to - from), from);
}

static const char *escaped(struct fixture *f, const char *receipt)
{
    const char *out = "";

    for (; *receipt; receipt++)
        out = *receipt == '+' || *receipt == '/' || *receipt == '='
                  ? textf(f, "%s%%%02X", out, (unsigned)*receipt)
                  : textf(f, "%s%c", out, *receipt);
    return out;
}

static void take_receipt(struct script_run *run, char *receipt)
{
    assert_non_null(receipt);
    assert_true(!run->newest || strcmp(run->newest, receipt) != 0);
    run->before = run->newest;
    run->newest = receipt;
}

static struct reply claim(struct script_run *run, const char *method, const char *receipt)
{
    return askf(run->f, NULL, NULL, "%s /que/messages/%s?popreceipt=%s&visibilitytimeout=10",
                method, run->id, escaped(run->f, receipt));
}

static void update(struct script_run *run)
{
    struct reply answer = claim(run, "PUT", run->newest);

    assert_ok(answer, 204);
    take_receipt(run, (char *)(uintptr_t)header_of(run->f, &answer, "x-ms-popreceipt"));
}

static void step(struct script_run *run, char what)
{
    struct reply answer;

    switch (what) {
    case 'g':
    case 'G':
        answer = ask(run->f, "GET /que/messages", NULL, NULL);
        assert_ok(answer, 200);
        if (what == 'g')
            take_receipt(run, element(run->f, &answer, "PopReceipt"));
        else
            assert_null(element(run->f, &answer, "MessageId"));
        break;
    case 'u':
    case 'n':
        update(run);
        break;
    case 'o':
        assert_answer(claim(run, "PUT", run->before), 404, "MessageNotFound");
        assert_answer(claim(run, "DELETE", run->before), 404, "MessageNotFound");
        break;
    case 'w':
        clock_advance(31 * TICKS_PER_SECOND);
        break;
    case 's':
        clock_step_wall(3600 * (int64_t)TICKS_PER_SECOND);
        break;
    case 'x':
        clock_advance(UINT64_C(604800) * TICKS_PER_SECOND);
        break;
    case 'd':
        assert_ok(claim(run, "DELETE", run->newest), 204);
        break;
    case 'M':
        assert_answer(claim(run, "PUT", run->newest), 404, "MessageNotFound");
        assert_answer(claim(run, "DELETE", run->newest), 404, "MessageNotFound");
        break;
    default:
        fail_msg("no such step");
    }
}

static struct reply put(struct fixture *f, const char *query)
{
    struct reply answer = askf(f, NULL, "<QueueMessage><MessageText>x</MessageText></QueueMessage>",
                               "POST /que/messages%s", query);

    assert_ok(answer, 201);
    return answer;
}

static void test_scripts(void **state)
{
    struct fixture *f = *state;

    fixture_serve(f, &queue_service);
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        struct script_run run = { .f = f, .rule = scripts[i].rule };
        struct reply answer;

        print_message("%s\n", run.rule);
        assert_ok(ask(f, "PUT /que", NULL, NULL), 201);
        answer = put(f, "");
        run.id = element(f, &answer, "MessageId");
        take_receipt(&run, element(f, &answer, "PopReceipt"));
        for (const char *at = scripts[i].steps; *at; at++)
            step(&run, *at);
        assert_ok(ask(f, "DELETE /que", NULL, NULL), 204);
    }
    fixture_serve(f, NULL);
}

static const char *count_of(struct fixture *f)
{
    struct reply answer = ask(f, "GET /que?comp=metadata", NULL, NULL);

    return header_of(f, &answer, "x-ms-approximate-messages-count");
}

/* What has expired is collected without being met, what has not stays; so with gets that meet
 * it. */
static void test_expiry(void **state)
{
    struct fixture *f = *state;
    struct reply answer;

    fixture_serve(f, &queue_service);
    assert_ok(ask(f, "PUT /que", NULL, NULL), 201);
    for (int i = 0; i < 150; i++)
        put(f, i % 2 ? "?messagettl=60" : "?messagettl=90&visibilitytimeout=80");
    put(f, "?messagettl=-1");
    put(f, "?messagettl=10");
    assert_string_equal(count_of(f), "152");
    clock_advance(20 * TICKS_PER_SECOND);
    fixture_run_due(f);
    assert_string_equal(count_of(f), "151");
    put(f, "?messagettl=5"); /* expires before all that was there at the collection */
    clock_advance(10 * TICKS_PER_SECOND);
    fixture_run_due(f);
    assert_string_equal(count_of(f), "151");
    clock_advance(35 * TICKS_PER_SECOND);
    fixture_run_due(f);
    assert_string_equal(count_of(f), "76");
    clock_advance(60 * TICKS_PER_SECOND);
    answer = ask(f, "GET /que/messages?peekonly=true&numofmessages=32", NULL, NULL);
    assert_non_null(element(f, &answer, "MessageId"));
    answer = ask(f, "GET /que/messages?numofmessages=32", NULL, NULL); /* meets some of them */
    assert_non_null(element(f, &answer, "MessageId"));
    fixture_run_due(f);
    assert_string_equal(count_of(f), "1");
    assert_ok(ask(f, "DELETE /que", NULL, NULL), 204);
    fixture_serve(f, NULL);
}

/* The low-water mark moves with gets, never past a message, and rests while nothing happens. */
static void test_front(void **state)
{
    struct fixture *f = *state;
    struct reply answer;

    fixture_serve(f, &queue_service);
    assert_ok(ask(f, "PUT /que", NULL, NULL), 201);
    for (int round = 0; round < 200; round++) {
        put(f, "?visibilitytimeout=5");
        put(f, "");
        answer = ask(f, "GET /que/messages?visibilitytimeout=3", NULL, NULL);
        assert_non_null(element(f, &answer, "MessageId"));
        clock_advance((unsigned)(round % 9) * TICKS_PER_SECOND);
        ask(f, "GET /que/messages?numofmessages=2", NULL, NULL);
    }
    clock_advance(100 * TICKS_PER_SECOND);
    for (int left = 400; left > 0;) {
        const char *text;

        answer = ask(f, "GET /que/messages?numofmessages=32&visibilitytimeout=1000", NULL, NULL);
        text = textf(f, "%.*s", BYTES_ARG(answer.body));
        assert_non_null(strstr(text, "<QueueMessage>"));
        for (; (text = strstr(text, "<QueueMessage>")); text++)
            left--;
        assert_true(left >= 0);
    }
    assert_string_equal(count_of(f), "400");
    assert_ok(ask(f, "DELETE /que", NULL, NULL), 204);
    fixture_serve(f, NULL);
}

/* The partition of the messages of "que". */
static struct read_view *open_messages(struct fixture *f, struct arena *arena)
{
    struct partition at = { .space = queue_account_space(bytes_from_string(DEVELOPMENT_ACCOUNT)),
                            .key = BYTES("que") };
    struct read_view *snapshot = read_view_open(store_of(f), at, STORE_MAY_BLOCK);
    struct queue queue;

    assert_int_equal(queue_read(snapshot, arena, &queue), STORE_OK);
    read_view_close(snapshot);
    at = (struct partition){ .space = queue.space, .key = BYTES("") };
    return read_view_open(store_of(f), at, STORE_MAY_BLOCK);
}

/* Nobody can read when the next collection is. */
static void damage_collection(struct fixture *f)
{
    struct arena *arena = arena_new(1 << 16);
    struct read_view *before = open_messages(f, arena);
    struct changes *changes = changes_new(arena);
    struct commit_part part = { before, changes };
    uint64_t sequence;

    changes_put(changes, RECORD_INNER, bytes_from_string("c"), bytes_from_string("?"), NULL, 0);
    assert_int_equal(store_commit(store_of(f), &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(before);
    arena_free(arena);
}

/* A put that has written its message and then cannot read what it needs is refused, and nothing of
 * it stays (operation.c: what a row promises of every decision). */
static void test_refused_put(void **state)
{
    struct fixture *f = *state;

    fixture_serve(f, &queue_service);
    assert_ok(ask(f, "PUT /que", NULL, NULL), 201);
    damage_collection(f);
    assert_answer(ask(f, "POST /que/messages?messagettl=60", NULL,
                      "<QueueMessage><MessageText>x</MessageText></QueueMessage>"),
                  500, "InternalError");
    assert_string_equal(count_of(f), "0");
    put(f, "?messagettl=-1"); /* which needs no collection */
    assert_string_equal(count_of(f), "1");
    assert_ok(ask(f, "DELETE /que", NULL, NULL), 204);
    fixture_serve(f, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_scripts, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_expiry, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_front, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_refused_put, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
