/* See sm_request.h. MS-SMB2 2.2.13 to 2.2.40 */
#include "sm_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler.h"
#include "sm_lies.h"
#include "sm_link.h"
#include "sm_forms.h"
#include "sm_list.h"
#include "sm_watch.h"
#include "smb_protocol/wire.h"
#include "world.h"

#define CREDIT_BYTES 65536u

/* ---- what comes ---- */

/* What its lease, or else its oplock, is. */
static unsigned caching_of(const struct sm_message *message, uint8_t level)
{
    const unsigned char *lease = memmem(message->bytes, message->size, "RqLs", 4);
    struct wire_reader r;

    if (level != 0xFF)
        return level == 0x09   ? CACHES_ALL
               : level == 0x08 ? CACHES_R | CACHES_W
               : level == 0x01 ? CACHES_R
                               : 0;
    if (!lease)
        world_fail("an open is given a lease without its state");
    wire_reader_init(&r, bytes_of(lease, message->size - (size_t)(lease - message->bytes)));
    wire_skip(&r, 8 + 16);
    return wire_u32(&r);
}

static void read_open(struct wire_reader *r, const struct sm_message *message,
                      struct sm_reply *reply)
{
    wire_skip(r, 2);
    reply->caching = caching_of(message, wire_u8(r));
    wire_skip(r, 1);
    reply->action = wire_u32(r);
    wire_skip(r, 4 * 8 + 8);
    reply->length = wire_u64(r);
    wire_skip(r, 4 + 4);
    reply->persistent = wire_u64(r);
    reply->volatile_id = wire_u64(r);
}

static void read_bytes(struct wire_reader *r, struct reply *answer)
{
    struct bytes bytes;
    uint32_t size;
    uint8_t at;

    wire_skip(r, 2);
    at = wire_u8(r);
    wire_skip(r, 1);
    size = wire_u32(r);
    bytes = wire_buffer(r, at, size, SMB_HEADER_SIZE + 16);
    answer->body = malloc(size + 1);
    answer->body_size = answer->length = bytes.len;
    if (bytes.len > 0)
        memcpy(answer->body, bytes.ptr, bytes.len);
}

static void read_query(struct wire_reader *r, struct sm_reply *reply)
{
    struct wire_reader info;
    struct bytes bytes;
    uint16_t at;

    wire_skip(r, 2);
    at = wire_u16(r);
    bytes = wire_buffer(r, at, wire_u32(r), SMB_HEADER_SIZE + 8);
    wire_reader_init(&info, bytes);
    wire_skip(&info, 8);
    reply->length = wire_u64(&info);
    wire_skip(&info, 4);
    reply->is_delete_pending = wire_u8(&info);
    if (!wire_ok(&info))
        world_fail("a FileStandardInformation of %zu bytes", bytes.len);
}

static void read_answer(const struct sm_ask *ask, const struct sm_message *message,
                        struct reply *answer)
{
    struct wire_reader r;

    wire_reader_init(&r, bytes_of(message->bytes, message->size));
    wire_skip(&r, SMB_HEADER_SIZE);
    answer->came = true;
    answer->smb.status = message->status;
    if (message->status != SM_SUCCESS)
        return;
    if (ask->op == SM_OPEN || ask->op == SM_RETURN)
        read_open(&r, message, &answer->smb);
    if (ask->op == SM_READ)
        read_bytes(&r, answer);
    if (ask->op == SM_QUERY)
        read_query(&r, &answer->smb);
    if (ask->op == SM_LIST)
        sm_list_read(&r, &answer->smb);
    if (!wire_ok(&r))
        world_fail("an answer of SMB is shorter than its body: command %u", message->command);
}

/* False: the connection was cut. */
static bool receive(unsigned slot, const struct sm_ask *ask, struct sm_message *ret_message)
{
    uint64_t id = sm_link_send(slot);

    if (ask->op == SM_LOCK && ask->waits_ns > 0) {
        if (sm_link_receive_within(slot, id, ask->waits_ns, ret_message))
            return true;
        sm_link_cancel(slot, id, sm_link_async_id(slot, id));
    }
    return sm_link_receive(slot, id, ret_message);
}

static unsigned charge_of(const struct sm_ask *ask)
{
    size_t bytes = ask->to > ask->from ? (ask->to - ask->from) * fs_slot_bytes() : 1;

    return (unsigned)((bytes + CREDIT_BYTES - 1) / CREDIT_BYTES);
}

/* Whoever asks by the handle of an open in the same frame says none. */
static const struct sm_handle of_frame = { .persistent = UINT64_MAX, .volatile_id = UINT64_MAX };

struct sm_ask sm_part(const struct sm_ask *ask, unsigned part, const struct sm_handle *handle)
{
    struct sm_ask of = *ask;

    of.then_count = 0;
    if (part == 0)
        return of;
    of.op = ask->then[part - 1];
    of.handle = *handle;
    of.deletes = of.op == SM_SET_DELETE;
    return of;
}

static void write_all(unsigned slot, const struct sm_ask *ask)
{
    struct wire_writer w;

    sm_link_write(slot, sm_form_command(ask->op), charge_of(ask), &w);
    sm_form_put(&w, ask);
    for (unsigned i = 1; i <= ask->then_count; i++) {
        const struct sm_ask of = sm_part(ask, i, &of_frame);

        sm_link_write_related(slot, sm_form_command(of.op), charge_of(&of), &w);
        sm_form_put(&w, &of);
    }
}

/* What is told of the open, and of the others whatever they tell. */
static void receive_all(unsigned slot, const struct sm_ask *ask, struct reply *answer)
{
    struct sm_message message;
    uint32_t status;

    if (!receive(slot, ask, &message))
        return;
    read_answer(ask, &message, answer);
    answer->smb.statuses[0] = status = answer->smb.status;
    for (unsigned i = 1; i <= ask->then_count; i++) {
        const struct sm_ask of = sm_part(ask, i, &of_frame);

        answer->came = sm_link_receive(slot, sm_link_id_of(slot, i), &message);
        if (!answer->came)
            return;
        read_answer(&of, &message, answer);
        answer->smb.statuses[i] = answer->smb.status;
    }
    answer->smb.status = status;
}

/* ---- an open that is sent twice ---- */

#define AGAIN_MAX 1000u /* times: others may be waited for as long */
#define AGAIN_NS  (100 * UINT64_C(1000000))

/* By a connection that is lost, perhaps before it was answered. */
static void open_by_channel(unsigned slot, const struct sm_ask *ask)
{
    struct wire_writer w;

    sm_channel_write(slot, SMB_CREATE, &w);
    sm_form_put(&w, ask);
    sm_channel_send(slot);
    sm_link_sleep(slot, ask->waits_ns);
    sm_channel_cut(slot);
}

/* MS-SMB2 3.2.7.1: once more by another one of the session, until it is not in work any more. */
static void open_again(unsigned slot, const struct sm_ask *ask, struct reply *answer)
{
    unsigned times = 0;
    bool is_open = sm_channel_begin(slot);

    if (is_open)
        open_by_channel(slot, ask);
    do {
        if (times++ > 0)
            sm_link_sleep(slot, AGAIN_NS);
        write_all(slot, ask);
        sm_link_replays(slot);
        receive_all(slot, ask, answer);
    } while (answer->came && answer->smb.status == SM_NOT_AVAILABLE && times < AGAIN_MAX);
    if (is_open)
        sm_channel_end(slot);
}

/* ---- watches ---- */

/* It goes on when the request waits, or was answered. False: the connection was cut. */
static bool ask_for_changes(unsigned slot, const struct sm_ask *ask, uint32_t *ret_status)
{
    struct wire_writer w;
    uint64_t id;

    sm_link_write(slot, sm_form_command(ask->op), charge_of(ask), &w);
    sm_form_put(&w, ask);
    sm_watch_asked(slot, ask, sm_link_id_of(slot, 0));
    id = sm_link_send(slot);
    while (!sm_watch_has_come(slot, id, ret_status))
        if (!sm_link_await(slot))
            return false;
    return true;
}

/* Until the request that waits by the handle is answered. False: the connection was cut. */
static bool await_end_of_watch(unsigned slot, uint64_t open)
{
    uint64_t async_id;

    while (sm_watch_waits(slot, open, &async_id) > 0)
        if (!sm_link_await(slot))
            return false;
    return true;
}

static bool stop_watch(unsigned slot, uint64_t open)
{
    uint64_t async_id, id = sm_watch_waits(slot, open, &async_id);

    if (id == 0)
        return true;
    sm_watch_cancels(slot, open);
    sm_link_cancel(slot, id, async_id);
    return await_end_of_watch(slot, open);
}

static void watch(unsigned slot, const struct sm_ask *ask, struct reply *answer)
{
    answer->came = true;
    if (ask->op == SM_NOTIFY)
        answer->came = ask_for_changes(slot, ask, &answer->smb.status);
    else if (ask->op == SM_STOP)
        answer->came = stop_watch(slot, ask->handle.open);
    else
        sm_link_sleep(slot, ask->waits_ns);
    sm_watch_check(slot);
}

/* Whoever waits for changes is answered that the handle is closed. */
static void end_watch(unsigned slot, const struct sm_ask *ask, struct reply *answer)
{
    bool is_closed = answer->smb.status == SM_SUCCESS || answer->smb.status == SM_FILE_CLOSED;

    if (!answer->came || !is_closed)
        sm_watch_closes(slot, ask->handle.open, false);
    else if (await_end_of_watch(slot, ask->handle.open))
        sm_watch_end(slot, ask->handle.open);
    else
        answer->came = false;
}

static void send(unsigned slot, const struct sm_ask *asked, struct reply *answer)
{
    if (asked->op == SM_NOTIFY || asked->op == SM_STOP || asked->op == SM_LISTEN) {
        watch(slot, asked, answer);
        return;
    }
    if (asked->op == SM_OPEN && asked->replays) {
        open_again(slot, asked, answer);
        return;
    }
    sm_watch_closes(slot, asked->handle.open, asked->op == SM_CLOSE);
    write_all(slot, asked);
    receive_all(slot, asked, answer);
    if (asked->op == SM_CLOSE || answer->smb.status == SM_FILE_CLOSED)
        end_watch(slot, asked, answer);
}

void sm_request_send(unsigned slot, const struct ask *ask, struct reply *ret_answer)
{
    const struct sm_ask *asked = &ask->smb;
    struct reply answer = { .began_ns = world->now_ns, .commits_before = world->commits };

    if (asked->op == SM_HANG_UP) {
        sm_link_end(slot);
        answer.came = true;
    } else if (!sm_link_begin(slot, &answer.smb.status)) {
        answer.came = false;
    } else {
        sm_lie_before(slot, asked);
        send(slot, asked, &answer);
    }
    answer.commits_after = world->commits;
    answer.ended_ns = world->now_ns;
    *ret_answer = answer;
}
