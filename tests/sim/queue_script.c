/* Requests about few queues, with times on the edges: most clients want the same messages. */
#include "queue_script.h"

#include <nettle/base64.h>
#include <string.h>

#include "commits.h"
#include "draws.h"
#include "fleet.h"
#include "queue_judge.h"
#include "queue_model.h"
#include "world.h"

static const unsigned weights[QUEUE_OPS] = {
    [QUEUE_LIST] = 2,
    [QUEUE_CREATE] = 3,
    [QUEUE_DELETE] = 1,
    [QUEUE_GET_METADATA] = 6,
    [QUEUE_SET_METADATA] = 2,
    [QUEUE_GET_ACL] = 1,
    [QUEUE_SET_ACL] = 2,
    [QUEUE_PUT] = 30,
    [QUEUE_GET] = 25,
    [QUEUE_PEEK] = 6,
    [QUEUE_CLEAR] = 1,
    [QUEUE_UPDATE] = 10,
    [QUEUE_DELETE_MESSAGE] = 15,
};

#define OP(name) (1u << QUEUE_##name)
#define RANGE    400, "OutOfRangeQueryParameterValue"
#define VALUE    400, "InvalidQueryParameterValue"
static const struct queue_malformed malformed[] = {
    { "visibilitytimeout=604801", NULL, OP(PUT) | OP(GET) | OP(UPDATE), RANGE },
    { "visibilitytimeout=0", NULL, OP(GET), RANGE },
    { "visibilitytimeout=-1", NULL, OP(PUT) | OP(GET) | OP(UPDATE), RANGE },
    { "visibilitytimeout=x", NULL, OP(PUT) | OP(GET) | OP(UPDATE), VALUE },
    { "messagettl=0", NULL, OP(PUT), RANGE },
    { "messagettl=-2", NULL, OP(PUT), RANGE },
    { "messagettl=2147483648", NULL, OP(PUT), RANGE },
    { NULL, "<QueueMessage><MessageText>a", OP(PUT) | OP(UPDATE), 400, "InvalidXmlDocument" },
    { NULL, "<QueueMessage><MessageText>\001</MessageText></QueueMessage>", OP(PUT) | OP(UPDATE),
      400, "InvalidXmlDocument" },
};
#define MALFORMED (sizeof malformed / sizeof malformed[0])

static int draw_seconds(struct draws *draws, int least)
{
    static const int seconds[] = { 0, 1, 2, 3, 5, 10, 30, 60, 3600, 86400, WEEK_S };
    int drawn = seconds[draw(draws, draw(draws, 4) == 0 ? 11 : 6)];

    if (draw(draws, 8) == 0)
        return NOT_SENT;
    return drawn < least ? least : drawn;
}

static void draw_text(struct draws *draws, struct queue_ask *asked)
{
    static const uint32_t edges[] = { 0, 1, 1000, 4096, 16384, MESSAGE_TEXT_MAX };

    asked->text = world_mix(draws->state);
    asked->text_length = draw(draws, 12) == 0 ? edges[draw(draws, 6)] : draw(draws, 200);
}

static void draw_put(struct draws *draws, struct queue_ask *asked)
{
    static const int ttls[] = { 1, 2, 3, 5, 10, 30, 100, 3600, 100000 };

    draw_text(draws, asked);
    asked->visibility_s = draw(draws, 3) == 0 ? draw_seconds(draws, 0) : NOT_SENT;
    asked->ttl_s = NOT_SENT;
    if (draw(draws, 5) > 0)
        asked->ttl_s = draw(draws, 2) == 0 ? NEVER_EXPIRES : ttls[draw(draws, 9)];
    /* Most of those that would be refused are not asked. */
    if (asked->visibility_s >= (asked->ttl_s == NOT_SENT ? WEEK_S : asked->ttl_s) &&
        asked->ttl_s != NEVER_EXPIRES && draw(draws, 8) > 0)
        asked->visibility_s = NOT_SENT;
}

/* One change less: of no version, or of one that is over. */
static void alter_receipt(struct queue_ask *asked)
{
    struct base64_decode_ctx decoder;
    uint8_t raw[BASE64_DECODE_LENGTH(RECEIPT_SIZE)];
    size_t size = sizeof raw, text = strlen(asked->receipt);

    base64_decode_init(&decoder);
    if (!base64_decode_update(&decoder, &size, raw, text, asked->receipt) || size == 0 ||
        raw[size - 1] == 0)
        return;
    raw[size - 1]--;
    base64_encode_raw(asked->receipt, size, raw);
    asked->version = UINT64_MAX;
}

/* A message that clients know, with the receipt of its last change or an older one; else one that
 * is none. */
static void draw_message(struct draws *draws, struct ask *ask)
{
    const struct sim_message *message = world->queues->messages[ask->container];
    struct queue_ask *asked = &ask->queue;
    unsigned back = draw(draws, draw(draws, 3) == 0 ? 100 : 8), receipt = 0;

    for (const struct sim_message *m = message; m && back-- > 0; m = m->next) {
        if (m->receipts[0].version > 0 && m->state->exists)
            message = m;
    }
    asked->id_is_odd = draw(draws, 40) == 0;
    asked->receipt_is_odd = draw(draws, 40) == 0;
    if (!message || message->receipts[0].version == 0) {
        asked->receipt_is_odd = true;
        return;
    }
    memcpy(asked->id, message->id, MESSAGE_ID_SIZE);
    if (draw(draws, 4) == 0)
        receipt = draw(draws, RECEIPTS_KEPT);
    if (message->receipts[receipt].version == 0)
        receipt = 0;
    asked->version = message->receipts[receipt].version;
    memcpy(asked->receipt, message->receipts[receipt].text, RECEIPT_SIZE);
    if (draw(draws, 20) == 0)
        alter_receipt(asked);
    if (draw(draws, 40) == 0)
        asked->id[MESSAGE_ID_SIZE - 1] ^= 1; /* another message's */
}

static void draw_page(struct draws *draws, unsigned client, struct ask *ask)
{
    static const unsigned prefixes[] = { 0, 0, 4, 5 };
    const struct page_ask *next = queue_next_page(client);

    if (next->max > 0 && draw(draws, 4) > 0) {
        ask->page = *next;
        return;
    }
    ask->page.include = draw(draws, 2) == 0 ? INCLUDE_METADATA : 0;
    ask->page.prefix = prefixes[draw(draws, 4)];
    ask->page.max = draw(draws, 2) == 0 ? 1 + draw(draws, 3) : 0;
}

static void draw_particular(struct draws *draws, unsigned client, struct ask *ask)
{
    struct queue_ask *asked = &ask->queue;

    asked->visibility_s = asked->ttl_s = NOT_SENT;
    switch ((int)asked->op) {
    case QUEUE_LIST:
        draw_page(draws, client, ask);
        break;
    case QUEUE_CREATE:
    case QUEUE_SET_METADATA:
        ask->metadata = draw(draws, 3);
        break;
    case QUEUE_SET_ACL:
        for (unsigned i = 0; i < POLICIES; i++)
            ask->queue.policies[i] = draw(draws, 3) == 0 ? 0 : 1 + draw(draws, SAS_LETTERS - 1);
        break;
    case QUEUE_PUT:
        draw_put(draws, asked);
        break;
    case QUEUE_GET:
        asked->visibility_s = draw_seconds(draws, 1);
        asked->count = draw(draws, 3) == 0 ? 0 : 1 + draw(draws, draw(draws, 3) == 0 ? 32 : 3);
        break;
    case QUEUE_PEEK:
        asked->count = draw(draws, 2) == 0 ? 0 : 1 + draw(draws, 32);
        break;
    case QUEUE_UPDATE:
        asked->visibility_s = draw_seconds(draws, 0);
        if (asked->visibility_s == NOT_SENT)
            asked->visibility_s = 0;
        asked->has_text = draw(draws, 2) == 0;
        draw_message(draws, ask);
        if (asked->has_text)
            draw_text(draws, asked);
        break;
    case QUEUE_DELETE_MESSAGE:
        draw_message(draws, ask);
        break;
    default:
        break;
    }
}

/* Who may not, and what is out of range. */
static void draw_offence(struct draws *draws, struct ask *ask)
{
    unsigned kind = draw(draws, 60), at = draw(draws, MALFORMED);

    if (kind < 3) {
        ask->signature = (enum signature)(UNSIGNED + kind);
        /* A clock that is set back would make it right. */
        if (ask->signature == SIGNED_LONG_AGO && (world->plan.faults & FAULT_CLOCK))
            ask->signature = SIGNED_WRONGLY;
    } else if (kind < 12 && ask->queue.op != QUEUE_LIST) {
        ask->signature = kind < 7 ? SIGNED_BY_SAS : SIGNED_BY_POLICY;
        ask->sas = kind < 7 ? 1 + draw(draws, SAS_LETTERS - 1) : draw(draws, POLICIES);
        if (kind < 5)
            ask->sas = SAS_ALL;
        if (kind == 11) /* beside those of the policy */
            ask->terms.letters = draw(draws, 2) == 0 ? SAS_ALL : 1 + draw(draws, SAS_LETTERS - 1);
    } else if (kind < 15) {
        for (unsigned i = 0; i < MALFORMED; i++) {
            const struct queue_malformed *row = &malformed[(at + i) % MALFORMED];

            if (row->ops >> ask->queue.op & 1)
                ask->queue.malformed = row;
        }
    }
}

static unsigned draw_queue(struct draws *draws)
{
    if (commits_are_divided())
        return draw(draws, QUEUES);
    return draw(draws, 8) == 0 ? 1 + draw(draws, QUEUES - 1) : 0;
}

/* Most names have a queue. With several cells a name is often without one for long enough to be placed in another. */
static void draw_existence(struct draws *draws, struct ask *ask)
{
    bool is_first = queue_at(ask->container, world->commits)->since == 0;

    if (queue_at(ask->container, world->commits)->exists)
        return;
    if (draw(draws, commits_are_divided() && !is_first ? 30 : 3) == 0)
        ask->queue.op = QUEUE_CREATE;
    else if (commits_are_divided() && !is_first && ask->queue.op == QUEUE_CREATE)
        ask->queue.op = QUEUE_LIST;
}

void queue_draw(unsigned client, unsigned number, struct ask *ret_ask)
{
    struct draws draws = draws_of(client, number);
    struct ask ask = { .op = OPS, .break_s = -1 };

    draws.state = world_mix(draws.state);
    ask.queue.op = (enum queue_op)draw_weighted(&draws, weights, QUEUE_OPS);
    ask.container = draw_queue(&draws);
    if (number == 0 && client % 2 == 0)
        ask.queue.op = QUEUE_CREATE;
    draw_existence(&draws, &ask);
    if (fleet_lacks_owner() && draw(&draws, 3) == 0) /* it must not look empty */
        ask.queue.op = QUEUE_LIST;
    draw_particular(&draws, client, &ask);
    draw_offence(&draws, &ask);
    draw_behaviour(&draws, &ask, 25, commits_are_divided() ? 25 : 12);
    *ret_ask = ask;
}
