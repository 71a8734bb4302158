/* The order of commits, the comparison with the model, and what a crash has left. */
#include "queue_judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commits.h"
#include "engine.h"
#include "faults.h"
#include "judge.h"
#include "queue_clock.h"
#include "queue_compare.h"
#include "fleet.h"
#include "queue_history.h"
#include "queue_request.h"
#include "queue_seen.h"
#include "scheduler.h"
#include "states.h"
#include "views.h"
#include "world.h"

#define SECOND_NS  UINT64_C(1000000000)
#define DAY_NS     (86400 * SECOND_NS)
/* What the server's clock may be away from ours: it goes on ahead of the wall after a start. */
#define CLOCK_SLOP (2 * INSTANTS_A_SECOND)
#define UNIX_EPOCH UINT64_C(621355968000000000)
#define COLLECT_S  60
#define OWN_SLOT   (SLOTS_MAX - 1)

/* A request under way. Dies with the process. */
static struct slot {
    const struct ask *ask;
    uint64_t began_ns;
    uint64_t before;     /* commits when it began */
    uint64_t commit;     /* its own; 0: none */
    uint64_t wall_steps; /* of the wall clock when it began */
    uint64_t wall_known; /* queue_clock_known() then */
    struct queue_expected expected;
} slots[SLOTS_MAX];

void queue_judge_begin(void)
{
    queue_model_begin();
    queue_history_begin();
    queue_clock_begin();
}

/* The machine may have been off for days. */
void queue_begin_life(void)
{
    static const uint64_t off[] = { 0, 0, 0, 40, 3600, 86400, 8 * 86400 };

    memset(slots, 0, sizeof slots);
    queue_history_crash();
    if (world->life > 0 && !fleet_is_running())
        world->now_ns += off[world_draw(STREAM_SYSTEM, 7)] * SECOND_NS;
}

static noreturn void fail(const struct slot *slot, const struct reply *answer, const char *why)
{
    char asked[400];

    ask_format(slot->ask, asked, sizeof asked);
    if (answer && answer->body)
        answer->body[answer->body_size] = '\0';
    world_fail("%s\n  asked:    %s\n  answered: %d %s %.600s\n  decided at %" PRIu64
               ", commits before %" PRIu64 ", its own %" PRIu64 ", after %" PRIu64,
               why, asked, answer ? answer->status : 0, answer ? answer->code : "",
               answer && answer->body ? (const char *)answer->body : "",
               queue_seen((unsigned)(slot - slots))->now, slot->before, slot->commit,
               world->commits);
}

static uint64_t instant_of(uint64_t ns)
{
    return UNIX_EPOCH + (uint64_t)((int64_t)ns + world->wall_ns) / 100;
}

/* Durations are of true time: the instants that the server decides at must be, of the time of the
 * request. */
static void check_clock(const struct slot *slot, const struct queue_seen *seen)
{
    const char *why;

    if (!fleet_decided_by_owner((unsigned)(slot - slots)))
        return;
    why = queue_clock_check(fleet_cell_of((unsigned)(slot - slots)), seen->passed, slot->began_ns,
                            world->now_ns);
    if (why)
        fail(slot, NULL, why);
    if (world->wall_steps == 0 && (seen->now + CLOCK_SLOP < instant_of(slot->began_ns) ||
                                   seen->now > instant_of(world->now_ns) + CLOCK_SLOP))
        fail(slot, NULL, "the server's time is another one");
}

/* ---- commits ---- */

/* What it took or made is what the model has at this place. */
static const char *compare_seen(const struct slot *slot, const struct queue_seen *seen)
{
    const struct queue_expected *expected = &slot->expected;
    enum queue_op op = slot->ask->queue.op;

    if (expected->code)
        return expected->code;
    if (!expected->commits && !expected->may_commit)
        return "commits what should change nothing";
    if (op == QUEUE_GET && expected->count != seen->count)
        return "takes another number of messages";
    for (unsigned i = 0; op == QUEUE_GET && i < seen->count; i++) {
        if (memcmp(expected->shown[i].message->id, seen->ids[i], MESSAGE_ID_SIZE) != 0)
            return "takes another message";
    }
    return NULL;
}

static bool rests_on_time(enum queue_op op)
{
    return op >= QUEUE_PUT && op != QUEUE_CLEAR;
}

void queue_committed(unsigned number)
{
    struct slot *slot = &slots[number];
    const struct queue_seen *seen = queue_seen(number);
    const char *why;

    if (slot->commit > 0)
        fail(slot, NULL, "commits twice");
    queue_expect(slot->ask, world->commits, NULL, seen->passed, &slot->expected);
    slot->expected.shift = seen->now - seen->passed;
    why = compare_seen(slot, seen);
    if (why)
        fail(slot, NULL, why);
    if (rests_on_time(slot->ask->queue.op))
        check_clock(slot, seen);
    queue_apply(slot->ask, &slot->expected, seen->ids[0], seen->now,
                (struct commit_note){ .queue = slot->ask->container,
                                      .sequence = engine_sequence(),
                                      .wall_known = slot->wall_known });
    slot->commit = world->commits;
    world_trace(slot->commit << 8 | slot->ask->queue.op);
    judge_say_commit(slot->ask, slot->commit, number);
}

bool queue_has_committed(unsigned slot)
{
    return slots[slot].commit > 0;
}

/* ---- answers ---- */

static void begin(struct slot *slot, const struct ask *ask)
{
    *slot = (struct slot){ .ask = ask,
                           .began_ns = world->now_ns,
                           .before = world->commits,
                           .wall_steps = world->wall_steps,
                           .wall_known = queue_clock_known() };
}

void queue_requested(unsigned slot, const struct ask *ask)
{
    begin(&slots[slot], ask);
    queue_seen_clear(slot);
    if (!states_are_used())
        queue_history_asked(slot, ask);
}

static uint64_t oldest_under_way(void)
{
    uint64_t oldest = commits_oldest_survivor();

    for (unsigned i = 0; i < SLOTS_MAX; i++) {
        if (slots[i].ask && slots[i].before < oldest)
            oldest = slots[i].before;
    }
    return oldest;
}

/* Nothing that was told or shown may be lost by a crash from now on. */
static void acknowledge(uint64_t commit)
{
    commits_acknowledge(commit);
}

static void keep_receipt(const struct shown *shown, const char *text)
{
    struct sim_message *message = shown->message;

    memmove(&message->receipts[1], &message->receipts[0],
            (RECEIPTS_KEPT - 1) * sizeof message->receipts[0]);
    message->receipts[0].version = shown->made->version;
    (void)snprintf(message->receipts[0].text, RECEIPT_SIZE, "%s", text);
}

/* What the client may use from now on. */
static void learn(const struct slot *slot, const struct reply *answer)
{
    static struct item items[MESSAGES_SHOWN];
    const struct queue_expected *expected = &slot->expected;

    if (slot->ask->queue.op == QUEUE_UPDATE)
        keep_receipt(&expected->shown[0], answer->queue.receipt);
    if (slot->ask->queue.op != QUEUE_PUT && slot->ask->queue.op != QUEUE_GET)
        return;
    queue_items(answer, items);
    for (unsigned i = 0; i < expected->count; i++)
        keep_receipt(&expected->shown[i], items[i].receipt);
}

/* The answer to a request whose commit was seen. */
static void judge_commit(struct slot *slot, const struct reply *answer)
{
    const char *why;

    slot->expected.shift_later = queue_seen_shift();
    why = queue_compare(slot->ask, &slot->expected, answer);
    if (why)
        fail(slot, answer, why);
    learn(slot, answer);
    acknowledge(slot->commit);
}

/* Messages are counted a moment after the queue's record was read, and with it the policies: as they
 * were at one of the commits since. Of a queue that was emptied meanwhile nobody knows how many are
 * counted. */
static void widen_count(const struct slot *slot, uint64_t commit, const unsigned *policies,
                        uint64_t now, struct queue_expected *expected)
{
    static struct queue_expected later;

    while (++commit <= world->commits) {
        queue_expect(slot->ask, commit, policies, now, &later);
        if (later.queue.incarnation != expected->queue.incarnation) {
            expected->count_least = 0;
            break;
        }
        if (later.count_least < expected->count_least)
            expected->count_least = later.count_least;
        if (later.count_most > expected->count_most)
            expected->count_most = later.count_most;
    }
}

static const char *compare_at(struct slot *slot, const struct reply *answer, uint64_t commit,
                              const unsigned *policies)
{
    const struct queue_seen *seen = queue_seen((unsigned)(slot - slots));
    static struct queue_expected expected;
    const char *why;

    queue_expect(slot->ask, commit, policies, seen->passed, &expected);
    expected.shift = seen->now - seen->passed;
    expected.shift_later = queue_seen_shift();
    if (!expected.code && expected.commits)
        return "success without a commit";
    if (!expected.code && slot->ask->queue.op == QUEUE_GET_METADATA)
        widen_count(slot, commit, policies ? policies : expected.queue.policies, seen->passed,
                    &expected);
    why = queue_compare(slot->ask, &expected, answer);
    if (!why && slot->ask->queue.op == QUEUE_LIST && answer->status == 200)
        why =
            queue_compare_list(slot->ask, answer, commit, &world->queues->next_pages[slot - slots]);
    return why;
}

/* The messages of a queue are read a moment after its record, and with it the policy. */
static const char *compare_policies(struct slot *slot, const struct reply *answer, uint64_t commit)
{
    const char *first = compare_at(slot, answer, commit, NULL);

    for (uint64_t at = commit;
         first && slot->ask->signature == SIGNED_BY_POLICY && at > slot->before;) {
        const struct sim_queue *earlier = queue_at(slot->ask->container, --at);

        if (!compare_at(slot, answer, commit, earlier->policies))
            return NULL;
    }
    return first;
}

/* The list of queues in several cells. */
static void judge_merged(struct slot *slot, const struct reply *answer)
{
    struct page_ask *next = &world->queues->next_pages[slot - slots], found = { 0 };
    static struct views views;
    const char *first = NULL;
    bool fits = false;

    views_begin(&views, QUEUES, slot->before, world->commits, queue_list_changed);
    while (views_next(&views)) {
        const char *why = compare_at(slot, answer, world->commits, NULL);

        first = first ? first : why;
        if (why)
            continue;
        views_fits(&views);
        if (fits && (next->from != found.from || next->max != found.max))
            next->max = 0;
        found = *next;
        fits = true;
    }
    if (!views_acknowledge(&views))
        fail(slot, answer, first);
    *next = found;
}

/* One without a commit: a state between its beginning and its end must give this answer. */
static void judge_view(struct slot *slot, const struct reply *answer)
{
    uint64_t at = world->commits, fitting = UINT64_MAX;
    const char *first = NULL;

    if (judge_clock_may_refuse(slot->wall_steps, answer))
        return;
    if (queue_seen((unsigned)(slot - slots))->decided)
        check_clock(slot, queue_seen((unsigned)(slot - slots)));
    if (commits_are_divided() && slot->ask->queue.op == QUEUE_LIST) {
        judge_merged(slot, answer);
        return;
    }
    for (;;) {
        uint64_t changed = queue_changed_before(slot->ask, slot->before, at);
        const char *why = compare_policies(slot, answer, at);

        if (!why)
            fitting = changed;
        else if (!first)
            first = why;
        if (changed == 0)
            break;
        at = changed - 1;
    }
    if (fitting == UINT64_MAX)
        fail(slot, answer, first);
    acknowledge(fitting);
}

void queue_answered(unsigned number, const struct reply *answer, bool may_fail)
{
    struct slot *slot = &slots[number];

    world->requests++;
    if (world->plan.verbose) {
        char asked[300];

        ask_format(slot->ask, asked, sizeof asked);
        world_say("%.6f client %u: %s -> %d %s", (double)world->now_ns / 1e9, number, asked,
                  answer->status, answer->code);
    }
    world_trace((uint64_t)(unsigned)answer->status << 16 ^ slot->commit);
    if (answer->came) {
        world->checks++;
        if (judge_says_cannot(answer) && may_fail)
            world->refused++;
        else if (slot->commit > 0)
            judge_commit(slot, answer);
        else
            judge_view(slot, answer);
    }
    if (!states_are_used())
        queue_history_answered(number, slot->ask, answer);
    slot->ask = NULL;
    if (world->requests % 64 == 0)
        queue_prune(oldest_under_way());
}

const struct page_ask *queue_next_page(unsigned client)
{
    return &world->queues->next_pages[client];
}

/* ---- after a crash ---- */

/* All that can be asked without changing anything. False: the store has failed. */
static bool look(struct server *server, struct ask ask, bool may_fail)
{
    struct slot *slot = &slots[OWN_SLOT];
    struct reply answer;

    begin(slot, &ask);
    queue_seen_clear(OWN_SLOT);
    if (!judge_ask_until_told(server, &ask, may_fail, &answer))
        return false;
    if (judge_reports_damage(&answer)) {
        world->damage_told = 1;
    } else {
        const char *why = compare_at(slot, &answer, world->commits, NULL);

        if (why)
            fail(slot, &answer, why);
    }
    slot->ask = NULL;
    answer_release(&answer);
    return true;
}

/* A queue of another cell must not be here. */
static bool look_elsewhere(struct server *server, unsigned queue, bool may_fail)
{
    struct ask ask = { .op = OPS, .container = queue, .queue = { .op = QUEUE_GET_ACL } };
    struct reply answer;

    if (!judge_ask_until_told(server, &ask, may_fail, &answer))
        return false;
    if (answer.status != 404)
        world_fail("queue %s of another cell is here", container_names[queue]);
    answer_release(&answer);
    return true;
}

static bool look_at_all(struct server *server, bool may_fail)
{
    static const enum queue_op ops[] = { QUEUE_GET_METADATA, QUEUE_GET_ACL, QUEUE_PEEK };
    struct ask ask = { .op = OPS, .queue = { .op = QUEUE_LIST } };

    ask.page.include = INCLUDE_METADATA;
    if (!commits_are_divided() && !look(server, ask, may_fail))
        return false;
    for (unsigned q = 0; q < QUEUES; q++) {
        if (!queue_is_here(q)) {
            if (!look_elsewhere(server, q, may_fail))
                return false;
            continue;
        }
        for (unsigned i = 0; i < 3; i++) {
            ask = (struct ask){ .op = OPS, .container = q, .queue = { .op = ops[i] } };
            ask.queue.count = ops[i] == QUEUE_PEEK ? MESSAGES_SHOWN : 0;
            if (!look(server, ask, may_fail))
                return false;
        }
    }
    return true;
}

bool queue_take_stock(struct server *server, bool may_fail)
{
    uint64_t survivor = queue_commit_of(engine_opened_at());

    if (world->outcome == OUTCOME_RUNNING && !commits_here()->has_started) {
        if (survivor < commits_acknowledged())
            world_fail("after a %s commit %" PRIu64 " is the last, and %" PRIu64
                       " was acknowledged",
                       world->power_lost ? "power cut" : "kill", survivor, commits_acknowledged());
        world_say("commit %" PRIu64 " of %" PRIu64 " survived, %" PRIu64 " was acknowledged",
                  survivor, world->commits, commits_acknowledged());
        queue_roll_back(survivor);
        commits_roll_back(survivor);
        if (!commits_are_divided()) /* else requests to other cells are in progress */
            queue_prune(survivor);
    }
    queue_clock_start(queue_wall_known(commits_newest()));
    return look_at_all(server, may_fail);
}

/* ---- the end ---- */

/* Takes all that is visible for a week, and judges that. */
static void take_all(struct server *server, unsigned queue)
{
    struct ask ask = { .op = OPS, .container = queue, .queue = { .op = QUEUE_GET } };
    bool is_empty = false;

    ask.queue.count = MESSAGES_SHOWN;
    ask.queue.visibility_s = WEEK_S;
    for (unsigned i = 0; !is_empty; i++) {
        struct reply answer;

        queue_requested(OWN_SLOT, &ask);
        request_send(server, OWN_SLOT, &ask, &answer);
        queue_answered(OWN_SLOT, &answer, true);
        is_empty = !judge_says_cannot(&answer) && slots[OWN_SLOT].expected.count == 0;
        answer_release(&answer);
        if (!server_healthy(server) || i > 10000)
            world_end(OUTCOME_FINAL);
    }
}

/* Until nothing is counted but what may still be got. */
static void wait_for_collection(struct server *server, unsigned queue)
{
    struct ask ask = { .op = OPS, .container = queue, .queue = { .op = QUEUE_GET_METADATA } };

    for (unsigned i = 0;; i++) {
        static struct queue_expected expected;
        struct reply answer;
        bool is_done;

        queue_seen_clear(OWN_SLOT);
        if (!judge_ask_until_told(server, &ask, true, &answer))
            world_end(OUTCOME_FINAL);
        queue_expect(&ask, world->commits, NULL, queue_seen(OWN_SLOT)->passed, &expected);
        is_done = expected.code || answer.queue.count == expected.count_least;
        answer_release(&answer);
        if (is_done)
            return;
        if (i == COLLECT_S)
            world_fail("%" PRIu64 " messages are counted of %" PRIu64
                       ": what has expired is not collected",
                       answer.queue.count, expected.count_least);
        sched_sleep(SECOND_NS);
    }
}

static void leap(uint64_t ns)
{
    world->now_ns += ns;
    sched_sleep(SECOND_NS);
}

void queue_check_end(struct server *server)
{
    static const uint64_t leaps[] = { 0, 100 * SECOND_NS, 8 * DAY_NS };

    for (unsigned i = 0; i < 3; i++) {
        leap(leaps[i]);
        for (unsigned q = 0; q < QUEUES; q++) {
            if (!queue_is_here(q))
                continue;
            wait_for_collection(server, q); /* a get would take away what has expired itself */
            take_all(server, q);
        }
    }
    if (!look_at_all(server, true))
        world_end(OUTCOME_FINAL);
    if (!states_are_used() &&
        (!commits_are_divided() || commits_cell() == world->plan.cluster_cells))
        queue_history_check();
}
