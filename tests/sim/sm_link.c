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
#include "services.h"
#include "sm_ask.h"
#include "smb/connection.h"
#include "smb/smb_private.h"
#include "world.h"

#define FRAME_SIZE   4u
#define ARENA_MAX    ((size_t)64 << 20)
#define MESSAGES_MAX 64u
#define CREDITS      64u /* that are asked for with each request */

struct link {
    struct smb_host host; /* first */
    unsigned slot;
    struct smb_connection *machine; /* NULL: it is not connected */
    bool is_posted, is_cut, has_ended, has_tree;
    struct arena *arena;
    struct sm_message messages[MESSAGES_MAX]; /* that came, and were not taken yet */
    unsigned message_count;
    /* What is sent next. */
    struct text text;
    uint64_t next_id, sent_id;
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
    service = smb_service_new(&options, endpoint->store, endpoint->accounts, endpoint->pool);
}

void sm_link_close(void)
{
    if (service)
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

static void take_message(struct link *link, struct bytes bytes)
{
    struct sm_message *message = &link->messages[link->message_count++];
    struct smb_header header;
    struct wire_reader r;

    if (link->message_count > MESSAGES_MAX)
        world_fail("more than %u messages wait for an SMB client", MESSAGES_MAX);
    wire_reader_init(&r, bytes);
    if (!smb_header_read(&r, &header) || !(header.flags & SMB_FLAG_RESPONSE) ||
        header.next_command > 0)
        world_fail("an SMB answer without its header");
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

static void on_send(struct smb_host *host, struct smb_packet *packet)
{
    struct link *link = link_of(host);

    if (packet->size < FRAME_SIZE || be32_get(packet->bytes) != packet->size - FRAME_SIZE)
        world_fail("a frame of SMB that has another length than it says");
    take_message(link, bytes_of(packet->bytes + FRAME_SIZE, packet->size - FRAME_SIZE));
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
    bool was_woken = true;

    while (was_woken && !link->is_posted)
        was_woken = sched_wait(WAIT_EVENT, link, deadline_ns);
    run(link);
    return was_woken;
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
    link->sent_id = link->next_id;
    link->next_id += charge;
}

uint64_t sm_link_send(unsigned slot)
{
    struct link *link = &links[slot];
    uint64_t id = link->sent_id;

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
    if (link->message_count == 0) { /* nothing is kept from one request to the next */
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
    smb_connection_end(link->machine);
    while (!link->has_ended)
        await(link, 0);
    /* A post that is on its way. */
    smb_connection_free(link->machine);
    arena_free(link->arena);
    link->machine = NULL;
}

unsigned sm_link_slot_of(const struct smb_request *request)
{
    return link_of(request->message->connection->host)->slot;
}
