/* See table_judge.h. */
#include "table_judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commits.h"
#include "judge.h"
#include "table_compare.h"
#include "table_model.h"
#include "table_pages.h"
#include "table_reply.h"
#include "views.h"
#include "world.h"

/* A request under way. Dies with the process. */
static struct slot {
    const struct ask *ask;
    uint64_t before; /* commits when it began */
    uint64_t commit; /* its own; 0: none */
    uint64_t wall_steps;
} slots[SLOTS_MAX];

/* What clients may go on with; in the world. */
static struct seen {
    bool has_next;
    struct table_ask next;
} * seen;

void table_judge_begin(void)
{
    table_model_begin();
    seen = world_alloc(SLOTS_MAX * sizeof *seen);
}

void table_judge_begin_life(void)
{
    memset(slots, 0, sizeof slots);
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

void table_judge_asked(unsigned slot, const struct ask *ask)
{
    slots[slot] =
        (struct slot){ .ask = ask, .before = world->commits, .wall_steps = world->wall_steps };
}

bool table_judge_has_committed(unsigned slot)
{
    return slots[slot].commit > 0;
}

void table_judge_committed(unsigned slot_number)
{
    struct slot *slot = &slots[slot_number];
    struct table_expected expected;

    if (slot->commit > 0)
        return; /* clears away what its first commit left; nobody sees that */
    expected = table_expect(&slot->ask->table, world->commits, world->commits);
    if (!expected.changes)
        fail(slot, NULL, expected.code ? expected.code : "commits what should change nothing");
    slot->commit = ++world->commits;
    table_apply(&slot->ask->table, slot->commit);
    world_trace(slot->commit << 8 | slot->ask->table.op);
    judge_say_commit(slot->ask, slot->commit, slot_number);
}

/* Nothing that was told or shown may be lost by a crash from now on. */
static void acknowledge(uint64_t commit)
{
    commits_acknowledge(commit);
}

/* ---- the answer of one that has committed ---- */

static const char *compare_written(const struct slot *slot, const struct table_change *change,
                                   int status, uint64_t etag, const char *body)
{
    unsigned table = slot->ask->table.table;
    struct entity_version *made = table_entity_at(table, change->place, slot->commit);
    bool echoes = change->op == TABLE_INSERT && !change->is_quiet;
    struct table_shown shown;
    const char *why;

    if (status != (echoes ? 201 : 204))
        return "another status than of this write";
    if (change->op == TABLE_DELETE)
        return etag == 0 ? NULL : "an ETag of what is deleted";
    why = table_fill(table, change->place, made, etag);
    if (why || !echoes)
        return why;
    why = table_read_entity(body, &shown);
    if (!why && shown.place != (int)change->place)
        why = "another entity than was inserted";
    return why ? why : table_compare_entity(&shown, made, false);
}

static const char *compare_parts(const struct slot *slot, const struct reply *answer)
{
    const struct table_ask *ask = &slot->ask->table;
    struct table_part parts[TABLE_PARTS_MAX];
    unsigned count;
    const char *why = answer->status != 202
                          ? "a transaction without an answer of its parts"
                          : table_read_parts((const char *)answer->body, parts, &count);

    if (!why && count != ask->count)
        why = "a transaction that was done without an answer to each part";
    for (unsigned i = 0; i < ask->count && !why; i++)
        why = compare_written(slot, &ask->parts[i], parts[i].status, parts[i].etag, parts[i].body);
    return why;
}

static void judge_commit(const struct slot *slot, const struct reply *answer)
{
    const struct table_ask *ask = &slot->ask->table;
    const char *why = NULL;

    if (ask->op == TABLE_TRANSACTION)
        why = compare_parts(slot, answer);
    else if (ask->op < TABLE_INSERT)
        why = answer->status == (ask->op == TABLE_CREATE ? 201 : 204)
                  ? NULL
                  : "another status than of this change";
    else
        why = compare_written(slot, &ask->parts[0], answer->status, answer->etag,
                              (const char *)answer->body);
    if (why)
        fail(slot, answer, why);
    acknowledge(slot->commit);
}

/* ---- the answer of one that changed nothing ---- */

/* Before the body has come nobody knows that its key lies outside of what the signature opens. */
static const char *compare_early(const struct slot *slot, const struct reply *answer,
                                 uint64_t commit)
{
    struct table_ask ask = slot->ask->table;

    if (!framing_asks_early(&slot->ask->framing) || answer->status != 404)
        return "not refused early";
    ask.sas.has_first = ask.sas.has_last = false;
    return table_compare_answer(&ask, answer, commit, commit);
}

/* Entities are read a moment after their table's record, and with it the policies. */
static const char *compare_at(const struct slot *slot, const struct reply *answer, uint64_t commit)
{
    const struct table_ask *ask = &slot->ask->table;
    const char *first = table_compare_answer(ask, answer, commit, commit);

    for (uint64_t looked = commit; first && ask->sas.by_policy && looked > slot->before;) {
        if (!table_compare_answer(ask, answer, commit, --looked))
            return NULL;
    }
    if (first && ask->op == TABLE_INSERT && !compare_early(slot, answer, commit))
        return NULL;
    return first;
}

/* The list of tables in several cells. */
static void judge_merged(const struct slot *slot, const struct reply *answer)
{
    static struct views views;
    const char *first = NULL;

    views_begin(&views, TABLES, slot->before, world->commits, table_list_changed);
    while (views_next(&views)) {
        const char *why = compare_at(slot, answer, world->commits);

        if (!why)
            views_fits(&views);
        first = first ? first : why;
    }
    if (!views_acknowledge(&views))
        fail(slot, answer, first);
}

/* A state between its beginning and its end must give this answer. */
static void judge_view(const struct slot *slot, const struct reply *answer)
{
    const struct table_ask *ask = &slot->ask->table;
    uint64_t at = world->commits, fitting = UINT64_MAX;
    const char *first = NULL;
    struct seen *client = &seen[slot - slots];

    if (judge_clock_may_refuse(slot->wall_steps, answer))
        return;
    if (commits_are_divided() && ask->op == TABLE_LIST) {
        judge_merged(slot, answer);
        return;
    }
    for (;;) {
        uint64_t changed = table_changed_before(ask, slot->before, at);
        const char *why = compare_at(slot, answer, at);

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
    if (ask->op == TABLE_QUERY && answer->status == 200) {
        client->next = *ask;
        client->has_next = table_next_page(ask, &answer->table, &client->next.query);
    }
    /* What was shown by then is durable. */
    acknowledge(fitting);
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

void table_judge_answered(unsigned slot_number, const struct reply *answer, bool may_fail)
{
    struct slot *slot = &slots[slot_number];

    world->requests++;
    judge_say_answer(slot->ask, answer, slot_number);
    world_trace((uint64_t)(unsigned)answer->status << 16 ^ answer->etag ^ slot->commit);
    if (answer->came) {
        answer->body[answer->body_size] = '\0';
        world->checks++;
        if (table_says_cannot(answer) && may_fail)
            world->refused++;
        else if (slot->commit > 0)
            judge_commit(slot, answer);
        else
            judge_view(slot, answer);
    }
    slot->ask = NULL;
    if (world->requests % 64 == 0)
        table_prune(oldest_under_way());
}

/* ---- what a client may know ---- */

uint64_t table_judge_etag(unsigned table, unsigned place, bool old)
{
    const struct entity_version *is = table_entity_at(table, place, world->commits);

    if (old)
        return table_old_etag(table, place);
    return is ? is->etag : 0;
}

bool table_judge_next_page(unsigned client, struct table_ask *ask)
{
    if (seen[client].has_next)
        *ask = seen[client].next;
    return seen[client].has_next;
}
