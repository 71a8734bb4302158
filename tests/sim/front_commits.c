/* Which request each commit is of: an attempt is the slot's on whose thread its transaction was made, and the op that
 * decides it says which attempts it has (shard_send_group()). So the order in which ops are applied is that of
 * commits, whoever learns of it and when. */
#include <assert.h>
#include <stdlib.h>

#include "copy_steps.h"
#include "fronts.h"
#include "fs_copy_steps.h"
#include "fs_seen.h"
#include "judge.h"
#include "kept_view.h"
#include "scheduler.h"
#include "services.h"
#include "store/rados/shard_private.h"
#include "world.h"

#define COMMITS_MAX 1024u
#define DROPPED_MAX 4u
#define SPACES_MAX  4096u

/* A commit that was begun. */
static struct begun {
    struct attempt attempt; /* number 0: free */
    const struct transaction *transaction;
    const struct transaction_owner *owner;
    int slot;
    unsigned request; /* of the slot */
    unsigned front;
    unsigned flights; /* ops that would decide it */
    bool is_applied, is_ended, has_pieces;
    struct guid spaces[COMMIT_PARTS_MAX], dropped[DROPPED_MAX];
    unsigned space_count, dropped_count;
    /* What its thread has noted of it: of which parts of a batch it is; a copy that it ends or goes on with; what
     * was decided of files. */
    unsigned parts[PARTS_MAX], part_count;
    struct copy_steps copy;
    struct kept_view kept;
    struct fs_copy_step file_copy;
    struct fs_seen file;
} begun[COMMITS_MAX];

/* An op that was sent, until it is answered or freed. */
struct flight {
    struct flight *next;
    struct port_op *op;
    unsigned front;
    void (*done)(struct port_op *op);
    struct begun *decides[SHARD_GROUP_COMMITS];
    unsigned count;
};
static struct flight *flights;

static struct slot_state {
    unsigned request;
    uint64_t asked_ns;
    bool is_asked, is_void;
} slots[SLOTS_MAX];

/* ---- commits ---- */

static bool is_open(const struct begun *b)
{
    if (b->is_applied)
        return false;
    return b->flights > 0 || (!b->is_ended && !fronts_is_gone(b->front));
}

static void take_notes(struct begun *b)
{
    if (b->slot >= 0 && b->slot < (int)SLOTS_MAX)
        b->part_count = judge_committing((unsigned)b->slot, b->parts);
    if (b->slot >= 0) {
        b->file = fs_seen((unsigned)b->slot);
        return;
    }
    b->file_copy = fs_copy_step();
    b->copy = *copy_steps();
    b->kept = *kept_here();
    copy_steps()->ends = false; /* whatever the thread commits next */
    *kept_here() = (struct kept_view){ .now = 0 };
}

void front_commits_begun(struct attempt attempt, const struct transaction *transaction,
                         const struct transaction_owner *owner)
{
    struct begun *b = begun;
    int slot = request_slot();

    while (b->attempt.number > 0 && (is_open(b) || b->flights > 0 || !b->is_ended) &&
           !(fronts_is_gone(b->front) && b->flights == 0))
        if (++b == begun + COMMITS_MAX)
            world_fail("too many commits are under way");
    *b = (struct begun){ .attempt = attempt,
                         .transaction = transaction,
                         .owner = owner,
                         .slot = slot,
                         .request = slot >= 0 ? slots[slot].request : 0,
                         .front = sched_front() };
    take_notes(b);
}

static void end(struct begun *b)
{
    b->is_ended = true;
    b->owner = NULL;
    b->transaction = NULL;
}

static struct begun *of(const struct transaction *transaction)
{
    struct begun *b = begun;

    while (b->transaction != transaction)
        b++;
    return b;
}

void front_commits_part(const struct transaction *transaction, const struct guid *space,
                        bool has_pieces)
{
    struct begun *b = of(transaction);

    b->has_pieces = b->has_pieces || has_pieces;
    b->spaces[b->space_count++] = *space;
}

void front_commits_drop_spaces(const struct transaction *transaction, const struct guid *spaces,
                               size_t count)
{
    struct begun *b = of(transaction);

    assert(count <= DROPPED_MAX);
    b->dropped_count = (unsigned)count;
    if (count > 0)
        memcpy(b->dropped, spaces, count * sizeof spaces[0]);
}

void front_commits_decided(const struct transaction_owner *owner)
{
    for (unsigned i = 0; i < COMMITS_MAX; i++)
        if (begun[i].owner == owner)
            end(&begun[i]);
}

void front_commits_dropped(const struct transaction *transaction)
{
    for (unsigned i = 0; i < COMMITS_MAX; i++)
        if (begun[i].transaction == transaction)
            end(&begun[i]);
}

/* ---- ops ---- */

/* Those that decide commits of the group that the calling thread sends, in the order in which they are. */
static _Thread_local struct begun *deciding[SHARD_GROUP_COMMITS];
static _Thread_local unsigned deciding_count;
static _Thread_local struct front_sent sent;

static void add_deciding(const struct shard_commit *commit)
{
    if (commit->after || commit->has_no_header)
        return; /* locks, settles, rolls back or forgets */
    for (unsigned i = 0; i < COMMITS_MAX; i++)
        if (begun[i].attempt.number > 0 && attempt_equal(begun[i].attempt, commit->attempt)) {
            deciding[deciding_count++] = &begun[i];
            sent.decides_many = sent.decides_many || begun[i].space_count > 1;
        }
}

__typeof__(shard_send_group) __real_shard_send_group, __wrap_shard_send_group;
void __wrap_shard_send_group(struct shard *shard, void (*done)(struct port_op *op))
{
    deciding_count = 0;
    for (const struct shard_commit *first = shard->group; first; first = first->next)
        for (const struct shard_commit *c = first; c; c = c->behind) {
            add_deciding(c);
            sent.has_pieces = sent.has_pieces || (c->has_pieces && !c->after);
        }
    __real_shard_send_group(shard, done);
    deciding_count = 0;
    sent = (struct front_sent){ .has_pieces = false };
}

static struct flight **find_flight(const struct port_op *op)
{
    struct flight **at = &flights;

    while (*at && (*at)->op != op)
        at = &(*at)->next;
    return at;
}

/* Takes it out; NULL: it is none. */
static struct flight *land(const struct port_op *op)
{
    struct flight **at = find_flight(op), *flight = *at;

    if (!flight)
        return NULL;
    *at = flight->next;
    for (unsigned i = 0; i < flight->count; i++)
        flight->decides[i]->flights--;
    return flight;
}

/* Its answer is told on a thread of the cluster, which works for the front end meanwhile. */
static void answered(struct port_op *op)
{
    struct flight *flight = land(op);
    unsigned before = sched_front();

    sched_enter(flight->front, SCHED_GUEST);
    op->done = flight->done;
    op->done(op);
    sched_enter(before, SCHED_OF_IT);
    free(flight);
}

__typeof__(port_op_free) __real_port_op_free, __wrap_port_op_free;
void __wrap_port_op_free(struct port_op *op)
{
    free(land(op));
    __real_port_op_free(op);
}

struct front_port {
    struct port port; /* first */
    struct port *inner;
    unsigned front;
};

static void send(struct port *port, const char *object, struct port_op *op)
{
    struct front_port *own = (struct front_port *)(void *)port;
    struct flight *flight = xcalloc(1, sizeof *flight);

    *flight = (struct flight){
        .next = flights, .op = op, .front = own->front, .done = op->done, .count = deciding_count
    };
    memcpy(flight->decides, deciding, deciding_count * sizeof deciding[0]);
    for (unsigned i = 0; i < deciding_count; i++)
        deciding[i]->flights++;
    deciding_count = 0;
    flights = flight;
    op->done = answered;
    fronts_sends(own->front, sent);
    sent = (struct front_sent){ .has_pieces = false };
    port_send(own->inner, object, op);
}

static void rest(struct port *port, unsigned ms, struct waiter *waiter)
{
    port_pause(((struct front_port *)(void *)port)->inner, ms, waiter);
}

static bool each_object(struct port *port, void (*found)(void *context, const char *object),
                        void *context)
{
    return port_each_object(((struct front_port *)(void *)port)->inner, found, context);
}

struct port *front_port_new(struct port *inner, unsigned front)
{
    struct front_port *own = xcalloc(1, sizeof *own);

    own->port = (struct port){ .send = send, .pause = rest, .each_object = each_object };
    own->inner = inner;
    own->front = front;
    return &own->port;
}

/* ---- the order ---- */

/* Spaces that were dropped, and when. */
static struct {
    struct guid space;
    uint64_t at_ns;
} dropped[SPACES_MAX];
static unsigned dropped_count;
static uint64_t voids;

/* When it was; 0: it was not. */
static uint64_t dropped_at(const struct begun *b)
{
    for (unsigned i = 0; i < b->space_count; i++)
        for (unsigned k = 0; k < dropped_count; k++)
            if (memcmp(&b->spaces[i], &dropped[k].space, sizeof dropped[k].space) == 0)
                return dropped[k].at_ns;
    return 0;
}

static void note_dropped(const struct begun *b)
{
    for (unsigned i = 0; i < b->dropped_count; i++) {
        assert(dropped_count < SPACES_MAX);
        dropped[dropped_count].space = b->dropped[i];
        dropped[dropped_count++].at_ns = world->now_ns;
    }
}

static void apply_for(const struct begun *b)
{
    struct slot_state *slot = &slots[b->slot];
    uint64_t at_ns = dropped_at(b);

    if (b->slot < (int)SLOTS_MAX - 1 && (!slot->is_asked || slot->request != b->request))
        world_fail("client %d has been answered, and its commit is applied now", b->slot);
    if (at_ns > 0 && at_ns < slot->asked_ns)
        world_fail("client %d commits into a space that was dropped before it asked", b->slot);
    if (at_ns > 0) {
        slot->is_void = true;
        voids++;
        return;
    }
    request_set_slot(b->slot);
    if (b->part_count > 0)
        judge_commits_parts((unsigned)b->slot, b->parts, b->part_count);
    fs_seen_put((unsigned)b->slot, &b->file);
    sim_service()->committed((unsigned)b->slot);
    request_set_slot(-1);
}

/* What ends in a space that was dropped meanwhile, such as a pending copy, has gone with it. */
static void apply_behind(const struct begun *b)
{
    struct copy_steps copy = *copy_steps();
    struct kept_view kept = *kept_here();

    if (!sim_service()->committed_behind || dropped_at(b) > 0)
        return;
    *copy_steps() = b->copy;
    *kept_here() = b->kept;
    fs_copy_step_put(&b->file_copy);
    sim_service()->committed_behind();
    *copy_steps() = copy;
    *kept_here() = kept;
}

static void apply(struct begun *b)
{
    if (b->is_applied)
        world_fail("a commit is applied twice");
    b->is_applied = true;
    note_dropped(b);
    if (b->slot < 0) {
        apply_behind(b);
        return;
    }
    apply_for(b);
}

/* Nobody has run since it was applied, nor does until it is noted. */
void front_commits_applied(const struct port_op *op)
{
    struct flight *flight = *find_flight(op);

    if (!flight || op->result)
        return;
    sched_hold();
    for (unsigned i = 0; i < flight->count; i++)
        apply(flight->decides[i]);
    sched_release();
}

/* ---- slots ---- */

void front_commits_asked(unsigned slot)
{
    slots[slot].request++;
    slots[slot].is_asked = true;
    slots[slot].is_void = false;
    slots[slot].asked_ns = world->now_ns;
}

bool front_commits_into_void(unsigned slot)
{
    return slots[slot].is_void;
}

uint64_t front_commits_voids(void)
{
    return voids;
}

void front_commits_answered(unsigned slot)
{
    slots[slot].is_asked = false;
}

bool front_commits_pieces(unsigned front)
{
    for (unsigned i = 0; i < COMMITS_MAX; i++)
        if (begun[i].attempt.number > 0 && begun[i].front == front && begun[i].has_pieces &&
            is_open(&begun[i]))
            return true;
    return false;
}

bool front_commits_open(unsigned slot)
{
    for (unsigned i = 0; i < COMMITS_MAX; i++)
        if (begun[i].attempt.number > 0 && begun[i].slot == (int)slot &&
            begun[i].request == slots[slot].request && is_open(&begun[i]))
            return true;
    return false;
}
