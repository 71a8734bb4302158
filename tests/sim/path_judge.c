/* See path_judge.h. */
#include "path_judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/dates.h"
#include "commits.h"
#include "judge.h"
#include "path_compare.h"
#include "path_model.h"
#include "world.h"

/* A request in progress. Lost with the process. */
static struct slot {
    const struct ask *ask;
    uint64_t before; /* newest commit when it started */
    uint64_t commit; /* its own; 0 if none */
    uint64_t wall_steps;
    uint64_t began_ns;
    struct path_expected expected;
} slots[SLOTS_MAX];

/* Next pages that clients may request; in the world. */
static struct seen {
    bool has_next, has_deleted;
    struct path_ask next, deleted; /* of paths, and of deleted ones */
} * seen;

void path_judge_begin(void)
{
    path_model_begin();
    seen = world_alloc(SLOTS_MAX * sizeof *seen);
}

void path_judge_begin_life(void)
{
    memset(slots, 0, sizeof slots);
}

unsigned path_cell_of(unsigned name)
{
    (void)name;
    return path_cell();
}

static noreturn void fail(const struct slot *slot, const struct reply *answer, const char *why)
{
    char asked[400];

    ask_format(slot->ask, asked, sizeof asked);
    world_fail("%s\n  asked:    %s\n  answered: %d %s etag %" PRIX64 " %.400s\n"
               "  commits before %" PRIu64 ", its own %" PRIu64 ", after %" PRIu64,
               why, asked, answer ? answer->status : 0, answer ? answer->code : "",
               answer ? answer->etag : 0,
               answer && answer->body_size > 0 ? (const char *)answer->body : "", slot->before,
               slot->commit, world->commits);
}

/* ---- commits ---- */

void path_judge_asked(unsigned slot, const struct ask *ask)
{
    path_view_forget(slot);
    slots[slot] = (struct slot){ .ask = ask,
                                 .before = world->commits,
                                 .wall_steps = world->wall_steps,
                                 .began_ns = world->now_ns };
}

bool path_judge_has_committed(unsigned slot)
{
    return slots[slot].commit > 0;
}

static struct path_moment moment_of(const struct slot *slot)
{
    return (struct path_moment){ .from_ns = slot->began_ns,
                                 .to_ns = world->now_ns,
                                 .from_commit = slot->before,
                                 .to_commit = world->commits,
                                 .view = path_view_of((unsigned)(slot - slots)) };
}

/* Until the operator knows that a filesystem is held, a write that began before may still commit. decision: 1410 */
static bool may_miss_hold(const struct slot *slot)
{
    for (unsigned i = 0; i < SLOTS_MAX; i++)
        if (slots[i].ask && slots[i].ask->path.op == PATH_HOLD && slots[i].commit > slot->before)
            return true;
    return false;
}

/* Finds doubts with which the request may commit on the newest state; otherwise returns some. */
static unsigned find_doubts(struct slot *slot, const struct path_moment *moment)
{
    unsigned possible, certain;

    path_find_doubts(&slot->ask->path, world->commits, moment, &possible, &certain);
    possible |= may_miss_hold(slot) ? PATH_NOT_HELD : 0u;
    for (unsigned doubts = 0; doubts < PATH_DOUBTS; doubts++) {
        if ((doubts & ~possible) || (certain & ~doubts))
            continue;
        slot->expected = path_expect(&slot->ask->path, world->commits, moment, doubts);
        if (slot->expected.changes)
            return doubts;
    }
    return certain;
}

/* Compares what the server has read and computed with the request. Returns NULL, or the difference. */
static const char *check_view(const struct slot *slot, const struct path_view *view)
{
    const struct path_ask *ask = &slot->ask->path;
    uint64_t since = ask->expiry_time * (TICKS_PER_SECOND / 1000);

    if (view->has_policy && !path_had_days(view->days, slot->before, world->commits))
        return "a soft-delete policy that there was not";
    if (ask->expiry == PATH_EXPIRES_AT &&
        view->expiry != INSTANT_UNIX_EPOCH + ask->expiry_time * TICKS_PER_SECOND)
        return "another expiry";
    if (ask->expiry == PATH_EXPIRES_IN &&
        (view->expiry < view->first + since || view->expiry > view->last + since))
        return "another expiry";
    return NULL;
}

/* Commits before that of the request. Returns false if this is none. */
static bool is_before(const struct slot *slot, const struct path_view *view)
{
    const struct path_ask *ask = &slot->ask->path;
    const char *why = NULL;

    if (!view->prepares && !view->clears)
        return false;
    world->commits++;
    if (view->clears)
        why = path_clear(ask, world->commits, view->last);
    else if (ask->op != PATH_DELETE && ask->op != PATH_RENAME)
        why = "another request than a delete creates the directory of deleted paths";
    if (why)
        fail(slot, NULL, why);
    return true;
}

void path_judge_committed(unsigned slot_number)
{
    struct slot *slot = &slots[slot_number];
    const struct path_moment moment = moment_of(slot);
    const char *why;
    unsigned doubts;

    if (slot->commit > 0)
        return; /* deletes the remains of its first commit; no client sees that */
    if (is_before(slot, &moment.view))
        return;
    why = check_view(slot, &moment.view);
    if (why)
        fail(slot, NULL, why);
    doubts = find_doubts(slot, &moment);
    if (!slot->expected.changes)
        fail(slot, NULL,
             slot->expected.code ? slot->expected.code : "commits what should change nothing");
    slot->commit = ++world->commits;
    path_apply(&slot->ask->path, slot->commit, &moment, doubts);
    world_trace(slot->commit << 8 | slot->ask->path.op);
    judge_say_commit(slot->ask, slot->commit, slot_number);
}

/* ---- responses ---- */

static bool tells_etag(const struct path_ask *ask)
{
    return ask->op != PATH_DELETE && (ask->op != PATH_APPEND || ask->flushes) &&
           ask->op > PATH_DELETE_FILESYSTEM && ask->op != PATH_RENAME &&
           ask->op != PATH_PUT_BLOCK && ask->op != PATH_UNDELETE && ask->op != PATH_SET_SERVICE;
}

/* The snapshot is the newest one of the state that its commit created. */
static const char *fill_snapshot(const struct path_node *node, const struct reply *answer)
{
    const struct path_snapshot *newest = &node->snapshots[node->snapshot_count - 1];

    if (node->snapshot_count > 1 && strcmp(newest[-1].time->text, answer->snapshot) >= 0)
        return "a snapshot that is not later than the one before";
    memcpy(newest->time->text, answer->snapshot, sizeof newest->time->text);
    return NULL;
}

/* A Path Delete returns the id of the deletion, if the path is retained. */
static const char *check_deletion(const struct slot *slot, const struct reply *answer)
{
    const struct path_view view = path_view_of((unsigned)(slot - slots));

    static char why[100];

    if (answer->path.deletion == view.deleted_at)
        return NULL;
    (void)snprintf(why, sizeof why, "the deletion id of %" PRIu64 " instead of %" PRIu64,
                   answer->path.deletion, view.deleted_at);
    return why;
}

static void judge_commit(const struct slot *slot, const struct reply *answer)
{
    const struct path_ask *ask = &slot->ask->path;
    const struct path_node *node = path_node_at(slot->expected.place, slot->commit);
    const char *why = NULL;

    if (answer->status != slot->expected.status)
        why = "another status than of this change";
    else if (tells_etag(ask))
        why = path_fill(node, answer);
    if (!why && ask->op == PATH_LEASE && ask->lease.act != ACT_RELEASE &&
        ask->lease.act != ACT_BREAK && strcmp(answer->lease_id, lease_texts[node->lease.id]) != 0)
        why = "another lease id";
    if (!why && ask->op == PATH_SNAPSHOT)
        why = fill_snapshot(node, answer);
    if (!why && ask->op == PATH_DELETE && !ask->by_blob)
        why = check_deletion(slot, answer);
    if (why)
        fail(slot, answer, why);
    commits_acknowledge(slot->commit);
}

/* Checks that a state between the start and the end of the request matches the response. */
static void judge_view(const struct slot *slot, const struct reply *answer)
{
    const struct path_ask *ask = &slot->ask->path;
    struct seen *client = &seen[slot - slots];
    struct path_moment moment = moment_of(slot);
    uint64_t at = world->commits, fitting = UINT64_MAX;
    const char *first = NULL;

    if (judge_clock_may_refuse(slot->wall_steps, answer))
        return;
    path_moment_widen(&moment);
    for (;;) {
        uint64_t changed = path_changed_before(slot->before, at);
        const char *why = path_compare_answer(ask, answer, at, &moment);

        if (!why)
            fitting = changed;
        else if (!first)
            first = why;
        if (changed == 0)
            break;
        at = changed - 1;
    }
    if (fitting == UINT64_MAX && ask->op == PATH_LIST && answer->status == 200) {
        first = path_compare_walk(ask, answer, &moment);
        fitting = first ? UINT64_MAX : slot->before;
    }
    if (fitting == UINT64_MAX)
        fail(slot, answer, first);
    if (ask->op == PATH_LIST)
        client->has_next = answer->status == 200 && path_next_page(ask, answer, &client->next);
    if (ask->op == PATH_LIST_DELETED)
        client->has_deleted =
            answer->status == 200 && path_next_deleted(ask, answer, &client->deleted);
    /* Everything that was shown by then is durable. */
    commits_acknowledge(fitting);
}

void path_judge_answered(unsigned slot_number, const struct reply *answer, bool may_fail)
{
    struct slot *slot = &slots[slot_number];

    world->requests++;
    judge_say_answer(slot->ask, answer, slot_number);
    world_trace((uint64_t)(unsigned)answer->status << 16 ^ answer->etag ^ slot->commit);
    if (answer->came) {
        if (answer->body)
            answer->body[answer->body_size] = '\0';
        world->checks++;
        if (judge_says_cannot(answer) && may_fail)
            world->refused++;
        else if (slot->commit > 0)
            judge_commit(slot, answer);
        else
            judge_view(slot, answer);
    }
    slot->ask = NULL;
}

bool path_judge_next_page(unsigned client, struct path_ask *ask)
{
    bool is_of_deleted = ask->op == PATH_LIST_DELETED;
    bool has_next = is_of_deleted ? seen[client].has_deleted : seen[client].has_next;

    if (has_next)
        *ask = is_of_deleted ? seen[client].deleted : seen[client].next;
    return has_next;
}
