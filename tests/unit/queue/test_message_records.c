/* What the records of a queue are after gets, expiry and collection, and that those of an earlier
 * version are served: decision 218. */
#include "fixture.h"

#include "queue/message.h"
#include "service/names.h"

#define SHOWN "<QueueMessage><MessageText>x</MessageText></QueueMessage>"

/* ---- what a client does ---- */

static void put(struct fixture *f, const char *query)
{
    assert_ok(askf(f, NULL, SHOWN, "POST /que/messages%s", query), 201);
}

static unsigned shown(struct bytes body)
{
    unsigned count = 0;

    for (size_t i = 0; i + 14 <= body.len; i++)
        count += memcmp(body.ptr + i, "<QueueMessage>", 14) == 0;
    return count;
}

static unsigned get(struct fixture *f, const char *query)
{
    struct reply answer = askf(f, NULL, NULL, "GET /que/messages?numofmessages=32%s", query);

    assert_ok(answer, 200);
    return shown(answer.body);
}

static unsigned get_all(struct fixture *f, const char *query)
{
    unsigned all = 0, got;

    while ((got = get(f, query)) > 0)
        all += got;
    return all;
}

static void assert_count(struct fixture *f, unsigned count)
{
    struct reply answer = ask(f, "GET /que?comp=metadata", NULL, NULL);

    assert_header(f, answer, "x-ms-approximate-messages-count", textf(f, "%u", count));
}

static void pass(struct fixture *f, unsigned seconds)
{
    clock_advance(seconds * TICKS_PER_SECOND);
    fixture_run_due(f);
}

/* ---- the records ---- */

static struct read_view *messages_of(struct fixture *f, struct arena *arena)
{
    struct partition of_queue = { account_space("queue", bytes_from_string("devstoreaccount1")),
                                  BYTES("que") };
    struct read_view *snapshot = read_view_open(store_of(f), of_queue, STORE_MAY_BLOCK);
    struct partition messages = { .key = BYTES("") };
    struct queue queue;

    assert_int_equal(queue_read(snapshot, arena, &queue), STORE_OK);
    read_view_close(snapshot);
    messages.space = queue.space;
    return read_view_open(store_of(f), messages, STORE_MAY_BLOCK);
}

static unsigned records(struct fixture *f, char kind)
{
    struct arena *arena = arena_new(1u << 20);
    struct read_view *snapshot = messages_of(f, arena);
    struct scan *scan = scan_open(snapshot, RECORD_INNER, bytes_of(&kind, 1), bytes_of(&kind, 1));
    struct record record;
    unsigned count = 0;

    while (scan_next(scan, NULL, &record) == STORE_OK)
        count++;
    scan_close(scan);
    read_view_close(snapshot);
    arena_free(arena);
    return count;
}

/* Of how many messages there are records, and of how many notes. */
static void assert_records(struct fixture *f, unsigned messages, unsigned notes)
{
    assert_int_equal(records(f, 'o'), messages);
    assert_int_equal(records(f, 'm'), messages);
    assert_int_equal(records(f, 'p'), notes);
    assert_count(f, messages);
}

static int begin(void **state)
{
    int result = fixture_setup(state);

    fixture_serve(*state, &queue_service);
    assert_ok(ask(*state, "PUT /que", NULL, NULL), 201);
    return result;
}

/* Nothing is searched or noted where no message is left to expire that was moved. */
static void test_not_moved(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 300; i++)
        put(f, i % 3 ? "?messagettl=60&visibilitytimeout=30" : "?messagettl=1000");
    assert_records(f, 300, 0);
    assert_int_equal(get(f, "&visibilitytimeout=500"), 32); /* those that live on */
    pass(f, 70);
    assert_records(f, 100, 0);
    assert_int_equal(records(f, 's'), 0);
    pass(f, 1000);
    assert_int_equal(records(f, 'o'), 0);
    assert_records(f, 0, 0);
}

/* Got, visible again and expired: found in the order. Those that live on are noted, and found by that
 * when they expire. */
static void test_moved(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 600; i++)
        put(f, i % 3 == 0 ? "?messagettl=60" : i % 3 == 1 ? "?messagettl=600" : "?messagettl=-1");
    assert_int_equal(get_all(f, "&visibilitytimeout=5"), 600);
    pass(f, 30);
    assert_records(f, 600, 0);
    pass(f, 60);
    assert_records(f, 400, 400);
    assert_int_equal(get(f, "&visibilitytimeout=100"), 32); /* no longer where the note said */
    assert_records(f, 400, 368);
    pass(f, 600);
    assert_records(f, 200, 200);
    assert_int_equal(get_all(f, "&visibilitytimeout=100"), 200);
    assert_records(f, 200, 0);
}

/* Hidden until after it expires. */
static void test_hidden_for_longer(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 200; i++)
        put(f, i % 2 ? "?messagettl=60" : "?messagettl=-1");
    assert_int_equal(get_all(f, "&visibilitytimeout=10000"), 200);
    assert_int_equal(get(f, ""), 0);
    pass(f, 100);
    assert_records(f, 100, 0);
    assert_int_equal(get(f, ""), 0);
    pass(f, 10000);
    assert_int_equal(get_all(f, ""), 100);
}

/* ---- claims ---- */

static struct reply claim(struct fixture *f, const char *method, const struct message *message,
                          const char *body)
{
    struct arena *arena = arena_new(1u << 20);
    struct bytes receipt = receipt_text(arena, message_receipt(message));
    const char *text = "";
    char id[GUID_TEXT_SIZE];

    for (size_t i = 0; i < receipt.len; i++)
        text = textf(f, "%s%%%02X", text, (unsigned)receipt.ptr[i]);
    arena_free(arena);
    guid_format(&message->id, id);
    return askf(f, NULL, body, "%s /que/messages/%s?visibilitytimeout=500&popreceipt=%s", method,
                id, text);
}

/* The first in the order. */
static struct message first(struct fixture *f)
{
    struct arena *arena = arena_new(1u << 20);
    struct read_view *snapshot = messages_of(f, arena);
    struct scan *scan = message_scan_order(snapshot, 0);
    struct message message;
    struct record record;

    assert_int_equal(scan_next(scan, NULL, &record), STORE_OK);
    assert_true(message_read_order(&record, &message));
    scan_close(scan);
    read_view_close(snapshot);
    arena_free(arena);
    return message;
}

/* An update of the text writes the place too: nothing is searched. */
static void test_updated(void **state)
{
    struct fixture *f = *state;
    struct message message;

    put(f, "?messagettl=60");
    put(f, "?messagettl=-1&visibilitytimeout=30");
    assert_int_equal(get(f, "&visibilitytimeout=5"), 1);
    message = first(f);
    assert_ok(claim(f, "PUT", &message, SHOWN), 204);
    assert_answer(claim(f, "PUT", &message, SHOWN), 404, "MessageNotFound");
    assert_records(f, 2, 0);
    pass(f, 70);
    assert_answer(claim(f, "PUT", &message, SHOWN), 404, "MessageNotFound");
    assert_records(f, 1, 0);
    assert_int_equal(records(f, 's'), 0);
}

/* Noted where the update wrote that it is, because the one beside it was searched for: the note goes
 * with it. */
static void test_noted_where_updated(void **state)
{
    struct fixture *f = *state;
    struct message message;

    put(f, "?messagettl=2000");
    assert_int_equal(get(f, "&visibilitytimeout=5"), 1);
    message = first(f);
    assert_ok(claim(f, "PUT", &message, SHOWN), 204);
    put(f, "?messagettl=1000");
    assert_int_equal(get(f, "&visibilitytimeout=5"), 1);
    pass(f, 1100);
    assert_records(f, 1, 1);
    pass(f, 1000);
    assert_records(f, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_not_moved, begin, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_moved, begin, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_hidden_for_longer, begin, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_updated, begin, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_noted_where_updated, begin, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
