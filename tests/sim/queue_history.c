/* What clients know of each message: see queue_history.h. */
#include "queue_history.h"

#include <inttypes.h>
#include <string.h>

#include "judge.h"
#include "queue_clock.h"
#include "queue_compare.h"
#include "queue_request.h"
#include "world.h"

#define SECOND_NS UINT64_C(1000000000)
#define UNKNOWN   UINT64_MAX
/* What the server's clock may be away from ours after a start. */
#define SLOP_NS   (2 * SECOND_NS)

struct known {
    struct known *next;
    unsigned char id[MESSAGE_ID_SIZE];
    unsigned queue;
    uint64_t put_ended_ns; /* UNKNOWN: nobody was told that it is there */
    uint64_t expired_ns;   /* by then at the latest; UNKNOWN: never */
    uint64_t gone_ns;      /* its end was acknowledged then; UNKNOWN: it was not */
    bool may_be_gone, got;
    unsigned changes_pending; /* updates and deletes that are not answered */
    /* The last get: invisible for so long, from a moment between the two on. */
    uint64_t got_from_ns, got_to_ns, hidden_ns;
    uint64_t doubts; /* queue_clock_doubts() then */
};

struct queue_history {
    struct known *of[QUEUES];
    struct {
        bool is_asked;
        struct ask ask;
        uint64_t began_ns;
        bool may_be_gone; /* what it puts: the queue was emptied meanwhile */
    } pending[SLOTS_MAX];
};

static struct queue_history *history(void)
{
    return world->queue_history;
}

void queue_history_begin(void)
{
    world->queue_history = world_alloc(sizeof *world->queue_history);
}

static noreturn void fail(const struct known *known, const char *why)
{
    char id[QUEUE_ID_TEXT];

    queue_id_format(known->id, id);
    world_fail("%s\n  message %s of %s, put at %.6f, last got at %.6f and hidden for %.3f s", why,
               id, container_names[known->queue], (double)known->put_ended_ns / 1e9,
               (double)known->got_to_ns / 1e9, (double)known->hidden_ns / 1e9);
}

static struct known *find(unsigned queue, const unsigned char *id)
{
    struct known *known = history()->of[queue];

    while (known && memcmp(known->id, id, MESSAGE_ID_SIZE) != 0)
        known = known->next;
    return known;
}

/* Also of a put that nobody was told of. */
static struct known *learn(unsigned queue, const unsigned char *id)
{
    struct known *known = find(queue, id);

    if (known)
        return known;
    known = world_alloc(sizeof *known);
    known->next = history()->of[queue];
    history()->of[queue] = known;
    memcpy(known->id, id, MESSAGE_ID_SIZE);
    known->queue = queue;
    known->put_ended_ns = known->expired_ns = known->gone_ns = UNKNOWN;
    return known;
}

static bool is_change(const struct ask *ask)
{
    return ask->queue.op == QUEUE_UPDATE || ask->queue.op == QUEUE_DELETE_MESSAGE;
}

static bool empties(const struct ask *ask)
{
    return ask->queue.op == QUEUE_CLEAR || ask->queue.op == QUEUE_DELETE;
}

/* ---- what ends it ---- */

/* Those whose put was answered before are gone; those that were put meanwhile may be. */
static void note_empty(unsigned queue, uint64_t began_ns, bool is_sure)
{
    for (struct known *known = history()->of[queue]; known; known = known->next) {
        if (is_sure && known->put_ended_ns < began_ns && known->gone_ns == UNKNOWN)
            known->gone_ns = world->now_ns;
        known->may_be_gone = true;
    }
    for (unsigned i = 0; i < SLOTS_MAX; i++) {
        if (history()->pending[i].is_asked && history()->pending[i].ask.container == queue)
            history()->pending[i].may_be_gone = true;
    }
}

static void note_change(const struct ask *ask, bool is_done, bool is_refused)
{
    struct known *known = find(ask->container, ask->queue.id);

    if (!known || known->changes_pending == 0)
        return; /* it was not known when it was asked */
    known->changes_pending--;
    if (ask->queue.op != QUEUE_DELETE_MESSAGE)
        return;
    if (is_done && known->gone_ns == UNKNOWN)
        known->gone_ns = world->now_ns;
    known->may_be_gone |= !is_refused;
}

/* ---- puts and gets ---- */

static void note_put(unsigned slot, const struct ask *ask, const struct reply *answer,
                     const struct item *item)
{
    struct known *known = learn(ask->container, item->id);
    int ttl_s = ask->queue.ttl_s == NOT_SENT ? WEEK_S : ask->queue.ttl_s;

    known->may_be_gone |= history()->pending[slot].may_be_gone;
    known->put_ended_ns = answer->ended_ns;
    if (ttl_s == NEVER_EXPIRES)
        return;
    known->expired_ns = answer->ended_ns + (uint64_t)ttl_s * SECOND_NS;
}

/* How long it takes at least: the server's clock may go a sixteenth faster. decision: 185 */
static uint64_t sure(uint64_t ns)
{
    return world->wall_steps > 0 ? ns / 17 * 16 : ns;
}

static void note_got(const struct ask *ask, const struct reply *answer, const struct item *item)
{
    struct known *known = learn(ask->container, item->id);
    int seconds = ask->queue.visibility_s == NOT_SENT ? 30 : ask->queue.visibility_s;
    bool is_dated = world->wall_steps == 0;
    uint64_t hidden_ns = sure((uint64_t)seconds * SECOND_NS);

    if (known->gone_ns < answer->began_ns)
        fail(known, "a message is got after its delete was acknowledged");
    if (is_dated && known->expired_ns != UNKNOWN && known->expired_ns + SLOP_NS < answer->began_ns)
        fail(known, "a message is got after its expiry");
    /* Whichever of the two gets came first, the other one was too early. */
    if (known->doubts == queue_clock_doubts() && known->hidden_ns > 0 &&
        known->changes_pending == 0 &&
        known->got_from_ns + sure(known->hidden_ns) > answer->ended_ns + SLOP_NS &&
        answer->began_ns + hidden_ns > known->got_to_ns + SLOP_NS)
        fail(known, "a message is got by two while it is invisible");
    known->got = true;
    known->got_from_ns = answer->began_ns;
    known->got_to_ns = answer->ended_ns;
    known->hidden_ns = known->changes_pending > 0 ? 0 : (uint64_t)seconds * SECOND_NS;
    known->doubts = queue_clock_doubts();
}

static void note_messages(unsigned slot, const struct ask *ask, const struct reply *answer)
{
    static struct item items[MESSAGES_SHOWN];
    unsigned count = queue_items(answer, items);

    for (unsigned i = 0; i < count && i < MESSAGES_SHOWN; i++) {
        if (ask->queue.op == QUEUE_PUT)
            note_put(slot, ask, answer, &items[i]);
        else if (ask->queue.op == QUEUE_GET)
            note_got(ask, answer, &items[i]);
    }
}

static void end(unsigned slot, const struct ask *ask, bool is_done, bool is_refused)
{
    if (is_change(ask))
        note_change(ask, is_done, is_refused);
    else if (empties(ask) && !is_refused)
        note_empty(ask->container, history()->pending[slot].began_ns, is_done);
    history()->pending[slot].is_asked = false;
}

void queue_history_asked(unsigned slot, const struct ask *ask)
{
    struct known *known = is_change(ask) ? find(ask->container, ask->queue.id) : NULL;

    if (history()->pending[slot].is_asked) /* it starts again */
        end(slot, &history()->pending[slot].ask, false, false);
    history()->pending[slot].is_asked = true;
    history()->pending[slot].ask = *ask;
    history()->pending[slot].began_ns = world->now_ns;
    history()->pending[slot].may_be_gone = false;
    if (known) {
        known->changes_pending++;
        known->hidden_ns = 0; /* nobody knows until when, or again */
    }
}

void queue_history_answered(unsigned slot, const struct ask *ask, const struct reply *answer)
{
    bool told = answer->came && !judge_says_cannot(answer);

    if (told && answer->status < 300 && answer->body)
        note_messages(slot, ask, answer);
    end(slot, ask, told && answer->status < 300, told && answer->status >= 300);
}

void queue_history_crash(void)
{
    for (unsigned i = 0; i < SLOTS_MAX; i++) {
        if (history()->pending[i].is_asked)
            end(i, &history()->pending[i].ask, false, false);
    }
}

/* ---- the end ---- */

void queue_history_check(void)
{
    for (unsigned q = 0; q < QUEUES; q++) {
        for (struct known *known = history()->of[q]; known; known = known->next) {
            bool has_expired = known->expired_ns != UNKNOWN;

            if (known->put_ended_ns == UNKNOWN || known->may_be_gone || known->got || has_expired)
                continue;
            fail(known, "a message whose put was acknowledged was never got");
        }
    }
}
