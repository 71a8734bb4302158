/* See sm_link.h. */
#include "sm_link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "opens/open_record.h"
#include "scheduler.h"
#include "service/server.h"
#include "service/waiting.h"
#include "services.h"
#include "sm_link_private.h"
#include "sm_watch.h"
#include "smb_session/durable_scavenger.h"
#include "smb_session/message.h"
#include "smb_session/service.h"
#include "world.h"

#define FRAME_SIZE 4u
#define FLAGS_AT   16u /* MS-SMB2 2.2.1.2 */

static struct smb_service *service;
static struct link links[CLIENTS_MAX];

struct link *link_at(unsigned slot)
{
    return &links[slot];
}

bool sm_is_client(unsigned slot)
{
    return world->plan.service == SIM_FILE && (world->plan.faults & FAULT_SMB) && slot % 3 != 0;
}

void sm_link_begin_epoch(struct store *store)
{
    if (world->plan.service != SIM_FILE || !(world->plan.faults & FAULT_SMB))
        return;
    open_epoch_record(store, true);
}

void sm_link_open(const struct endpoint *endpoint)
{
    const struct smb_options options = { .allow_unencrypted = true };

    if (world->plan.service != SIM_FILE || !(world->plan.faults & FAULT_SMB))
        return;
    if (!waiters_start())
        world_fail("the thread of those who wait does not start");
    service = smb_service_new(&options, endpoint->store, endpoint->accounts, endpoint->pool);
    if (!scavenger_start(service->scavenger))
        world_fail("the thread of handles that are kept does not start");
}

void sm_link_close(void)
{
    if (!service)
        return;
    waiters_stop();
    smb_service_free(service);
    service = NULL;
}

/* ---- the machine's host: this client's thread ---- */

static struct link *link_of(const struct smb_host *host)
{
    return (struct link *)(uintptr_t)host;
}

/* The client's thread sleeps by it. */
static struct link *home_of(struct link *link)
{
    return link->home ? link->home : link;
}

/* From any thread. */
static void on_post(struct smb_host *host)
{
    struct link *link = link_of(host);

    link->is_posted = true;
    sched_wake(WAIT_EVENT, home_of(link), 1);
}

static void on_authenticated(struct smb_host *host, const struct account *account)
{
    (void)host;
    (void)account;
}

static const void *on_place(const struct smb_host *host)
{
    return home_of(link_of(host));
}

static void on_move(struct smb_host *host, const void *place)
{
    (void)host;
    (void)place;
    world_fail("an SMB connection is moved, and its session is of its own thread");
}

static void on_ended(struct smb_host *host)
{
    link_of(host)->has_ended = true;
}

static void take_message(struct link *link, struct bytes bytes)
{
    struct sm_message came;
    struct smb_header header;
    struct wire_reader r;

    if (link->message_count == MESSAGES_MAX)
        world_fail("more than %u messages wait for an SMB client", MESSAGES_MAX);
    wire_reader_init(&r, bytes);
    if (!smb_header_read(&r, &header) || !(header.flags & SMB_FLAG_RESPONSE))
        world_fail("an SMB answer without its header");
    if (header.command == SMB_OPLOCK_BREAK && header.message_id == UINT64_MAX) {
        link_take_break(home_of(link), bytes);
        return;
    }
    if (header.command == SMB_OPLOCK_BREAK &&
        link_take_break_answer(link, header.message_id, header.status))
        return;
    came = (struct sm_message){ .command = header.command,
                                .status = header.status,
                                .tree_id = header.tree_id,
                                .message_id = header.message_id,
                                .session_id = header.session_id,
                                .async_id = header.async_id,
                                .bytes = (const unsigned char *)bytes.ptr,
                                .size = bytes.len };
    if (header.command == SMB_CHANGE_NOTIFY) {
        sm_watch_told(link->slot, &came);
        return;
    }
    bytes = arena_copy(link->arena, bytes);
    came.bytes = (const unsigned char *)bytes.ptr;
    link->messages[link->message_count++] = came;
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

/* Until something may have come, by the link or its channel; false: the deadline (0: none) came first. */
static bool await(struct link *of, uint64_t deadline_ns)
{
    struct link *link = home_of(of);

    for (;;) {
        uint64_t due = link_answer_breaks(link);

        if (link->is_posted || (link->channel && link->channel->is_posted)) {
            run(link);
            if (link->channel)
                run(link->channel);
            (void)link_answer_breaks(link);
            return true;
        }
        if (deadline_ns > 0 && world->now_ns >= deadline_ns)
            return false;
        (void)sched_wait(WAIT_EVENT, link,
                         due > 0 && (deadline_ns == 0 || due < deadline_ns) ? due : deadline_ns);
    }
}

/* ---- messages ---- */

void link_write(struct link *link, uint16_t command, unsigned charge,
                struct wire_writer *ret_writer)
{
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

void sm_link_write(unsigned slot, uint16_t command, unsigned charge, struct wire_writer *ret_writer)
{
    link_write(&links[slot], command, charge, ret_writer);
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

void sm_link_replays(unsigned slot)
{
    struct wire_writer all = { .out = &links[slot].text, .start = 0 };

    wire_set_u32(&all, FLAGS_AT, SMB_FLAG_REPLAY);
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

uint64_t link_send(struct link *link)
{
    uint64_t id = link->sent_ids[0];

    sched_point();
    if (!link->is_cut && !smb_connection_take(link->machine, text_bytes(&link->text), NULL))
        link->is_cut = true;
    run(link);
    return id;
}

uint64_t sm_link_send(unsigned slot)
{
    return link_send(&links[slot]);
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

static bool receive(struct link *link, uint64_t message_id, struct sm_message *ret_message)
{
    while (!take_answer(link, message_id, ret_message)) {
        if (link->is_cut)
            return false;
        await(link, 0);
    }
    return true;
}

bool sm_link_receive(unsigned slot, uint64_t message_id, struct sm_message *ret_message)
{
    return receive(&links[slot], message_id, ret_message);
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

uint64_t sm_link_async_id(unsigned slot, uint64_t message_id)
{
    const struct link *link = &links[slot];

    for (unsigned i = 0; i < link->message_count; i++)
        if (link->messages[i].message_id == message_id)
            return link->messages[i].async_id;
    return 0;
}

/* MS-SMB2 2.2.30: by the id of the interim answer. */
void sm_link_cancel(unsigned slot, uint64_t message_id, uint64_t async_id)
{
    struct link *link = &links[slot];
    struct smb_header header = { .command = SMB_CANCEL,
                                 .flags = SMB_FLAG_ASYNC,
                                 .message_id = message_id,
                                 .session_id = link->session_id,
                                 .async_id = async_id };
    struct wire_writer w;

    text_init(&link->text, link->arena, 100);
    wire_writer_init(&w, &link->text);
    smb_header_write(&w, &header);
    wire_put_u16(&w, 4);
    wire_put_u16(&w, 0);
    (void)sm_link_send(slot);
}

bool sm_link_await(unsigned slot)
{
    struct link *link = &links[slot];

    if (!link->is_cut)
        await(link, 0);
    return !link->is_cut;
}

bool link_ask(struct link *link, struct sm_message *ret_message)
{
    return receive(link, link_send(link), ret_message);
}

void sm_link_sleep(unsigned slot, uint64_t ns)
{
    struct link *link = &links[slot];
    uint64_t deadline = world->now_ns + ns;

    while (world->now_ns < deadline && await(link, deadline))
        continue;
}

/* ---- beginning and end ---- */

void link_begin(struct link *link, unsigned slot)
{
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
}

bool sm_link_begin(unsigned slot, uint32_t *ret_status)
{
    struct link *link = &links[slot];

    *ret_status = SM_SUCCESS;
    if (link->machine && link->is_cut)
        sm_link_end(slot);
    if (!link->machine) {
        link_begin(link, slot);
        link_log_on(link);
    }
    if (link->message_count == 0 &&
        link->break_count == 0) { /* nothing is kept from one request to the next */
        arena_free(link->arena);
        link->arena = arena_new(ARENA_MAX);
    }
    if (!link->has_tree)
        link->has_tree = link_connect_tree(link, ret_status);
    return link->has_tree;
}

bool sm_link_is_there(unsigned slot)
{
    return links[slot].machine != NULL;
}

void link_cut(struct link *link)
{
    link->is_ending = true;
    smb_connection_end(link->machine);
}

void link_free(struct link *link)
{
    while (!link->has_ended)
        await(link, 0);
    /* A post that is on its way. */
    smb_connection_free(link->machine);
    arena_free(link->arena);
    link->machine = NULL;
    link->is_posted = false;
}

void sm_link_end(unsigned slot)
{
    struct link *link = &links[slot];

    if (!link->machine)
        return;
    sm_watch_end(slot, 0);
    link_cut(link);
    link_free(link);
}

unsigned sm_link_slot_of(const struct smb_request *request)
{
    return link_of(request->message->connection->host)->slot;
}

bool sm_link_is_channel(const struct smb_request *request)
{
    return link_of(request->message->connection->host)->home != NULL;
}
