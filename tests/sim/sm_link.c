/* See sm_link.h. */
#include "sm_link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/smb/initiator.h"
#include "auth/auth.h"
#include "base/endian.h"
#include "faults.h"
#include "file/open_record.h"
#include "scheduler.h"
#include "service/server.h"
#include "service/waiting.h"
#include "fs_model.h"
#include "services.h"
#include "sm_script.h"
#include "sm_ask.h"
#include "smb/connection.h"
#include "smb/kept.h"
#include "smb/message.h"
#include "smb/service.h"
#include "world.h"

#define FRAME_SIZE   4u
#define NEXT_AT      20u /* NextCommand. MS-SMB2 2.2.1.2 */
#define ARENA_MAX    ((size_t)64 << 20)
#define MESSAGES_MAX 64u
#define BREAKS_MAX   64u
#define SECOND_NS    UINT64_C(1000000000)
#define CREDITS      64u /* that are asked for with each request */

/* A break that the server has told, and the client's answer. */
struct told_break {
    uint64_t key; /* of a lease; 0: an oplock */
    uint64_t persistent, volatile_id;
    unsigned keeps;
    uint64_t due_ns;     /* 0: never */
    uint64_t message_id; /* of the answer; 0: not sent yet */
};

struct link {
    struct smb_host host; /* first */
    unsigned slot;
    struct smb_connection *machine; /* NULL: it is not connected */
    bool is_posted, is_cut, is_ending, has_ended, has_tree;
    struct arena *arena;
    struct sm_message messages[MESSAGES_MAX]; /* that came, and were not taken yet */
    unsigned message_count;
    struct told_break breaks[BREAKS_MAX];
    unsigned break_count;
    /* What is sent next. */
    struct text text;
    uint64_t next_id, sent_ids[SM_PARTS];
    unsigned sent_count;
    size_t last_at; /* where the last message of the frame begins */
    /* What the server has said. */
    uint64_t session_id;
    uint32_t tree_id;
};

static struct smb_service *service;
static struct link links[CLIENTS_MAX];

bool sm_is_client(unsigned slot)
{
    return world->plan.service == SIM_FILE && (world->plan.faults & FAULT_SMB) && slot % 3 != 0;
}

void sm_link_open(const struct endpoint *endpoint)
{
    const struct smb_options options = { .allow_unencrypted = true };

    if (world->plan.service != SIM_FILE || !(world->plan.faults & FAULT_SMB))
        return;
    open_epoch_begin();
    if (!waiting_start())
        world_fail("the thread of those who wait does not start");
    service = smb_service_new(&options, endpoint->store, endpoint->accounts, endpoint->pool);
}

void sm_link_close_away(void)
{
    if (service)
        kept_close_overdue(service->kept, clock_now());
}

void sm_link_close(void)
{
    if (!service)
        return;
    waiting_stop();
    smb_service_free(service);
    service = NULL;
}

/* ---- the machine's host: this client's thread ---- */

static struct link *link_of(const struct smb_host *host)
{
    return (struct link *)(uintptr_t)host;
}

/* From any thread. */
static void on_post(struct smb_host *host)
{
    struct link *link = link_of(host);

    link->is_posted = true;
    sched_wake(WAIT_EVENT, link, 1);
}

static void on_authenticated(struct smb_host *host)
{
    (void)host;
}

static const void *on_place(const struct smb_host *host)
{
    return host;
}

static void on_move(struct smb_host *host, const void *place)
{
    (void)host;
    (void)place;
    world_fail("an SMB connection is moved, and has a session of its own alone");
}

static void on_ended(struct smb_host *host)
{
    link_of(host)->has_ended = true;
}

/* ---- breaks ---- */

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
static void take_break(struct link *link, const struct bytes *bytes)
{
    struct told_break told = { .key = 0 };
    bool is_answered = true;
    struct wire_reader r;
    unsigned level;

    wire_reader_init(&r, *bytes);
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
    const struct told_break *told = answer_of(&links[slot], message_id);

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

/* Answers what is due. Returns when the next one is; 0: none is. */
static uint64_t answer_breaks(struct link *link)
{
    uint64_t next = 0;

    for (unsigned i = 0; i < link->break_count && !link->is_ending; i++) {
        struct told_break *told = &link->breaks[i];

        if (told->message_id > 0 || told->due_ns == 0)
            continue;
        if (told->due_ns <= world->now_ns)
            send_answer(link, told);
        else if (next == 0 || told->due_ns < next)
            next = told->due_ns;
    }
    return next;
}

/* The answer to its answer: that is right, or the break is over, or the handle closed. */
static void end_break(struct link *link, struct told_break *told, uint32_t status)
{
    if (status != SM_SUCCESS && status != SM_UNSUCCESSFUL && status != SM_INVALID_OPLOCK &&
        status != SM_NAME_NOT_FOUND && status != SM_FILE_CLOSED && !faults_were_seen())
        world_fail("an answer to a break is answered %08X", status);
    *told = link->breaks[--link->break_count];
}

static void take_message(struct link *link, struct bytes bytes)
{
    struct sm_message *message = &link->messages[link->message_count];
    struct smb_header header;
    struct wire_reader r;

    if (link->message_count == MESSAGES_MAX)
        world_fail("more than %u messages wait for an SMB client", MESSAGES_MAX);
    wire_reader_init(&r, bytes);
    if (!smb_header_read(&r, &header) || !(header.flags & SMB_FLAG_RESPONSE))
        world_fail("an SMB answer without its header");
    if (header.command == SMB_OPLOCK_BREAK && header.message_id == UINT64_MAX) {
        take_break(link, &bytes);
        return;
    }
    if (header.command == SMB_OPLOCK_BREAK && answer_of(link, header.message_id)) {
        end_break(link, answer_of(link, header.message_id), header.status);
        return;
    }
    link->message_count++;
    bytes = arena_copy(link->arena, bytes);
    *message = (struct sm_message){ .command = header.command,
                                    .status = header.status,
                                    .tree_id = header.tree_id,
                                    .message_id = header.message_id,
                                    .session_id = header.session_id,
                                    .async_id = header.async_id,
                                    .bytes = (const unsigned char *)bytes.ptr,
                                    .size = bytes.len };
}

static void take_frame(struct link *link, struct bytes frame)
{
    uint32_t next;

    do {
        next = frame.len < SMB_HEADER_SIZE ? 0 : le32_get(frame.ptr + NEXT_AT);
        if (next % 8 != 0 || next > frame.len)
            world_fail("the next message of a frame is said to begin at %u of %zu bytes", next,
                       frame.len);
        take_message(link, next > 0 ? bytes_of(frame.ptr, next) : frame);
        frame = bytes_from(frame, next);
    } while (next > 0);
}

static void on_send(struct smb_host *host, struct smb_packet *packet)
{
    struct link *link = link_of(host);

    if (packet->size < FRAME_SIZE || be32_get(packet->bytes) != packet->size - FRAME_SIZE)
        world_fail("a frame of SMB that has another length than it says");
    take_frame(link, bytes_of(packet->bytes + FRAME_SIZE, packet->size - FRAME_SIZE));
    smb_connection_sent(link->machine, packet->size);
    smb_packet_free(packet);
}

/* Runs the machine as often as it was posted. */
static void run(struct link *link)
{
    while (link->is_posted) {
        link->is_posted = false;
        sched_point();
        if (!smb_connection_run(link->machine))
            link->is_cut = true;
    }
}

/* Until something may have come; false: the deadline (0: none) came first. */
static bool await(struct link *link, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t due = answer_breaks(link);

        if (link->is_posted) {
            run(link);
            (void)answer_breaks(link);
            return true;
        }
        if (deadline_ns > 0 && world->now_ns >= deadline_ns)
            return false;
        (void)sched_wait(WAIT_EVENT, link,
                         due > 0 && (deadline_ns == 0 || due < deadline_ns) ? due : deadline_ns);
    }
}

/* ---- messages ---- */

void sm_link_write(unsigned slot, uint16_t command, unsigned charge, struct wire_writer *ret_writer)
{
    struct link *link = &links[slot];
    const struct smb_header header = {
        .credit_charge = (uint16_t)charge,
        .command = command,
        .credits = CREDITS,
        .message_id = link->next_id,
        .session_id = link->session_id,
        .tree_id = link->tree_id,
    };

    text_init(&link->text, link->arena, 256);
    wire_writer_init(ret_writer, &link->text);
    smb_header_write(ret_writer, &header);
    link->last_at = 0;
    link->sent_count = 1;
    link->sent_ids[0] = link->next_id;
    link->next_id += charge;
}

void sm_link_write_related(unsigned slot, uint16_t command, unsigned charge,
                           struct wire_writer *ret_writer)
{
    struct link *link = &links[slot];
    const struct smb_header header = {
        .credit_charge = (uint16_t)charge,
        .command = command,
        .credits = CREDITS,
        .flags = SMB_FLAG_RELATED,
        .message_id = link->next_id,
        .session_id = UINT64_MAX,
        .tree_id = UINT32_MAX,
    };
    struct wire_writer all = { .out = &link->text, .start = 0 };

    wire_put_padding(&all, 8);
    wire_set_u32(&all, link->last_at + NEXT_AT, (uint32_t)(link->text.len - link->last_at));
    link->last_at = link->text.len;
    wire_writer_init(ret_writer, &link->text);
    smb_header_write(ret_writer, &header);
    link->sent_ids[link->sent_count++] = link->next_id;
    link->next_id += charge;
}

uint64_t sm_link_id_of(unsigned slot, unsigned part)
{
    return links[slot].sent_ids[part];
}

unsigned sm_link_part_of(unsigned slot, uint64_t message_id)
{
    unsigned part = links[slot].sent_count - 1;

    while (part > 0 && links[slot].sent_ids[part] != message_id)
        part--;
    return part;
}

uint64_t sm_link_send(unsigned slot)
{
    struct link *link = &links[slot];
    uint64_t id = link->sent_ids[0];

    sched_point();
    if (!link->is_cut && !smb_connection_take(link->machine, text_bytes(&link->text), NULL))
        link->is_cut = true;
    run(link);
    return id;
}

/* With its interim answer. */
static void forget(struct link *link, uint64_t message_id)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < link->message_count; i++)
        if (link->messages[i].message_id != message_id)
            link->messages[kept++] = link->messages[i];
    link->message_count = kept;
}

static bool take_answer(struct link *link, uint64_t message_id, struct sm_message *ret_message)
{
    for (unsigned i = 0; i < link->message_count; i++) {
        if (link->messages[i].message_id != message_id || link->messages[i].status == SM_PENDING)
            continue;
        *ret_message = link->messages[i];
        forget(link, message_id);
        return true;
    }
    return false;
}

bool sm_link_receive(unsigned slot, uint64_t message_id, struct sm_message *ret_message)
{
    struct link *link = &links[slot];

    while (!take_answer(link, message_id, ret_message)) {
        if (link->is_cut)
            return false;
        await(link, 0);
    }
    return true;
}

bool sm_link_receive_within(unsigned slot, uint64_t message_id, uint64_t ns,
                            struct sm_message *ret_message)
{
    struct link *link = &links[slot];
    uint64_t deadline = world->now_ns + ns;

    for (;;) {
        if (take_answer(link, message_id, ret_message))
            return true;
        if (link->is_cut || world->now_ns >= deadline)
            return false;
        await(link, deadline);
    }
}

/* MS-SMB2 2.2.30: by the id of the interim answer. */
void sm_link_cancel(unsigned slot, uint64_t message_id)
{
    struct link *link = &links[slot];
    struct smb_header header = { .command = SMB_CANCEL,
                                 .flags = SMB_FLAG_ASYNC,
                                 .message_id = message_id,
                                 .session_id = link->session_id };
    struct wire_writer w;

    for (unsigned i = 0; i < link->message_count; i++)
        if (link->messages[i].message_id == message_id)
            header.async_id = link->messages[i].async_id;
    text_init(&link->text, link->arena, 100);
    wire_writer_init(&w, &link->text);
    smb_header_write(&w, &header);
    wire_put_u16(&w, 4);
    wire_put_u16(&w, 0);
    (void)sm_link_send(slot);
}

static bool ask(unsigned slot, struct sm_message *ret_message)
{
    return sm_link_receive(slot, sm_link_send(slot), ret_message);
}

void sm_link_sleep(unsigned slot, uint64_t ns)
{
    struct link *link = &links[slot];
    uint64_t deadline = world->now_ns + ns;

    while (world->now_ns < deadline && await(link, deadline))
        continue;
}

/* ---- the beginning ---- */

static bool negotiate(unsigned slot)
{
    struct guid guid = { { (uint8_t)(slot + 1), 2, 3 } };
    struct sm_message answer;
    struct wire_writer w;

    sm_link_write(slot, SMB_NEGOTIATE, 1, &w);
    wire_put_u16(&w, 36);
    wire_put_u16(&w, 1);
    wire_put_u16(&w, 1); /* SIGNING_ENABLED */
    wire_put_u16(&w, 0);
    wire_put_u32(&w, 0x7F);
    wire_put_guid(&w, &guid);
    wire_put_zeros(&w, 8);
    wire_put_u16(&w, SMB_302);
    return ask(slot, &answer) && answer.status == SM_SUCCESS;
}

static bool set_up(unsigned slot, struct bytes token, struct sm_message *ret_answer)
{
    struct wire_writer w;

    sm_link_write(slot, SMB_SESSION_SETUP, 1, &w);
    wire_put_u16(&w, 25);
    wire_put_zeros(&w, 1 + 1 + 4 + 4);
    wire_put_u16(&w, SMB_HEADER_SIZE + 24);
    wire_put_u16(&w, (uint16_t)token.len);
    wire_put_u64(&w, 0);
    wire_put(&w, token);
    return ask(slot, ret_answer);
}

static struct bytes token_of(const struct sm_message *message)
{
    struct wire_reader r;
    uint16_t at, size;

    wire_reader_init(&r, bytes_of(message->bytes, message->size));
    wire_skip(&r, SMB_HEADER_SIZE + 4);
    at = wire_u16(&r);
    size = wire_u16(&r);
    return wire_buffer(&r, at, size, SMB_HEADER_SIZE + 8);
}

static bool log_on(unsigned slot)
{
    struct link *link = &links[slot];
    struct initiator initiator = { .user = DEVELOPMENT_ACCOUNT,
                                   .domain = "AZURE",
                                   .password = request_account_key };
    struct sm_message answer;

    if (!set_up(slot, initiator_begin(&initiator, link->arena), &answer) ||
        answer.status != SM_MORE_PROCESSING)
        return false;
    link->session_id = answer.session_id;
    return set_up(slot, initiator_answer(&initiator, link->arena, token_of(&answer)), &answer) &&
           answer.status == SM_SUCCESS;
}

static bool connect_tree(unsigned slot, uint32_t *ret_status)
{
    static const char path[] = "\\\\server\\" FS_SHARE;
    struct link *link = &links[slot];
    struct sm_message answer;
    struct wire_writer w;

    sm_link_write(slot, SMB_TREE_CONNECT, 1, &w);
    wire_put_u16(&w, 9);
    wire_put_u16(&w, 0);
    wire_put_u16(&w, SMB_HEADER_SIZE + 8);
    wire_put_u16(&w, (uint16_t)(2 * (sizeof path - 1)));
    wire_put_utf16(&w, bytes_of(path, sizeof path - 1));
    *ret_status = SM_IO_ERROR;
    if (!ask(slot, &answer))
        return false;
    *ret_status = answer.status;
    link->tree_id = answer.tree_id;
    return answer.status == SM_SUCCESS;
}

static void begin(unsigned slot)
{
    struct link *link = &links[slot];

    *link = (struct link){
        .host = { .send = on_send,
                  .post = on_post,
                  .authenticated = on_authenticated,
                  .place = on_place,
                  .move = on_move,
                  .ended = on_ended },
        .slot = slot,
        .arena = arena_new(ARENA_MAX),
    };
    link->host.address[15] = (uint8_t)(slot + 1);
    link->machine = smb_connection_new(service, &link->host, bytes_from_string("192.0.2.7:50000"));
    if (!negotiate(slot) || !log_on(slot))
        world_fail("an SMB client cannot log on");
}

bool sm_link_begin(unsigned slot, uint32_t *ret_status)
{
    struct link *link = &links[slot];

    *ret_status = SM_SUCCESS;
    if (link->machine && link->is_cut)
        sm_link_end(slot);
    if (!link->machine)
        begin(slot);
    if (link->message_count == 0 &&
        link->break_count == 0) { /* nothing is kept from one request to the next */
        arena_free(link->arena);
        link->arena = arena_new(ARENA_MAX);
    }
    if (!link->has_tree)
        link->has_tree = connect_tree(slot, ret_status);
    return link->has_tree;
}

bool sm_link_is_there(unsigned slot)
{
    return links[slot].machine != NULL;
}

void sm_link_end(unsigned slot)
{
    struct link *link = &links[slot];

    if (!link->machine)
        return;
    link->is_ending = true;
    smb_connection_end(link->machine);
    while (!link->has_ended)
        await(link, 0);
    /* A post that is on its way. */
    smb_connection_free(link->machine);
    arena_free(link->arena);
    link->machine = NULL;
    link->is_posted = false;
}

unsigned sm_link_slot_of(const struct smb_request *request)
{
    return link_of(request->message->connection->host)->slot;
}
