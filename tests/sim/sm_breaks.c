/* Breaks that an SMB client is told, and its answers: at once, late, or never. */
#include "sm_link_private.h"

#include "faults.h"
#include "fs_model.h"
#include "sm_script.h"
#include "smb_session/connection_state.h"
#include "world.h"

#define SECOND_NS UINT64_C(1000000000)

bool sm_answers_at_once(void)
{
    return world->plan.seed % 3 == 0;
}

/* One in three takes its time, and some of these never answer. */
static void draw_answer(const struct link *link, struct told_break *told)
{
    uint64_t random = world_mix(world->plan.seed ^ told->key * 7 ^ told->volatile_id ^ link->slot);

    told->due_ns = world->now_ns;
    if (sm_answers_at_once() || random % 3 != 0)
        return;
    told->due_ns = random >> 8 & 1 ? 0 : world->now_ns + (1 + (random >> 16) % 40) * SECOND_NS;
}

/* MS-SMB2 2.2.23.1, 2.2.23.2 */
void link_take_break(struct link *link, struct bytes bytes)
{
    struct told_break told = { .key = 0 };
    bool is_answered = true;
    struct wire_reader r;
    unsigned level;

    wire_reader_init(&r, bytes);
    wire_skip(&r, SMB_HEADER_SIZE);
    if (wire_u16(&r) == 44) {
        wire_skip(&r, 2);
        is_answered = wire_u32(&r) & 1;
        told.key = wire_u64(&r);
        wire_skip(&r, 8 + 4);
        told.keeps = wire_u32(&r);
    } else {
        level = wire_u8(&r);
        wire_skip(&r, 1 + 4);
        told.persistent = wire_u64(&r);
        told.volatile_id = wire_u64(&r);
        told.keeps = level == 1 ? CACHES_R : 0;
        is_answered = !sm_script_reads_only(link->slot, told.volatile_id);
    }
    if (!wire_ok(&r))
        world_fail("a break of an oplock or a lease that is too short");
    draw_answer(link, &told);
    if (is_answered && link->break_count < BREAKS_MAX)
        link->breaks[link->break_count++] = told;
}

static struct told_break *answer_of(struct link *link, uint64_t message_id)
{
    for (unsigned i = 0; i < link->break_count; i++)
        if (link->breaks[i].message_id == message_id && message_id > 0)
            return &link->breaks[i];
    return NULL;
}

const struct fs_open *sm_link_answer(unsigned slot, uint64_t message_id,
                                     const struct fs_state *state, unsigned *ret_keeps)
{
    const struct told_break *told = answer_of(link_at(slot), message_id);

    for (unsigned i = 0; told && i < FS_OPENS; i++) {
        const struct fs_open *open = &state->opens[i];

        *ret_keeps = told->keeps;
        if (open->id > 0 && open->client == slot &&
            (told->key > 0 ? open->key == told->key : open->volatile_id == told->volatile_id))
            return open;
    }
    return NULL;
}

/* MS-SMB2 2.2.24.1, 2.2.24.2 */
static void send_answer(struct link *link, struct told_break *told)
{
    const struct smb_header header = { .credit_charge = 1,
                                       .command = SMB_OPLOCK_BREAK,
                                       .credits = CREDITS,
                                       .message_id = link->next_id,
                                       .session_id = link->session_id,
                                       .tree_id = link->tree_id };
    struct wire_writer w;
    struct text text;

    told->message_id = link->next_id++;
    if (told->key == 0)
        sm_script_keeps(link->slot, told->volatile_id, told->keeps);
    text_init(&text, link->arena, 128);
    wire_writer_init(&w, &text);
    smb_header_write(&w, &header);
    if (told->key > 0) {
        wire_put_u16(&w, 36);
        wire_put_zeros(&w, 2 + 4);
        wire_put_u64(&w, told->key);
        wire_put_zeros(&w, 8);
        wire_put_u32(&w, told->keeps);
        wire_put_zeros(&w, 8);
    } else {
        wire_put_u16(&w, 24);
        wire_put_u8(&w, told->keeps & CACHES_R ? 1 : 0);
        wire_put_zeros(&w, 1 + 4);
        wire_put_u64(&w, told->persistent);
        wire_put_u64(&w, told->volatile_id);
    }
    if (!link->is_cut && !smb_connection_take(link->machine, text_bytes(&text), NULL))
        link->is_cut = true;
}

/* Of an open that the client has not been told of yet. */
static bool is_held(const struct link *link, const struct told_break *told)
{
    return link->channel && !sm_script_knows(link->slot, told->key, told->volatile_id);
}

uint64_t link_answer_breaks(struct link *link)
{
    uint64_t next = 0;

    for (unsigned i = 0; i < link->break_count && !link->is_ending; i++) {
        struct told_break *told = &link->breaks[i];

        if (told->message_id > 0 || told->due_ns == 0 || is_held(link, told))
            continue;
        if (told->due_ns <= world->now_ns)
            send_answer(link, told);
        else if (next == 0 || told->due_ns < next)
            next = told->due_ns;
    }
    return next;
}

/* The answer to its answer: that is right, or the break is over, or the handle closed. */
bool link_take_break_answer(struct link *link, uint64_t message_id, uint32_t status)
{
    struct told_break *told = answer_of(link, message_id);

    if (!told)
        return false;
    if (status != SM_SUCCESS && status != SM_UNSUCCESSFUL && status != SM_INVALID_OPLOCK &&
        status != SM_NAME_NOT_FOUND && status != SM_FILE_CLOSED && !faults_were_seen())
        world_fail("an answer to a break is answered %08X", status);
    *told = link->breaks[--link->break_count];
    return true;
}
