/* Deletes expired messages: see expire_messages.h. */
#include "queue/expire_messages.h"

#include "base/endian.h"
#include "base/log.h"
#include "queue/front.h"
#include "service/small_record.h"

/* Maximum number of messages that one commit deletes or forwards. With few messages, it succeeds
 * even while clients are busy. */
#define EXPIRE_AT_ONCE 64
/* Maximum number of messages read per search. */
#define SEARCH_AT_ONCE 256
/* Minimum interval of runs, so that messages that expire shortly after each other are deleted
 * together. */
#define EXPIRE_EVERY_S 1

static const struct bytes record_key = BYTES("c");
static const struct bytes search_key = BYTES("s");

struct collection {
    instant due; /* 0 if there is no task */
    instant from;
};

enum { DUE, FROM, NUMBERS };

static enum store_result read_collection(struct read_view *before, struct arena *arena,
                                         struct collection *ret_collection)
{
    uint64_t numbers[NUMBERS];
    enum store_result result = small_record_read(
        before, arena, record_key, "the record of a queue's next collection", numbers, NUMBERS);

    *ret_collection = (struct collection){ .due = numbers[DUE], .from = numbers[FROM] };
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static void write_collection(struct changes *changes, struct arena *arena,
                             struct collection collection)
{
    const uint64_t numbers[NUMBERS] = { collection.due, collection.from };

    small_record_write(changes, arena, record_key, numbers, NUMBERS);
}

static void arm(struct decision *d, instant due, instant from)
{
    char payload[8];

    write_collection(d->changes, d->arena, (struct collection){ .due = due, .from = from });
    be64_put(payload, due);
    changes_defer(d->changes, store_time_shown(d->store, due), TASK_EXPIRE_MESSAGES,
                  bytes_of(payload, sizeof payload));
}

/* Leaves `from` unchanged, because the new message expires after it: an expiry is later than the
 * instant of the put, which is later than every earlier instant of the partition. */
enum store_result expire_messages_at(struct decision *d, instant expires)
{
    instant due = message_due(expires);
    struct collection collection;
    enum store_result result;

    if (due == INSTANT_MAX)
        return STORE_OK;
    result = read_collection(d->before, d->arena, &collection);
    if (!result && (collection.due == 0 || collection.due > due))
        arm(d, due, collection.from);
    return result;
}

/* ---- by expiry ---- */

/* Scan of bodies in the order of expiry. */
struct expiring {
    struct scan *scan;
    struct message first; /* first of the remaining messages */
    instant due;          /* second at which it is due; INSTANT_MAX if no message is left */
};

static enum store_result go_on(struct expiring *expiring)
{
    struct record record;
    enum store_result result = scan_next(expiring->scan, NULL, &record);

    expiring->due = INSTANT_MAX;
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    return message_read_body(&record, &expiring->first, &expiring->due) ? STORE_OK : STORE_CORRUPT;
}

/* Finds the message's current position. Returns STORE_NOT_FOUND if the part of the order searched
 * so far does not contain it. */
static enum store_result find_place(struct decision *d, struct expiring *expiring, instant searched)
{
    enum store_result result = message_locate(d->before, d->arena, &expiring->first);

    if (result != STORE_NOT_FOUND || searched <= expiring->due)
        return result;
    log_line(LOG_ERROR, "a message has a body but no order record");
    return STORE_OK;
}

/* One run of the task. */
struct run {
    struct decision *d;
    instant now;
    instant from;     /* first expiry to process */
    instant searched; /* end of the searched part of the order */
};

/* Deletes up to EXPIRE_AT_ONCE expired messages; stops at one whose position is unknown.
 *
 * ret_next  next expiry, which is at most `now` if more messages have expired; INSTANT_MAX if no
 *           message is left
 * returns   STORE_NOT_FOUND if nothing was deleted, because the first message's position is
 *           unknown */
static enum store_result collect(struct run *run, struct expiring *expiring, instant *ret_next)
{
    enum store_result result = go_on(expiring);
    unsigned count = 0;

    while (!result) {
        *ret_next = expiring->due;
        if (expiring->due > run->now || count == EXPIRE_AT_ONCE)
            break;
        result = find_place(run->d, expiring, run->searched);
        if (result)
            break;
        message_remove(run->d->changes, &expiring->first);
        count++;
        result = go_on(expiring);
    }
    return result == STORE_NOT_FOUND && count > 0 ? STORE_OK : result;
}

static enum store_result collect_expired(struct run *run, instant *ret_next)
{
    struct expiring expiring = { .scan = message_scan_bodies(run->d->before, run->from) };
    enum store_result result = collect(run, &expiring, ret_next);

    scan_close(expiring.scan);
    return result;
}

/* ---- searching the order ---- */

/* Deletes an expired message, or records the new position of a moved message. Returns false if
 * there was nothing to change. */
static bool sort_out(struct run *run, const struct message *message)
{
    if (message->expires <= run->now)
        message_remove(run->d->changes, message);
    else if (message->changes > 0 && !message->forwarded)
        message_forward(run->d->changes, run->d->arena, message);
    else
        return false;
    return true;
}

/* Reads the next message. At the end, sets its position to INSTANT_MAX. */
static enum store_result next_in_order(struct scan *scan, struct message *ret_message)
{
    struct record record;
    enum store_result result = scan_next(scan, NULL, &record);

    if (!result)
        return message_read_order(&record, ret_message) ? STORE_OK : STORE_CORRUPT;
    *ret_message = (struct message){ .visible = INSTANT_MAX };
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Processes about SEARCH_AT_ONCE messages with positions from run->searched up to now, and
 * advances run->searched. */
static enum store_result search(struct run *run)
{
    struct scan *scan = message_search_order(run->d->before, run->searched);
    unsigned seen = 0, changed = 0;
    struct message message;
    enum store_result result = next_in_order(scan, &message);

    while (!result && message.visible <= run->now) {
        bool enough = seen >= SEARCH_AT_ONCE || changed >= EXPIRE_AT_ONCE;

        if (enough && message.visible > run->searched)
            break; /* stop only between two positions */
        run->searched = message.visible;
        if (sort_out(run, &message))
            changed++;
        seen++;
        result = next_in_order(scan, &message);
    }
    scan_close(scan);
    if (!result)
        run->searched = message.visible < run->now ? message.visible : run->now;
    return result;
}

static enum store_result read_searched(struct decision *d, instant *ret_searched)
{
    struct front front;
    enum store_result result =
        small_record_read(d->before, d->arena, search_key,
                          "the record of the searched part of a queue", ret_searched, 1);

    if (!result || result == STORE_NOT_FOUND)
        result = front_read(d->before, d->arena, &front);
    if (!result && *ret_searched < front.mark)
        *ret_searched = front.mark;
    return result;
}

/* ---- the task ---- */

static enum store_result run_once(struct run *run, instant *ret_next)
{
    enum store_result result = read_searched(run->d, &run->searched);

    if (!result)
        result = collect_expired(run, ret_next);
    if (result != STORE_NOT_FOUND)
        return result;
    result = search(run);
    small_record_write(run->d->changes, run->d->arena, search_key, &run->searched, 1);
    return result;
}

enum store_result expire_messages(struct decision *d, const struct deferred_task *task,
                                  const struct endpoint *endpoint)
{
    struct bytes payload = task->payload;
    struct run run = { .d = d, .now = message_now(d) };
    instant next = INSTANT_MAX, now = run.now, soon = now + EXPIRE_EVERY_S * TICKS_PER_SECOND;
    struct collection collection;
    enum store_result result = read_collection(d->before, d->arena, &collection);

    (void)endpoint;
    if (result || payload.len != 8 || be64_get(payload.ptr) != collection.due)
        return result;
    run.from = collection.from;
    result = run_once(&run, &next);
    if (result)
        return result;
    if (next == INSTANT_MAX)
        write_collection(d->changes, d->arena, (struct collection){ .from = now });
    else if (next <= now)
        arm(d, now, next);
    else /* start from `now`, because messages put later may expire before `next` */
        arm(d, next > soon ? next : soon, now);
    return STORE_OK;
}
