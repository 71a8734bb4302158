/* The collection of expired messages: see expire_messages.h. */
#include "queue/expire_messages.h"

#include "base/endian.h"
#include "service/note.h"

/* Messages that one commit deletes: few enough to get through beside busy clients. */
#define EXPIRE_AT_ONCE 64
/* Messages that expire one after another are collected together. */
#define EXPIRE_EVERY_S 1

static const struct bytes record_key = BYTES("c");

struct collection {
    instant due; /* 0: there is no item */
    instant from;
};

enum { DUE, FROM, NUMBERS };

static enum store_result read_collection(struct snapshot *before, struct arena *arena,
                                         struct collection *ret_collection)
{
    uint64_t numbers[NUMBERS];
    enum store_result result = note_read(before, arena, record_key,
                                         "the note of a queue's next collection", numbers, NUMBERS);

    *ret_collection = (struct collection){ .due = numbers[DUE], .from = numbers[FROM] };
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static void write_collection(struct changes *changes, struct arena *arena,
                             struct collection collection)
{
    const uint64_t numbers[NUMBERS] = { collection.due, collection.from };

    note_write(changes, arena, record_key, numbers, NUMBERS);
}

static void arm(struct changes *changes, struct arena *arena, instant due, instant from)
{
    char payload[8];

    write_collection(changes, arena, (struct collection){ .due = due, .from = from });
    be64_put(payload, due);
    changes_later(changes, clock_with_steps(due), LATER_EXPIRE_MESSAGES,
                  bytes_of(payload, sizeof payload));
}

/* What expires now was after `from` then: an expiry is after the instant of its put, and that after
 * every instant that the partition had seen. */
enum store_result expire_messages_at(struct decision *d, instant expires)
{
    struct collection collection;
    enum store_result result;

    if (expires == MESSAGE_NEVER)
        return STORE_OK;
    result = read_collection(d->before, d->arena, &collection);
    if (!result && (collection.due == 0 || collection.due > expires))
        arm(d->changes, d->arena, expires, collection.from);
    return result;
}

/* Deletes what has expired, at most EXPIRE_AT_ONCE. *ret_next: when the next one does, at most
 * `now` when there are more; 0: nothing is left. */
static enum store_result collect(struct later_work *work, instant now, instant from,
                                 instant *ret_next)
{
    struct scan *scan = message_scan_expiring(work->before, from);
    enum store_result result = STORE_OK;

    *ret_next = 0;
    for (unsigned count = 0; !result; count++) {
        struct message message;
        struct record record;

        result = scan_next(scan, NULL, &record);
        if (result)
            break;
        if (!message_read_expiring(&record, &message)) {
            result = STORE_CORRUPT;
            break;
        }
        *ret_next = message.expires;
        if (message.expires > now || count == EXPIRE_AT_ONCE)
            break;
        message_remove(work->changes, &message);
        *ret_next = 0;
    }
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum store_result expire_messages(struct later_work *work)
{
    struct bytes payload = work->item->payload;
    struct collection collection;
    instant now = clock_without_steps(work->now);
    instant next = 0, soon = now + EXPIRE_EVERY_S * TICKS_PER_SECOND;
    enum store_result result = read_collection(work->before, work->arena, &collection);

    if (result || payload.len != 8 || be64_get(payload.ptr) != collection.due)
        return result;
    result = collect(work, now, collection.from, &next);
    if (result)
        return result;
    if (next == 0)
        write_collection(work->changes, work->arena, (struct collection){ .from = now });
    else if (next <= now)
        arm(work->changes, work->arena, now, next);
    else /* not from `next` on: what is put meanwhile may expire before it */
        arm(work->changes, work->arena, next > soon ? next : soon, now);
    return STORE_OK;
}
