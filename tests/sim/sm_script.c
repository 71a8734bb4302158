/* See sm_script.h. */
#include "sm_script.h"

#include <string.h>

#include "draws.h"
#include "fs_script.h"
#include "world.h"

#define HANDLES_MAX 3u

static struct known {
    struct sm_handle handle; /* open 0: free */
    unsigned access;
    bool has_written;
} known[CLIENTS_MAX][HANDLES_MAX];

void sm_script_begin_life(void)
{
    memset(known, 0, sizeof known);
}

static struct known *find(unsigned client, uint64_t open)
{
    for (unsigned i = 0; i < HANDLES_MAX; i++)
        if (known[client][i].handle.open == open)
            return &known[client][i];
    return NULL;
}

bool sm_script_has_written(unsigned client, uint64_t open)
{
    const struct known *one = find(client, open);

    return one && one->has_written;
}

void sm_script_answered(unsigned client, const struct sm_ask *ask, const struct reply *answer,
                        uint64_t open)
{
    struct known *one = ask->handle.open > 0 ? find(client, ask->handle.open) : find(client, 0);
    uint32_t status = answer->smb.status;

    if (!answer->came || ask->op == SM_HANG_UP) {
        memset(known[client], 0, sizeof known[client]);
        return;
    }
    if (ask->op == SM_OPEN && status == SM_SUCCESS && one)
        *one = (struct known){ .handle = { .open = open,
                                           .persistent = answer->smb.persistent,
                                           .volatile_id = answer->smb.volatile_id },
                               .access = ask->access };
    if (ask->op == SM_WRITE && status == SM_SUCCESS && one)
        one->has_written = true;
    if ((ask->op == SM_CLOSE || status == SM_FILE_CLOSED) && one)
        *one = (struct known){ .access = 0 };
}

/* ---- draws ---- */

static const unsigned weights[SM_OPS] = {
    [SM_OPEN] = 14, [SM_READ] = 14, [SM_WRITE] = 18,  [SM_SET_LENGTH] = 4,
    [SM_FLUSH] = 4, [SM_CLOSE] = 9, [SM_HANG_UP] = 1,
};

static enum sm_op draw_op(struct draws *draws)
{
    unsigned total = 0, at;

    for (unsigned i = 0; i < SM_OPS; i++)
        total += weights[i];
    at = draw(draws, total);
    for (unsigned i = 0; i < SM_OPS; i++) {
        if (at < weights[i])
            return (enum sm_op)i;
        at -= weights[i];
    }
    return SM_OPEN;
}

/* One that can do it, most often. */
static const struct known *draw_handle(struct draws *draws, unsigned client, unsigned access)
{
    const struct known *found = NULL;
    unsigned first = draw(draws, HANDLES_MAX);
    bool any = draw(draws, 10) == 0;

    for (unsigned i = 0; i < HANDLES_MAX; i++) {
        const struct known *one = &known[client][(first + i) % HANDLES_MAX];

        if (one->handle.open > 0 && (!found || (!any && (access & ~found->access) != 0)))
            found = one;
    }
    return found;
}

/* What does not stand in the way of most others, most often. */
static void draw_open(struct draws *draws, struct sm_ask *ask)
{
    static const unsigned accesses[] = { MAY_R, MAY_R | MAY_W, MAY_RWD, MAY_R | MAY_W };
    static const enum sm_disposition likely[] = { SM_OPEN_THERE, SM_OPEN_THERE, SM_OPEN_IF,
                                                  SM_OPEN_IF };

    ask->path = draw(draws, 4) == 0 ? fs_script_new_path(draws) : fs_script_known_path(draws);
    ask->access = draw(draws, 3) == 0 ? draw(draws, 8) : accesses[draw(draws, 4)];
    ask->share = draw(draws, 3) == 0 ? draw(draws, 8) : MAY_RWD;
    ask->disposition = draw(draws, 2) == 0 ? (enum sm_disposition)draw(draws, SM_DISPOSITIONS)
                                           : likely[draw(draws, 4)];
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

void sm_script_draw(unsigned client, unsigned number, struct ask *ret_ask)
{
    struct draws draws = draws_of(client, number);
    struct ask ask = { .op = OPS };
    struct sm_ask *smb = &ask.smb;
    const struct known *handle;

    smb->op = draw_op(&draws);
    draw_slots(&draws, smb);
    smb->write_through = draw(&draws, 3) == 0;
    handle = draw_handle(&draws, client,
                         smb->op == SM_READ    ? MAY_R
                         : smb->op == SM_CLOSE ? 0
                                               : MAY_W);
    if (smb->op == SM_OPEN && !find(client, 0))
        smb->op = SM_CLOSE;
    else if (smb->op != SM_HANG_UP && !handle)
        smb->op = SM_OPEN;
    if (smb->op == SM_OPEN)
        draw_open(&draws, smb);
    else if (smb->op != SM_HANG_UP)
        smb->handle = handle->handle;
    draw_behaviour(&draws, &ask, 40, 30);
    *ret_ask = ask;
}
