/* See sm_script.h. */
#include "sm_script.h"

#include <string.h>

#include "draws.h"
#include "fs_away.h"
#include "fs_opens.h"
#include "fs_script.h"
#include "sm_link.h"
#include "sm_list.h"
#include "sm_returns.h"
#include "sm_watch.h"
#include "world.h"

#define HANDLES_MAX  3u
#define LOCKS_MAX    3u
/* Many handles are kept so long at most, which passes while others go on. */
#define KEPT_SHORT_S 20u
#define SECOND_NS    UINT64_C(1000000000)

struct held {
    struct sm_handle handle; /* open 0: free */
    unsigned access, caching;
    uint64_t key;    /* of its lease; 0: it has none */
    uint64_t create; /* by which it is come back to; 0: it is not */
    bool persists;
    bool has_written, is_directory;
    struct sm_scan scan;
    struct {
        unsigned from, to;
    } locks[LOCKS_MAX]; /* to 0: none */
};

/* In the world. */
static struct sm_clients {
    struct held known[CLIENTS_MAX][HANDLES_MAX];
    /* That the client has lost with its connection, and may come back to. open 0: none */
    struct held lost[CLIENTS_MAX];
} * clients;

/* One of its handles that are durable. */
static void lose_all(unsigned client)
{
    for (unsigned i = 0; i < HANDLES_MAX; i++)
        if (clients->known[client][i].handle.open > 0 && clients->known[client][i].create > 0)
            clients->lost[client] = clients->known[client][i];
    memset(clients->known[client], 0, sizeof clients->known[client]);
}

void sm_script_begin(void)
{
    clients = world_alloc(sizeof *clients);
    sm_returns_begin();
}

/* The server's process has ended. */
void sm_script_begin_life(void)
{
    sm_returns_begin_life();
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        lose_all(i);
        if (!clients->lost[i].persists)
            clients->lost[i] = (struct held){ .key = 0 };
    }
}

/* Clients ask for handles that persist where the time that these are kept can be told, and nobody waits so long. */
bool sm_script_may_persist(void)
{
    return sm_answers_at_once() &&
           !(world->plan.faults & (FAULT_ERRORS | FAULT_SPACE | FAULT_FILES | FAULT_SHORT |
                                   FAULT_LATENCY | FAULT_DAMAGE | FAULT_CLOCK));
}

static struct held *find(unsigned client, uint64_t open)
{
    for (unsigned i = 0; i < HANDLES_MAX; i++)
        if (clients->known[client][i].handle.open == open)
            return &clients->known[client][i];
    return NULL;
}

/* NULL: it is closed. */
static struct held *find_volatile(unsigned client, uint64_t volatile_id)
{
    for (unsigned i = 0; i < HANDLES_MAX; i++)
        if (clients->known[client][i].handle.open > 0 &&
            clients->known[client][i].handle.volatile_id == volatile_id)
            return &clients->known[client][i];
    return NULL;
}

void sm_script_keeps(unsigned client, uint64_t volatile_id, unsigned caching)
{
    struct held *one = find_volatile(client, volatile_id);

    if (one)
        one->caching = caching;
}

bool sm_script_reads_only(unsigned client, uint64_t volatile_id)
{
    const struct held *one = find_volatile(client, volatile_id);

    return one && one->caching == CACHES_R;
}

bool sm_script_knows(unsigned client, uint64_t key, uint64_t volatile_id)
{
    for (unsigned i = 0; i < HANDLES_MAX; i++) {
        const struct held *one = &clients->known[client][i];

        if (one->handle.open > 0 &&
            (key > 0 ? one->key == key : one->handle.volatile_id == volatile_id))
            return true;
    }
    return false;
}

bool sm_script_has_written(unsigned client, uint64_t open)
{
    const struct held *one = find(client, open);

    return one && one->has_written;
}

static void note_lock(struct held *one, const struct sm_ask *ask)
{
    for (unsigned i = 0; i < LOCKS_MAX; i++) {
        bool is_it = one->locks[i].to == ask->to && one->locks[i].from == ask->from;

        if (ask->op == SM_LOCK ? one->locks[i].to == 0 : is_it) {
            one->locks[i].from = ask->from;
            one->locks[i].to = ask->op == SM_LOCK ? ask->to : 0;
            return;
        }
    }
}

static void come_back(unsigned client, const struct reply *answer)
{
    struct held *one = find(client, 0);

    if (answer->smb.status == SM_SUCCESS && one) {
        *one = clients->lost[client];
        one->handle.persistent = answer->smb.persistent;
        one->handle.volatile_id = answer->smb.volatile_id;
        one->caching = answer->smb.caching;
    }
    clients->lost[client] = (struct held){ .key = 0 };
}

/* What has come of what was asked in the frame of an open. */
static void note_frame(struct held *one, const struct sm_ask *ask, const struct reply *answer)
{
    const struct sm_ask first = sm_part(ask, 1, &one->handle);
    struct reply of = *answer;

    of.smb.status = answer->smb.statuses[1];
    one->has_written = first.op == SM_WRITE && of.smb.status == SM_SUCCESS;
    if (first.op == SM_LIST)
        one->scan = sm_list_scan(&first, &of, &one->scan);
    if (first.op == SM_LOCK && of.smb.status == SM_SUCCESS)
        note_lock(one, &first);
    if (ask->then[ask->then_count - 1] == SM_CLOSE)
        *one = (struct held){ .access = 0 };
}

static bool is_directory(uint64_t open)
{
    const struct fs_node *node = fs_opened_node(fs_state_at(world->commits), open);

    return node && node->is_directory;
}

void sm_script_answered(unsigned client, const struct sm_ask *ask, const struct reply *answer,
                        uint64_t open)
{
    struct held *one = ask->handle.open > 0 ? find(client, ask->handle.open) : find(client, 0);
    uint32_t status = answer->smb.status;

    if (ask->op == SM_RETURN)
        sm_return_answered(client);
    if (!answer->came || ask->op == SM_HANG_UP) {
        lose_all(client);
        return;
    }
    if (ask->op == SM_RETURN) {
        come_back(client, answer);
        return;
    }
    if (ask->op == SM_OPEN && status == SM_SUCCESS && one)
        *one = (struct held){ .handle = { .open = open,
                                          .persistent = answer->smb.persistent,
                                          .volatile_id = answer->smb.volatile_id },
                              .access = ask->access,
                              .caching = answer->smb.caching,
                              .key = ask->key,
                              .create = ask->create,
                              .persists = ask->persists,
                              .is_directory = is_directory(open) };
    if (ask->then_count > 0) {
        if (one && status == SM_SUCCESS)
            note_frame(one, ask, answer);
        return;
    }
    if (ask->op == SM_LIST && one)
        one->scan = sm_list_scan(ask, answer, &one->scan);
    if (ask->op == SM_WRITE && status == SM_SUCCESS && one)
        one->has_written = true;
    if ((ask->op == SM_LOCK || ask->op == SM_UNLOCK) && status == SM_SUCCESS && one)
        note_lock(one, ask);
    if ((ask->op == SM_CLOSE || status == SM_FILE_CLOSED) && one)
        *one = (struct held){ .access = 0 };
}

/* ---- draws ---- */

static const unsigned weights[SM_OPS] = {
    [SM_OPEN] = 16,  [SM_READ] = 12,      [SM_WRITE] = 16, [SM_SET_LENGTH] = 4,
    [SM_FLUSH] = 4,  [SM_QUERY] = 4,      [SM_LIST] = 4,   [SM_LOCK] = 9,
    [SM_UNLOCK] = 6, [SM_SET_DELETE] = 2, [SM_RENAME] = 7, [SM_NOTIFY] = 5,
    [SM_LISTEN] = 2, [SM_STOP] = 1,       [SM_CLOSE] = 13, [SM_HANG_UP] = 2,
};

/* One that can do it, most often. */
static const struct held *draw_handle(struct draws *draws, unsigned client, unsigned access)
{
    const struct held *found = NULL;
    unsigned first = draw(draws, HANDLES_MAX);
    bool any = draw(draws, 10) == 0;

    for (unsigned i = 0; i < HANDLES_MAX; i++) {
        const struct held *one = &clients->known[client][(first + i) % HANDLES_MAX];

        if (one->handle.open > 0 && (!found || (!any && (access & ~found->access) != 0)))
            found = one;
    }
    return found;
}

/* What is asked in the same frame. */
static void draw_then(struct draws *draws, struct sm_ask *ask)
{
    static const enum sm_op of_files[][2] = {
        { SM_WRITE, SM_CLOSE }, { SM_WRITE, SM_CLOSE }, { SM_READ, SM_CLOSE },
        { SM_QUERY, SM_CLOSE }, { SM_FLUSH, SM_CLOSE }, { SM_SET_DELETE, SM_CLOSE },
        { SM_WRITE, SM_QUERY }, { SM_LOCK, SM_READ },   { SM_SET_LENGTH, SM_CLOSE },
    };
    static const enum sm_op of_directories[][2] = {
        { SM_LIST, SM_CLOSE },       { SM_LIST, SM_CLOSE }, { SM_QUERY, SM_CLOSE },
        { SM_SET_DELETE, SM_CLOSE }, { SM_LIST, SM_QUERY },
    };
    const enum sm_op *then =
        ask->kind == SM_FILE ? of_files[draw(draws, 9)] : of_directories[draw(draws, 5)];

    if (ask->kind == SM_ANY_KIND || draw(draws, 4) > 0)
        return;
    memcpy(ask->then, then, sizeof ask->then);
    ask->then_count = 2;
    if (ask->then[0] == SM_LOCK && ask->create > 0 && !ask->persists) /* as sm_script_draw() */
        ask->then[0] = SM_QUERY;
    ask->is_exclusive = draw(draws, 2) == 0;
    ask->is_single = draw(draws, 2) == 0;
    ask->scan =
        (struct sm_scan){ .pattern = draw(draws, 2) * draw(draws, SM_PATTERNS), .sure = ~0u };
}

/* What does not stand in the way of most others, most often. */
static void draw_open(struct draws *draws, struct sm_ask *ask, uint64_t key)
{
    static const unsigned cachings[] = { CACHES_ALL, CACHES_R | CACHES_H, CACHES_R | CACHES_W,
                                         CACHES_R };
    static const unsigned accesses[] = { MAY_R, MAY_R | MAY_W, MAY_RWD, MAY_R | MAY_W };
    static const enum sm_disposition likely[] = { SM_OPEN_THERE, SM_OPEN_THERE, SM_OPEN_IF,
                                                  SM_OPEN_IF };

    bool is_of_directory = draw(draws, 4) == 0;

    ask->kind = draw(draws, 8) == 0    ? SM_ANY_KIND
                : draw(draws, 20) == 0 ? (enum sm_kind)draw(draws, 3)
                : is_of_directory      ? SM_DIRECTORY
                                       : SM_FILE;
    ask->path = draw(draws, 4) == 0   ? fs_script_path_in_known(draws)
                : !is_of_directory    ? fs_script_known_path(draws)
                : draw(draws, 8) == 0 ? (struct fs_path){ .depth = 0 }
                                      : fs_script_known_directory(draws);
    ask->access = draw(draws, 3) == 0 ? draw(draws, 8) : accesses[draw(draws, 4)];
    ask->share = draw(draws, 3) == 0 ? draw(draws, 8) : MAY_RWD;
    ask->disposition = draw(draws, 2) == 0 ? (enum sm_disposition)draw(draws, SM_DISPOSITIONS)
                                           : likely[draw(draws, 4)];
    if (draw(draws, 3) > 0) {
        ask->caching = cachings[draw(draws, 4)];
        ask->key = draw(draws, 3) > 0 ? key : 0;
        ask->is_durable = ask->key > 0 && draw(draws, 2) == 0;
        ask->create = ask->is_durable ? key : 0;
        if (ask->key == 0 && ask->caching == (CACHES_R | CACHES_H)) /* no oplock is that */
            ask->caching = CACHES_ALL;
    }
    if (sm_returns_are_met() && ask->kind != SM_DIRECTORY && draw(draws, 2) == 0) {
        ask->caching = CACHES_R | CACHES_H;
        ask->key = ask->create = key;
        ask->is_durable = true;
    } else if (sm_script_may_persist() && draw(draws, 3) == 0) {
        ask->persists = true;
        ask->create = key;
    }
    if (!ask->persists && ask->seed % 2 == 0)
        ask->kept_s = 1 + ask->seed % KEPT_SHORT_S;
    if (draw(draws, 20) == 0) {
        ask->deletes = true;
        ask->access |= MAY_D;
    }
    if (ask->kind == SM_DIRECTORY && draw(draws, 10) > 0) {
        ask->disposition = likely[draw(draws, 4)];
        ask->access |= draw(draws, 2) == 0 ? MAY_R : MAY_D;
    }
    draw_then(draws, ask);
    if (ask->create > 0 && ask->then_count == 0 && draw(draws, 3) == 0) {
        ask->replays = true;
        ask->waits_ns = draw(draws, 2) * draw(draws, 300000); /* or it is lost at once */
    }
    if (sm_return_meets(draws, &ask->path))
        ask->share = 0;
    if (ask->path.depth == 0) {
        ask->disposition = SM_OPEN_THERE;
        ask->kind = SM_ANY_KIND;
        ask->deletes = ask->replays = false;
        ask->then_count = 0;
    }
}

/* What it wants of a handle. */
static unsigned access_for(enum sm_op op)
{
    return op == SM_READ || op == SM_LIST || op == SM_NOTIFY                      ? MAY_R
           : op == SM_RENAME || op == SM_SET_DELETE                               ? MAY_D
           : op == SM_CLOSE || op == SM_QUERY || op == SM_LISTEN || op == SM_STOP ? 0
                                                                                  : MAY_W;
}

/* Names alone, most often; room for all that there may be, or for little. */
static void draw_watch(struct draws *draws, unsigned client, struct sm_ask *ask)
{
    static const uint32_t filters[] = { 0x3, 0x3, 0xB, 0xFFF, 0x1, 0x2, 0x18 };
    static const uint32_t rooms[] = { 8192, 8192, 8192, 8192, 100, 30, 0 };
    bool waits = sm_watch_waits(client, ask->handle.open, &(uint64_t){ 0 }) > 0;

    ask->filter = filters[draw(draws, 7)];
    ask->room = rooms[draw(draws, 7)];
    ask->is_recursive = draw(draws, 3) == 0;
    ask->waits_ns = (2 + draw(draws, 20)) * SECOND_NS;
    if (ask->op == SM_NOTIFY && waits)
        ask->op = SM_LISTEN;
    else if (ask->op != SM_NOTIFY && !waits)
        ask->op = SM_NOTIFY;
}

static void draw_particular(struct draws *draws, unsigned client, struct sm_ask *ask,
                            const struct held *handle)
{
    unsigned lock = draw(draws, LOCKS_MAX);

    ask->handle = handle->handle;
    ask->deletes = draw(draws, 2) > 0;
    ask->replaces = draw(draws, 2) == 0;
    ask->is_exclusive = draw(draws, 2) == 0;
    if (ask->op == SM_LOCK && draw(draws, 2) == 0)
        ask->waits_ns = (1 + draw(draws, 8)) * SECOND_NS;
    if (ask->op == SM_UNLOCK && handle->locks[lock].to > 0 && draw(draws, 10) > 0) {
        ask->from = handle->locks[lock].from;
        ask->to = handle->locks[lock].to;
    }
    if (ask->op == SM_RENAME)
        ask->path =
            draw(draws, 3) == 0 ? fs_script_known_path(draws) : fs_script_path_in_known(draws);
    if (handle->is_directory && ask->path.depth > 2)
        ask->path.depth = 2; /* no deeper trees than can be asked for */
    if (ask->op == SM_NOTIFY || ask->op == SM_LISTEN || ask->op == SM_STOP)
        draw_watch(draws, client, ask);
    ask->scan = handle->scan;
    ask->restarts = draw(draws, 4) == 0;
    ask->is_single = draw(draws, 2) == 0;
    if (!ask->scan.has_begun || ask->restarts)
        ask->scan = (struct sm_scan){ .pattern = draw(draws, 2) * draw(draws, SM_PATTERNS),
                                      .has_begun = ask->scan.has_begun,
                                      .sure = ~0u };
}

/* What can be done by a directory's handle, and by a file's alone. */
static enum sm_op suited(struct draws *draws, enum sm_op op, const struct held *handle)
{
    static const enum sm_op of_directories[] = { SM_LIST,  SM_LIST,   SM_NOTIFY,
                                                 SM_QUERY, SM_LISTEN, SM_SET_DELETE };
    bool is_of_directories = op == SM_LIST || op == SM_NOTIFY || op == SM_LISTEN || op == SM_STOP;
    bool is_of_files = op == SM_READ || op == SM_WRITE || op == SM_SET_LENGTH || op == SM_FLUSH ||
                       op == SM_LOCK || op == SM_UNLOCK;

    if (handle && handle->is_directory && is_of_files)
        return of_directories[draw(draws, 6)];
    return handle && !handle->is_directory && is_of_directories ? SM_READ : op;
}

static void draw_slots(struct draws *draws, struct sm_ask *ask)
{
    ask->from = draw(draws, FS_SLOTS);
    ask->to = ask->from + 1 + draw(draws, FS_SLOTS - ask->from);
    ask->seed = 1 + draw(draws, 1000000);
    ask->length = draw(draws, FS_SLOTS + 1);
    if (fs_is_large() && draw(draws, 3) == 0)
        ask->length = fs_large_slots();
}

/* By the name that its file has now. False: it is gone, or too deep. */
static bool draw_return(unsigned client, struct sm_ask *ask)
{
    const struct fs_state *state = fs_state_at(world->commits);
    const struct fs_open *open = fs_open_created(state, clients->lost[client].create);
    const struct fs_node *node = open ? fs_node_of(state, open->node) : NULL;
    struct sm_ask back = { .op = SM_RETURN,
                           .handle = clients->lost[client].handle,
                           .key = clients->lost[client].key,
                           .caching = CACHES_R,
                           .is_durable = true,
                           .persists = clients->lost[client].persists,
                           .create = clients->lost[client].create,
                           .disposition = SM_OPEN_THERE,
                           .access = clients->lost[client].access,
                           .share = MAY_RWD };

    if (node && fs_path_of(state, (unsigned)(node - state->nodes), &back.path)) {
        *ask = back;
        sm_return_drawn(client, &back.path);
        return true;
    }
    clients->lost[client] = (struct held){ .key = 0 };
    return false;
}

struct sm_handle sm_script_handle(unsigned client, bool of_other, unsigned random)
{
    for (unsigned i = 0; i < CLIENTS_MAX * HANDLES_MAX; i++) {
        unsigned at = (random + i) % (CLIENTS_MAX * HANDLES_MAX);
        const struct held *one = &clients->known[at / HANDLES_MAX][at % HANDLES_MAX];

        if (one->handle.open > 0 && (at / HANDLES_MAX == client) != of_other)
            return one->handle;
    }
    return (struct sm_handle){ .open = 0 };
}

uint64_t sm_script_create(unsigned client, unsigned random)
{
    for (unsigned i = 0; i < HANDLES_MAX; i++) {
        const struct held *one = &clients->known[client][(random + i) % HANDLES_MAX];

        if (one->handle.open > 0 && one->create > 0)
            return one->create;
    }
    return 0;
}

void sm_script_draw(unsigned client, unsigned number, struct ask *ret_ask)
{
    struct draws draws = draws_of(client, number);
    struct ask ask = { .op = OPS };
    struct sm_ask *smb = &ask.smb;
    const struct held *handle;

    smb->op = (enum sm_op)draw_weighted(&draws, weights, SM_OPS);
    draw_slots(&draws, smb);
    smb->write_through = draw(&draws, 3) == 0;
    handle = draw_handle(&draws, client, access_for(smb->op));
    smb->op = suited(&draws, smb->op, handle);
    /* Locks of a handle that is away go with it: in an order that the model does not know. */
    if (smb->op == SM_LOCK && handle && handle->create > 0 && !handle->persists)
        smb->op = SM_WRITE;
    if (clients->lost[client].handle.open > 0 && find(client, 0) && draw(&draws, 2) == 0 &&
        draw_return(client, smb)) {
        draw_behaviour(&draws, &ask, 40, 30);
        *ret_ask = ask;
        return;
    }
    if (fs_is_late() || (sm_returns_are_met() && (smb->op == SM_QUERY || smb->op == SM_FLUSH)))
        smb->op = SM_HANG_UP;
    if (smb->op == SM_OPEN && !find(client, 0))
        smb->op = SM_CLOSE;
    else if (smb->op != SM_HANG_UP && !handle)
        smb->op = SM_OPEN;
    if (smb->op == SM_OPEN)
        draw_open(&draws, smb, (uint64_t)(client + 1) << 32 | (number + 1));
    else if (smb->op != SM_HANG_UP)
        draw_particular(&draws, client, smb, handle);
    draw_behaviour(&draws, &ask, 40, 30);
    *ret_ask = ask;
}
