/* Every field of the records of a queue and of a message survives, next to others with any value. queue_operations.c, message.c */
#include "queue/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../record_fields.h"

static const struct field queue_fields[] = {
    VALUE(queue, space),
    VALUE(queue, created),
    TEXT(queue, metadata),
    TEXT(queue, policies),
};

static void queue_trip(struct arena *arena, const void *from, void *to)
{
    struct decision d = { .arena = arena, .changes = changes_new(arena) };

    queue_write(&d, from);
    assert_true(
        queue_decode(written_record(arena, d.changes, RECORD_LISTED, bytes_from_string("q")), to));
}

static void queues(void **state)
{
    static const struct record_form form = RECORD_FORM(queue, queue_fields, queue_trip);
    static const struct queue samples[] = {
        { .space = { { 1 } }, .created = 2, .metadata = BYTES("3"), .policies = BYTES("4") },
        { .space = { { 11 } }, .created = 12, .metadata = BYTES("13"), .policies = BYTES("14") },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

static const struct field message_fields[] = {
    VALUE(message, id),
    VALUE(message, visible),
    VALUE(message, expires),
    VALUE(message, dequeued),
    VALUE(message, changes),
    SKIPPED(message, forwarded), /* message_move() and message_forward() */
    TEXT(message, text),
    SKIPPED(message, visible_shown),
    SKIPPED(message, expires_shown),
};

static void message_trip(struct arena *arena, const void *from, void *to)
{
    struct changes *changes = changes_new(arena);
    struct written written;
    const struct message *message = from;
    struct message read, body;
    struct record record;
    struct scan *scan;
    instant due;

    message_write_new(changes, arena, from);
    written = written_begin(changes);
    scan = message_scan_order(written.snapshot, 0);
    assert_int_equal(scan_next(scan, arena, &record), STORE_OK);
    assert_true(message_read_order(&record, &read));
    assert_false(read.forwarded);
    scan_close(scan);
    assert_int_equal(message_read_text(written.snapshot, arena, &read), STORE_OK);
    read.text = arena_copy(arena, read.text);
    scan = message_scan_bodies(written.snapshot, 0);
    assert_int_equal(scan_next(scan, arena, &record), STORE_OK);
    assert_true(message_read_body(&record, &body, &due));
    scan_close(scan);
    assert_true(guid_equal(&body.id, &message->id) && due == message_due(message->expires));
    assert_true(body.expires == message->expires && body.visible == message->visible);
    written_end(&written);
    memcpy(to, &read, sizeof read);
}

static void messages(void **state)
{
    static const struct record_form form = RECORD_FORM(message, message_fields, message_trip);
    const instant expires = 1000 * TICKS_PER_SECOND + 5; /* both in one second, as their ids say */
    struct message samples[] = {
        { .id = message_id(1, expires, (struct guid){ { 0 } }),
          .visible = 2,
          .expires = expires,
          .dequeued = 3,
          .changes = 4,
          .text = BYTES("5") },
        { .id = message_id(11, expires, (struct guid){ { 0 } }),
          .visible = 12,
          .expires = expires + 1,
          .dequeued = 13,
          .changes = 14,
          .text = BYTES("15") },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues),
        cmocka_unit_test(messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
