/* Decisions of the operations on messages: see message_operations.h. */
#include "queue/message_operations.h"

#include "queue/expire_messages.h"
#include "queue/front.h"

/* ---- Put Message ---- */

/* Returns the expiry, or MESSAGE_NEVER if none exists or it would be beyond the calendar. */
static instant expiry_of(instant now, uint64_t ttl_s)
{
    if (ttl_s == 0 || ttl_s >= (MESSAGE_NEVER - now) / TICKS_PER_SECOND)
        return MESSAGE_NEVER;
    return now + ttl_s * TICKS_PER_SECOND;
}

/* Adds a message after all messages that are visible before it. Returns a receipt like a get does.
 * rest: Put-Message */
enum error put_message_decide(struct decision *d, const struct put_message_parameters *p,
                              struct put_message_result *r)
{
    instant now = message_now(d), expires = expiry_of(now, p->ttl_s);
    enum store_result result;

    r->message = (struct message){
        .id = message_id(d->now, expires, p->random),
        .visible = now + p->visibility_s * TICKS_PER_SECOND,
        .expires = expires,
        .text = p->text,
    };
    message_show(d, &r->message);
    message_write_new(d->changes, d->arena, &r->message);
    result = expire_messages_at(d, expires);
    return result ? decision_fail_store(d, result) : OK;
}

/* ---- Update Message ---- */

/* Sets the time at which the message becomes visible again, and its text if given. Does not count
 * as a dequeue.
 * rest: Update-Message; decision: 122 */
enum error update_message_decide(struct decision *d, const struct update_message_parameters *p,
                                 struct update_message_result *r)
{
    struct message before;
    enum error e = message_find(d, &p->claim, &before);

    if (e)
        return e;
    r->message = before;
    r->message.visible = message_now(d) + p->visibility_s * TICKS_PER_SECOND;
    r->message.changes++;
    message_show(d, &r->message);
    message_move(d->changes, d->arena, &before, &r->message);
    if (p->text.ptr) {
        struct message written = r->message;

        written.text = p->text;
        message_write_text(d->changes, d->arena, &written);
    }
    return OK;
}

/* ---- Delete Message, Clear Messages ---- */

/* rest: Delete-Message2 */
enum error delete_message_decide(struct decision *d, const struct delete_message_parameters *p,
                                 struct delete_message_result *r)
{
    struct message message;
    enum error e = message_find(d, &p->claim, &message);

    (void)r;
    if (!e)
        message_remove(d->changes, &message);
    return e;
}

/* Deletes all messages at once by giving the queue a new space and dropping the old one. A
 * concurrent put adds its message to one of the two. rest: Clear-Messages */
enum error clear_messages_decide(struct decision *d, const struct clear_messages_parameters *p,
                                 struct clear_messages_result *r)
{
    struct queue queue = queue_state(d)->queue;

    (void)r;
    changes_drop_space(d->changes, queue.space);
    queue.space = p->space;
    queue_write(d, &queue);
    return OK;
}

/* Get Messages, Peek Messages: return the first visible messages. rest: Get-Messages,
 * Peek-Messages */

/* Maximum number of expired messages deleted in the same commit; others are skipped and left to
 * expire_messages.c. */
#define DROPPED_MAX            100u
/* Maximum number of messages that a worker visits; a thread that may block visits more. */
#define PASSED_BY_WORKERS      1000u
/* Total size of texts above which the response is rendered in the pool. */
#define RENDERED_BY_WORKER_MAX (64u << 10)

struct search {
    instant now; /* message_now() */
    uint32_t wanted;
    struct message_list *found;
    bool drops;              /* whether to delete expired messages */
    struct message *expired; /* expired messages to delete, at most DROPPED_MAX; NULL if none */
    uint32_t expired_count;
    instant end; /* no remaining message is before it */
};

/* Limits `end` to the position of a message that may remain. */
static void keep_behind(struct search *search, const struct message *message)
{
    if (search->end > message->visible)
        search->end = message->visible;
}

/* Adds an expired message to those to delete. Returns false if it remains. */
static bool drop(struct decision *d, struct search *search, const struct message *message)
{
    if (!search->drops || search->expired_count == DROPPED_MAX)
        return false;
    if (!search->expired)
        search->expired = arena_array(d->arena, DROPPED_MAX, sizeof *search->expired);
    search->expired[search->expired_count++] = *message;
    return true;
}

/* Finds the first messages visible at search->now. Returns STORE_OK, even if there are fewer;
 * STORE_WAIT, STORE_CORRUPT, STORE_IO. */
static enum store_result find_visible(struct decision *d, instant from, struct search *search)
{
    struct scan *scan = message_scan_order(d->before, from);
    enum store_result result = STORE_OK;
    uint32_t passed = 0;

    search->end = search->now;
    while (search->found->count < search->wanted) {
        struct message message;
        struct record record;

        result = scan_next(scan, NULL, &record);
        if (!result && !message_read_order(&record, &message))
            result = STORE_CORRUPT;
        if (result || message.visible > search->now)
            break;
        if (message.expires > search->now)
            search->found->items[search->found->count++] = message;
        else if (!drop(d, search, &message))
            keep_behind(search, &message);
        if (++passed == PASSED_BY_WORKERS && !d->access.may_block) {
            result = STORE_WAIT;
            break;
        }
    }
    if (search->found->count == search->wanted)
        keep_behind(search, &search->found->items[search->wanted - 1]);
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum store_result read_texts(struct decision *d, struct message_list *list)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        enum store_result result = message_read_text(d->before, d->arena, &list->items[i]);

        if (result)
            return result;
        bytes += list->items[i].text.len;
    }
    d->renders_long = bytes > RENDERED_BY_WORKER_MAX;
    return STORE_OK;
}

/* Finds the messages visible at search->now, starting at the low-water mark, and reads their
 * texts. */
static enum error search_messages(struct decision *d, struct search *search,
                                  struct front *ret_front)
{
    enum store_result result = front_read(d->before, d->arena, ret_front);

    search->found->items = arena_array(d->arena, search->wanted, sizeof search->found->items[0]);
    if (!result)
        result = find_visible(d, ret_front->mark, search);
    if (!result)
        result = read_texts(d, search->found);
    if (result)
        return decision_fail_store(d, result);
    return search->found->count == 0 && read_view_is_deleted(d->before) ? DECIDE_AGAIN : OK;
}

/* Hides each message for a while, increments its dequeue count, and changes its receipt. */
enum error get_messages_decide(struct decision *d, const struct get_messages_parameters *p,
                               struct get_messages_result *r)
{
    struct search s = {
        .now = message_now(d), .wanted = p->count, .found = &r->list, .drops = true
    };
    struct front front;
    enum error e = search_messages(d, &s, &front);

    if (e)
        return e;
    for (uint32_t i = 0; i < s.expired_count; i++)
        message_remove(d->changes, &s.expired[i]);
    for (uint32_t i = 0; i < r->list.count; i++) {
        struct message *message = &r->list.items[i];
        struct message before = *message;

        message->visible = s.now + p->visibility_s * TICKS_PER_SECOND;
        message->dequeued++;
        message->changes++;
        message_show(d, message);
        message_move(d->changes, d->arena, &before, message);
    }
    if (changes_empty(d->changes))
        front_found_empty(d, &front);
    else
        front_advance(d, &front, s.end);
    return OK;
}

/* Returns the messages without changes. */
enum error peek_messages_decide(struct decision *d, const struct peek_messages_parameters *p,
                                struct peek_messages_result *r)
{
    struct search s = { .now = message_now(d), .wanted = p->count, .found = &r->list };
    struct front front;
    enum error e = search_messages(d, &s, &front);

    for (uint32_t i = 0; !e && i < r->list.count; i++)
        message_show(d, &r->list.items[i]);
    return e;
}
