/* Of queues: each message has one place in the order and one body, and is counted once; a note names
 * one that is there. See census.h. */
#include "census_part.h"

#include "queue/message.h"
#include "queue/queue.h"

enum { KEY_ORDER = 'o', KEY_BODY = 'm', KEY_PLACE = 'p' };

/* Of the space whose records are being shown: they come one space after the other, twice. */
static struct {
    struct guid space;
    int64_t order, bodies, notes;
    int64_t forwarded; /* in the order: a note says where they are */
} of[16];
static unsigned count;

static bool read_queue(struct bytes value, struct guid *ret_space)
{
    struct queue queue;
    bool makes_sense = queue_decode(value, &queue);

    if (makes_sense)
        *ret_space = queue.space;
    return makes_sense;
}

static void note_message(struct store *store, const struct record_place *place,
                         const struct record *record)
{
    (void)store;
    (void)place;
    (void)record;
}

static const char *judge_message(const struct record_place *place, const struct record *record)
{
    char kind = record->key.len > 0 ? record->key.ptr[0] : '\0';
    struct message message;

    if (place->family == RECORD_LISTED)
        return "a queue lists nothing";
    if (!strchr("ompwcs", kind))
        return "no message is stored so";
    if (count == 0 || !guid_equal(&of[count - 1].space, &place->space)) {
        if (count == sizeof of / sizeof of[0])
            return "more queues than there are";
        of[count++].space = place->space;
    }
    of[count - 1].order += kind == KEY_ORDER;
    of[count - 1].bodies += kind == KEY_BODY;
    of[count - 1].notes += kind == KEY_PLACE;
    if (kind == KEY_ORDER && !message_read_order(record, &message))
        return "a message's record makes no sense";
    of[count - 1].forwarded += kind == KEY_ORDER && message.forwarded;
    return NULL;
}

static const char *end_queue(struct store *store, const struct guid *space, unsigned index_rows)
{
    int64_t counted = 0;
    uint64_t sequence;
    unsigned i = 0;

    if (index_rows > 0)
        return "a queue has no index";
    if (store_count(store, *space, message_counter, STORE_MAY_BLOCK, &counted, &sequence))
        return "a counter cannot be read";
    while (i < count && !guid_equal(&of[i].space, space))
        i++;
    if (i == count)
        return counted == 0 ? NULL : "messages are counted, and there is none";
    if (of[i].order != of[i].bodies)
        return "messages in the order, and bodies of messages, are not as many";
    if (of[i].notes != of[i].forwarded)
        return "other messages are noted than say so";
    return of[i].order == counted ? NULL : "the count of messages is wrong";
}

const struct census_part census_queue = { .service = "queue",
                                          .record_key = "q",
                                          .read = read_queue,
                                          .note = note_message,
                                          .judge = judge_message,
                                          .end = end_queue,
                                          .keeps_tasks = true };
