/* See smb_states.h. */
#include "smb_states.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "../unit/smb/asking.h"
#include "../unit/smb/durable_client.h"

#define LOCKS_AT_ONCE  1000u
#define PARKED_AT_ONCE 500u
#define NAME_SIZE      230
#define LEASE          0xFFu
#define LEASE_RH       3u
#define LEASE_RWH      7u
#define AT_ONCE        0x12u /* exclusive, without waiting */
#define WAITS          0x02u
#define DIRECTORY      1u
#define MAY_DELETE     0x00130089u /* and read and write attributes */
#define DISPOSITION    13u
#define INFO_OF_FILE   1u

static void note(struct smb_state *s, const struct open_file *file)
{
    if (s->file_count < STATE_FILES_MAX)
        s->files[s->file_count++] = *file;
}

static void drop_replies(struct client *c)
{
    while (!client_has_none(c))
        client_next(c);
}

void smb_state_settle(struct smb_state *s)
{
    do { /* one may cause work of the other */
        drop_replies(s->own);
        drop_replies(s->other);
    } while (client_is_posted(s->own) || client_is_posted(s->other));
}

/* ---- creates ---- */

static void put_context(struct wire_writer *w, bool is_last, const char name[5], const void *data,
                        uint32_t size)
{
    uint32_t padded = (size + 7) / 8 * 8;

    wire_put_u32(w, is_last ? 0 : 24 + padded);
    wire_put_u16(w, 16);
    wire_put_u16(w, 4);
    wire_put_u16(w, 0);
    wire_put_u16(w, 24);
    wire_put_u32(w, size);
    wire_put(w, bytes_of(name, 4));
    wire_put_u32(w, 0);
    wire_put(w, bytes_of(data, size));
    wire_put_zeros(w, padded - size);
}

/* A lease; durable: of version 2 too, with this GUID. */
static struct bytes contexts(struct client *c, uint32_t lease, bool durable, uint32_t flags,
                             unsigned guid)
{
    char rqls[32] = { 'k' }, dh2q[32] = { 0 };
    struct text text;
    struct wire_writer w;

    le32_put(rqls + 16, lease);
    le32_put(dh2q, 60000);
    le32_put(dh2q + 4, flags);
    le32_put(dh2q + 16, guid + 1);
    text_init(&text, client_arena(c), 128);
    wire_writer_init(&w, &text);
    if (durable)
        put_context(&w, lease == 0, "DH2Q", dh2q, sizeof dh2q);
    if (lease)
        put_context(&w, true, "RqLs", rqls, sizeof rqls);
    return text_bytes(&text);
}

static void open_with(struct smb_state *s, struct client *c, const char *name,
                      const struct creating *creating)
{
    struct open_file file;

    if (client_create(c, name, creating, &file) != 0)
        abort();
    note(s, &file);
}

static void open_plain(struct smb_state *s, struct client *c, const char *name)
{
    const struct creating creating = { .level = 0 };

    open_with(s, c, name, &creating);
}

static void open_many(struct smb_state *s, const char *name)
{
    for (unsigned i = 0; i < s->size; i++)
        open_plain(s, s->own, name);
}

/* ---- kinds ---- */

static void set_directory(struct smb_state *s)
{
    const struct creating creating = { .options = DIRECTORY };
    char name[NAME_SIZE + 16];

    open_with(s, s->own, "d", &creating);
    for (unsigned i = 0; i < s->size; i++) {
        struct open_file file;

        snprintf(name, sizeof name, "d\\%0*u", NAME_SIZE, i);
        client_open(s->own, name, &file);
        client_close(s->own, &file);
    }
}

void put_locks(struct wire_writer *w, const struct open_file *file, uint64_t first, unsigned count,
               uint32_t flags)
{
    wire_put_u16(w, 48);
    wire_put_u16(w, (uint16_t)count);
    wire_put_u32(w, 0);
    put_file(w, file);
    for (unsigned i = 0; i < count; i++) {
        wire_put_u64(w, first + 2 * (uint64_t)i);
        wire_put_u64(w, 1);
        wire_put_u32(w, flags);
        wire_put_u32(w, 0);
    }
}

static uint64_t send_locks(struct client *c, const struct open_file *file, uint64_t first,
                           unsigned count, uint32_t flags)
{
    struct sending sending;
    struct wire_writer w;

    sending_begin(c, &sending);
    w = sending_add(c, &sending, SMB_LOCK, 0);
    put_locks(&w, file, first, count, flags);
    return client_send(c, &sending);
}

static void set_locks(struct smb_state *s)
{
    open_plain(s, s->own, "l");
    open_plain(s, s->own, "l");
    open_plain(s, s->other, "l");
    for (unsigned at = 0; at < s->size; at += LOCKS_AT_ONCE) {
        unsigned count = s->size - at < LOCKS_AT_ONCE ? s->size - at : LOCKS_AT_ONCE;

        client_receive(s->own, send_locks(s->own, &s->files[0], 2 * (uint64_t)at, count, AT_ONCE));
    }
}

static void set_lease(struct smb_state *s)
{
    const struct creating creating = { .level = LEASE,
                                       .contexts = contexts(s->own, LEASE_RWH, false, 0, 0) };

    open_with(s, s->own, "e", &creating);
    for (unsigned i = 1; i < s->size; i++)
        open_with(s, s->own, "e", &creating);
}

/* Half of the handles are of a client that is lost. */
static void set_durable(struct smb_state *s, uint32_t flags, const char *name)
{
    struct client *lost = client_begin(s->world, SMB_302);

    client_charge(lost, 1, 64);
    for (unsigned i = 0; i < s->size; i++) {
        struct client *c = i % 2 ? s->own : lost;
        const struct creating creating = { .level = LEASE,
                                           .contexts = contexts(c, LEASE_RH, true, flags, i) };
        struct open_file file;

        if (client_create(c, name, &creating, &file) != 0)
            abort();
        note(s, &file);
    }
    client_free(lost);
}

static void set_pipes(struct smb_state *s)
{
    const struct creating creating = { .level = 0 };
    struct open_file file;

    open_plain(s, s->own, "i");
    if (client_mount(s->own, "IPC$") != 0)
        abort();
    if (client_create(s->own, "srvsvc", &creating, &file) == 0)
        note(s, &file);
}

static unsigned parked(struct smb_state *s)
{
    s->waiting = s->size < PARKED_AT_ONCE ? s->size : PARKED_AT_ONCE;
    return s->waiting;
}

static void set_waiting(struct smb_state *s)
{
    struct open_file holder;

    open_plain(s, s->own, "w");
    client_open(s->other, "w", &holder);
    client_receive(s->other, send_locks(s->other, &holder, 0, 1, AT_ONCE));
    note(s, &holder);
    for (unsigned i = parked(s); i > 0; i--)
        send_locks(s->own, &s->files[0], 0, 1, WAITS);
}

static void set_breaking(struct smb_state *s)
{
    const struct creating creating = { .level = LEASE,
                                       .contexts = contexts(s->own, LEASE_RWH, false, 0, 0) };
    const struct creating plain = { .level = 0 };

    open_with(s, s->own, "b", &creating);
    for (unsigned i = parked(s); i > 0; i--) {
        struct sending sending;
        struct wire_writer w;

        sending_begin(s->other, &sending);
        w = sending_add(s->other, &sending, SMB_CREATE, 0);
        put_create(&w, "b", &plain);
        client_send(s->other, &sending);
    }
}

static void set_deleted(struct smb_state *s)
{
    const struct creating creating = { .access = MAY_DELETE };

    for (unsigned i = 0; i < s->size; i++)
        open_with(s, s->own, "x", &creating);
    set_info(s->own, &s->files[0], INFO_OF_FILE, DISPOSITION, 0, bytes_of("\1", 1));
}

static void set_notifying(struct smb_state *s)
{
    const struct creating creating = { .options = DIRECTORY };

    open_with(s, s->own, "n", &creating);
    for (unsigned i = parked(s); i > 0; i--) {
        struct sending sending;
        struct wire_writer w;

        sending_begin(s->own, &sending);
        w = sending_add(s->own, &sending, SMB_CHANGE_NOTIFY, 0);
        put_notify(&w, &s->files[0], 4096, 0xFFF);
        client_send(s->own, &sending);
    }
}

/* ---- all ---- */

static bool set(struct smb_state *s, char kind)
{
    switch (kind) {
    case 'd':
        return set_directory(s), true;
    case 'l':
        return set_locks(s), true;
    case 'e':
        return set_lease(s), true;
    case 'u':
        return set_durable(s, 0, "u"), true;
    case 'p':
        return set_durable(s, PERSISTENT, "p"), true;
    case 'i':
        return set_pipes(s), true;
    case 'w':
        return set_waiting(s), true;
    case 'b':
        return set_breaking(s), true;
    case 'x':
        return set_deleted(s), true;
    case 'n':
        return set_notifying(s), true;
    case 'm':
        return open_many(s, "m"), true;
    default:
        return false;
    }
}

/* With credits for all that it will send. */
static struct client *begin(struct world *world)
{
    struct client *c = client_begin(world, SMB_302);

    client_charge(c, 1, 1200);
    for (unsigned i = 0; i < 2; i++) {
        struct open_file file;

        client_open(c, "credits", &file);
        client_close(c, &file);
    }
    return c;
}

struct smb_state *smb_state_new(char kind, unsigned size)
{
    struct smb_state *s = xcalloc(1, sizeof *s);

    s->size = size;
    s->world = world_new(true);
    s->own = begin(s->world);
    s->other = begin(s->world);
    if (!set(s, kind)) {
        smb_state_free(s);
        return NULL;
    }
    smb_state_settle(s);
    return s;
}

void smb_state_free(struct smb_state *s)
{
    client_free(s->own);
    client_free(s->other);
    world_free(s->world);
    free(s);
}
