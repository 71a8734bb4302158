/* See sm_watch.h. */
#include "sm_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fs_opens.h"
#include "sm_changes.h"
#include "sm_link.h"
#include "smb_protocol/wire.h"
#include "world.h"

#define WATCHES_MAX  4u /* of a client */
#define SOON_NS      UINT64_C(1000000000)
#define WATCH_TREE   0x0001u
#define ENTRY_SIZE   12u
#define NAME_MAX_LEN 16u /* of the names that there are, in UTF-16 */

/* Gone with the process. */
static struct sm_watched watches[CLIENTS_MAX][WATCHES_MAX];
static uint64_t orders, seen;

void sm_watches_begin_life(void)
{
    for (unsigned i = 0; i < CLIENTS_MAX; i++)
        sm_watch_end(i, 0);
    seen = world->commits;
}

uint64_t sm_watch_order(void)
{
    return ++orders;
}

static struct sm_watched *find(unsigned client, uint64_t open)
{
    for (unsigned i = 0; i < WATCHES_MAX; i++)
        if (watches[client][i].open == open)
            return &watches[client][i];
    return NULL;
}

static struct sm_watched *find_message(unsigned client, uint64_t message_id)
{
    for (unsigned i = 0; i < WATCHES_MAX; i++)
        if (watches[client][i].open > 0 && watches[client][i].message_id == message_id)
            return &watches[client][i];
    return NULL;
}

static void see_since(const struct fs_state *state, uint64_t order)
{
    if (state->since <= seen || !state->older)
        return;
    see_since(state->older, 0);
    for (unsigned i = 0; i < CLIENTS_MAX; i++)
        for (unsigned j = 0; j < WATCHES_MAX; j++)
            if (watches[i][j].open > 0)
                sm_changes_add(&watches[i][j], state->older, state, order);
}

void sm_watches_see(uint64_t order)
{
    const struct fs_state *state = fs_state_at(world->commits);

    see_since(state, order);
    seen = state->since;
}

/* ---- what is said of it ---- */

static void fail(const struct sm_watched *watch, const char *why, const struct sm_change *change)
{
    char of[60] = "";

    for (unsigned i = 0; i < watch->count && world->plan.verbose; i++)
        world_say("    left: %u of '%s' at %.6f%s", watch->changes[i].action,
                  watch->changes[i].name, (double)watch->changes[i].at_ns / 1e9,
                  watch->changes[i].is_due ? ", due" : "");
    if (change)
        (void)snprintf(of, sizeof of, ": %u of '%s' at %.6f", change->action, change->name,
                       (double)change->at_ns / 1e9);
    world_fail("a watch of open %" PRIu64 " (filter %X%s, room %u, %u changes, status %08X): %s%s",
               watch->open, watch->filter, watch->is_recursive ? ", of its tree" : "", watch->room,
               watch->count, watch->status, why, of);
}

/* Calls that fail or take long may put off what comes behind them. */
static bool is_exact(void)
{
    return !(world->plan.faults & (FAULT_ERRORS | FAULT_SPACE | FAULT_FILES | FAULT_SHORT |
                                   FAULT_LATENCY | FAULT_DAMAGE));
}

static bool is_past(const struct sm_change *change)
{
    return is_exact() && change->at_ns + SOON_NS < world->now_ns;
}

/* By now all is told that happened a while ago. */
static void check(const struct sm_watched *watch)
{
    for (unsigned i = 0; i < watch->count; i++)
        if (watch->changes[i].is_due && is_past(&watch->changes[i]))
            fail(watch, "a change is not told", &watch->changes[i]);
}

void sm_watch_check(unsigned client)
{
    sm_watches_see(0);
    for (unsigned i = 0; i < WATCHES_MAX; i++) {
        const struct sm_watched *watch = &watches[client][i];

        if (watch->open == 0 || !watch->waits)
            continue;
        check(watch);
        if (watch->has_gone && watch->order != SM_NEVER && is_exact() &&
            watch->gone_ns + SOON_NS < world->now_ns)
            fail(watch, "it still waits, though the directory is gone", NULL);
    }
}

static void forget(struct sm_watched *watch, unsigned at)
{
    memmove(&watch->changes[at], &watch->changes[at + 1],
            (watch->count - at - 1) * sizeof watch->changes[0]);
    watch->count--;
}

static bool is_it(const struct sm_change *change, unsigned action, struct bytes path)
{
    unsigned above = 0;
    struct bytes name = path;

    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] == '\\') {
            above++;
            name = bytes_from(path, i + 1);
        }
    return change->action == action && bytes_is(name, change->name) &&
           (change->above == 0) == (above == 0);
}

/* The changes that it can be: the oldest, and the oldest that is due. */
static unsigned find_change(const struct sm_watched *watch, unsigned action, struct bytes path,
                            unsigned *ret_due)
{
    unsigned oldest = watch->count;

    *ret_due = watch->count;
    for (unsigned i = watch->count; i-- > 0;) {
        if (!is_it(&watch->changes[i], action, path))
            continue;
        oldest = i;
        if (watch->changes[i].is_due)
            *ret_due = i;
    }
    return oldest;
}

/* One that is due is taken for it first. */
static void take_entry(struct sm_watched *watch, unsigned action, struct bytes path)
{
    unsigned due, oldest = find_change(watch, action, path, &due);

    if (world->plan.verbose)
        world_say("    %u of '%.*s'", action, (int)path.len, path.ptr);
    if (oldest == watch->count)
        world_fail("a watch of open %" PRIu64 " is told of what did not happen, or was told: %u "
                   "of '%.*s'",
                   watch->open, action, (int)path.len, path.ptr);
    for (unsigned i = 0; i < oldest && is_exact(); i++)
        if (watch->changes[i].is_due &&
            watch->changes[i].at_ns + SOON_NS < watch->changes[oldest].at_ns)
            fail(watch, "a change is told behind others that came long after it",
                 &watch->changes[i]);
    forget(watch, due < watch->count ? due : oldest);
}

/* FILE_NOTIFY_INFORMATION: MS-FSCC 2.7.1 */
static void take_entries(struct sm_watched *watch, struct bytes all, struct arena *arena)
{
    uint32_t next = 1;
    unsigned before = 0;

    if (all.len > watch->room_now)
        fail(watch, "more is told than it has room for", NULL);
    while (next > 0) {
        struct wire_reader r;
        struct bytes path;
        uint32_t size;
        unsigned action;

        wire_reader_init(&r, all);
        next = wire_u32(&r);
        action = wire_u32(&r);
        size = wire_u32(&r);
        path = wire_bytes(&r, size);
        if (!wire_ok(&r) || !wire_utf8(arena, path, &path) || next > all.len)
            fail(watch, "an entry that is cut", NULL);
        if ((before == SM_OLD_NAME) != (action == SM_NEW_NAME))
            fail(watch, "an old name without the new one, or the other way round", NULL);
        take_entry(watch, action, path);
        before = action;
        all = bytes_from(all, next);
    }
    if (before == SM_OLD_NAME)
        fail(watch, "an old name without the new one", NULL);
}

/* The server had nothing more to tell: nor will it tell anything of what is long past. */
static void settle(struct sm_watched *watch)
{
    check(watch);
    for (unsigned i = watch->count; i-- > 0;)
        if (is_past(&watch->changes[i]))
            forget(watch, i);
}

/* There may be so much that it has no room for it. What there was is not told any more, or may be. */
static void take_too_much(struct sm_watched *watch)
{
    size_t size = 0;

    for (unsigned i = 0; i < watch->count; i++) {
        const struct sm_change *change = &watch->changes[i];

        size += ENTRY_SIZE + 3 + (change->above + 1) * NAME_MAX_LEN;
        watch->changes[i].is_due = false;
    }
    if (size + 4 <= watch->room_now)
        fail(watch, "there is said to be too much", NULL);
}

static void take_success(struct sm_watched *watch, const struct sm_message *message)
{
    struct arena *arena = arena_new(64u << 10);
    struct wire_reader r;
    uint16_t at;

    wire_reader_init(&r, bytes_of(message->bytes, message->size));
    wire_skip(&r, SMB_HEADER_SIZE + 2);
    at = wire_u16(&r);
    take_entries(watch, wire_buffer(&r, at, wire_u32(&r), SMB_HEADER_SIZE + 8), arena);
    arena_free(arena);
    settle(watch);
}

/* ---- messages ---- */

void sm_watch_write(struct wire_writer *w, const struct sm_ask *ask)
{
    wire_put_u16(w, 32);
    wire_put_u16(w, ask->is_recursive ? WATCH_TREE : 0);
    wire_put_u32(w, ask->room);
    wire_put_u64(w, ask->handle.persistent);
    wire_put_u64(w, ask->handle.volatile_id);
    wire_put_u32(w, ask->filter);
    wire_put_u32(w, 0);
}

/* Who has just committed may tell it a moment later. */
static void see_just_before(struct sm_watched *watch)
{
    const struct fs_state *state = fs_state_at(world->commits);

    for (; state->older && (!is_exact() || state->at_ns + SOON_NS > world->now_ns);
         state = state->older)
        sm_changes_add(watch, state->older, state, 0);
}

void sm_watch_asked(unsigned client, const struct sm_ask *ask, uint64_t message_id)
{
    struct sm_watched *watch = find(client, ask->handle.open);
    const struct fs_node *node = fs_opened_node(fs_state_at(world->commits), ask->handle.open);

    sm_watches_see(0);
    if (!watch) {
        watch = find(client, 0);
        if (!watch)
            world_fail("a client has more than %u watches", WATCHES_MAX);
        memset(watch, 0, sizeof *watch);
        watch->open = ask->handle.open;
        watch->directory = node ? node->id : 0;
        watch->filter = ask->filter;
        watch->is_recursive = ask->is_recursive;
        watch->room = ask->room;
        watch->order = SM_NEVER;
        see_just_before(watch);
        watch->has_gone = !node || node->is_delete_pending;
        watch->gone_ns = world->now_ns;
    }
    watch->message_id = message_id;
    watch->room_now = ask->room < watch->room ? ask->room : watch->room;
    watch->has_come = watch->waits = watch->is_cancelled = watch->is_closing = false;
}

/* What is refused may have begun a watch, or not. */
static void take_refusal(struct sm_watched *watch)
{
    bool is_first = watch->order == SM_NEVER;
    bool may_be = watch->status == SM_DELETE_PENDING ? watch->has_gone
                  : watch->status == SM_CANCELLED    ? watch->is_cancelled
                  : watch->status == SM_CLEANUP      ? watch->is_closing
                                                     : is_first || !is_exact();

    if (!may_be)
        fail(watch, "it ends though it should not", NULL);
    for (unsigned i = 0; i < watch->count && is_first; i++)
        watch->changes[i].is_due = false;
}

void sm_watch_told(unsigned client, const struct sm_message *message)
{
    struct sm_watched *watch = find_message(client, message->message_id);

    sm_watches_see(0);
    if (!watch || (watch->has_come && !watch->waits))
        world_fail("client %u is told changes that it has not asked for", client);
    watch->has_come = true;
    watch->status = message->status;
    watch->waits = message->status == SM_PENDING;
    watch->async_id = message->async_id;
    if (message->status == SM_SUCCESS)
        take_success(watch, message);
    else if (message->status == SM_ENUM_DIR)
        take_too_much(watch);
    else if (message->status != SM_PENDING)
        take_refusal(watch);
    else
        settle(watch);
    if (watch->order == SM_NEVER &&
        (message->status == SM_SUCCESS || message->status == SM_ENUM_DIR ||
         message->status == SM_PENDING))
        watch->order = sm_watch_order();
    if (world->plan.verbose)
        world_say("%.6f client %u: watch of open %" PRIu64 " is told %08X, %u changes left",
                  (double)world->now_ns / 1e9, client, watch->open, message->status, watch->count);
}

bool sm_watch_has_come(unsigned client, uint64_t message_id, uint32_t *ret_status)
{
    const struct sm_watched *watch = find_message(client, message_id);

    *ret_status = watch ? watch->status : 0;
    return watch && watch->has_come;
}

uint64_t sm_watch_waits(unsigned client, uint64_t open, uint64_t *ret_async_id)
{
    const struct sm_watched *watch = open > 0 ? find(client, open) : NULL;

    if (!watch || !watch->waits)
        return 0;
    *ret_async_id = watch->async_id;
    return watch->message_id;
}

void sm_watch_cancels(unsigned client, uint64_t open)
{
    find(client, open)->is_cancelled = true;
}

void sm_watch_closes(unsigned client, uint64_t open, bool closes)
{
    struct sm_watched *watch = find(client, open);

    if (watch)
        watch->is_closing = closes;
}

void sm_watch_end(unsigned client, uint64_t open)
{
    for (unsigned i = 0; i < WATCHES_MAX; i++)
        if (open == 0 || watches[client][i].open == open)
            watches[client][i].open = 0;
}
