/* Records of queues and tables that make no sense are reported by name: `lagra check` (check.h). */
#include "fixture.h"

#include "base/codec.h"
#include "base/endian.h"
#include "queue/message.h"
#include "service/deferred_tasks.h"

/* A queue with as many messages. */
static struct partition make_queue(struct fixture *f, const char *name, struct message *messages,
                                   unsigned count)
{
    struct queue queue = { .space = guid_new(), .created = clock_now() };
    struct decision d = { .arena = f->arena, .changes = changes_new(f->arena) };
    struct partition content = { .key = BYTES("") };

    queue_write(&d, &queue);
    commit(f, named("queue", name), d.changes);
    content.space = queue.space;
    for (unsigned i = 0; i < count; i++) {
        struct changes *changes = changes_new(f->arena);
        instant expires = clock_now() + TICKS_PER_SECOND;

        messages[i] = (struct message){ .id = message_id(clock_now(), expires, guid_new()),
                                        .visible = clock_now(),
                                        .expires = expires,
                                        .text = BYTES("text") };
        message_write_new(changes, f->arena, &messages[i]);
        commit(f, content, changes);
    }
    return content;
}

static void sound(void **state)
{
    struct fixture *f = *state;
    struct message messages[3];

    open_store(f);
    make_queue(f, "que", messages, 3);
    make_queue(f, "empty", messages, 0);
    assert_non_null(strstr(check(f, EXIT_SUCCESS),
                           "3 messages in 2 queues, 0 entities in 0 tables, "
                           "0 files in 0 shares; damaged or lost: 0\n"));
}

static void damaged_messages(void **state)
{
    struct fixture *f = *state;
    struct message messages[3];
    char key[22] = "m", id[GUID_TEXT_SIZE], line[200], due[8];
    struct partition content;
    const char *said;

    open_store(f);
    content = make_queue(f, "que", messages, 3);
    be64_put(due, message_due(messages[1].expires) / TICKS_PER_SECOND);
    memcpy(key + 1, due + 3, 5);
    memcpy(key + 6, messages[1].id.b, 16);
    put_raw(f, content, RECORD_INNER, bytes_of(key, sizeof key), "\x01?");
    put_raw(f, content, RECORD_INNER, bytes_from_string("o?"), "\x01");
    put_raw(f, content, RECORD_INNER, bytes_from_string("w"), "?");
    said = check(f, EXIT_FAILURE);
    guid_format(&messages[1].id, id);
    snprintf(line, sizeof line, "damaged  " ACCOUNT "/que: message %s has an unreadable text\n",
             id);
    assert_non_null(strstr(said, line));
    assert_non_null(strstr(said, "damaged  " ACCOUNT "/que: the record of a message is corrupt\n"));
    assert_non_null(
        strstr(said, "damaged  " ACCOUNT "/que: the record of its first message is corrupt\n"));
    assert_non_null(strstr(said, "; damaged or lost: 3\n"));
}

static void damaged_queue_and_table(void **state)
{
    struct fixture *f = *state;
    struct message messages[1];
    const char *said;

    open_store(f);
    make_queue(f, "que", messages, 1);
    put_raw(f, named("queue", "other"), RECORD_LISTED, bytes_from_string("q"), "?");
    put_raw(f, named("table", "tab"), RECORD_LISTED, bytes_from_string("t"), "?");
    said = check(f, EXIT_FAILURE);
    assert_non_null(
        strstr(said, "damaged  " ACCOUNT "/other: the record of the queue is corrupt\n"));
    assert_non_null(strstr(said, "damaged  " ACCOUNT "/tab: the record of the table is corrupt\n"));
    assert_non_null(strstr(said, "1 messages in 1 queues"));
    assert_non_null(strstr(said, "; damaged or lost: 2\n"));
}

/* Opens the store, and makes an empty table of it. */
static struct guid make_table(struct fixture *f)
{
    struct changes *changes;
    struct guid space = guid_new();
    struct text table;

    open_store(f);
    text_init(&table, f->arena, 64);
    encode_u8(&table, 1);
    encode_fixed(&table, space.b, sizeof space.b);
    encode_bytes(&table, bytes_from_string("tab"));
    encode_u64(&table, clock_now());
    encode_bytes(&table, bytes_from_string(""));
    changes = changes_new(f->arena);
    changes_put(changes, RECORD_LISTED, bytes_from_string("t"), text_bytes(&table), NULL, 0);
    commit(f, named("table", "tab"), changes);
    return space;
}

/* An entity may have the key that the record of a queue has. */
static void damaged_entity(void **state)
{
    struct fixture *f = *state;
    struct guid space = make_table(f);
    const char *said;

    put_raw(f, (struct partition){ space, bytes_from_string("key") }, RECORD_LISTED,
            bytes_from_string("q"), "?");
    said = check(f, EXIT_FAILURE);
    assert_non_null(
        strstr(said, "damaged  " ACCOUNT "/tab/key: the entity with RowKey q is corrupt\n"));
    assert_non_null(
        strstr(said, "1 entities in 1 tables, 0 files in 0 shares; damaged or lost: 1\n"));
}

/* One whose bytes make sense as such a record, too. */
static void entity_like_a_queue(void **state)
{
    struct fixture *f = *state;
    struct guid space = make_table(f);
    struct queue queue = { .space = guid_new(), .created = clock_now() };
    struct decision d = { .arena = f->arena, .changes = changes_new(f->arena) };

    queue_write(&d, &queue);
    commit(f, (struct partition){ space, BYTES("key") }, d.changes);
    assert_non_null(
        strstr(check(f, EXIT_FAILURE), "0 messages in 0 queues, 1 entities in 1 table"));
}

/* Rule: a deferred task that failed is listed, and is no damage. decision: 246 */
static void failed_task(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct partition content;
    bool left;

    open_store(f);
    content = make_queue(f, "que", NULL, 0);
    changes_defer(changes, 0, 0x777, bytes_from_string("nobody knows it"));
    commit(f, content, changes);
    tasks_run_due(f->store, NULL, NULL, 0, clock_now(), &left);
    assert_true(left);
    assert_non_null(strstr(check(f, EXIT_SUCCESS),
                           "put off  a task of " ACCOUNT "/que: kind 0x777, has failed 1 time\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(failed_task, setup, teardown),
        cmocka_unit_test_setup_teardown(sound, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_messages, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_queue_and_table, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_entity, setup, teardown),
        cmocka_unit_test_setup_teardown(entity_like_a_queue, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
