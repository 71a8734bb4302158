/* See client.h. */
#include "client.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/endian.h"
#include "base/lock.h"
#include "file/file.h"
#include "initiator.h"
#include "service/waiting.h"

#define WAIT_MAX_S  60 /* what is waited for comes at once: a test that gets here has failed */
#define FRAME_SIZE  4u
#define REPLIES_MAX 4096u
#define ARENA_MAX   ((size_t)1 << 30)

struct client {
    struct smb_host host;
    struct world *world;
    struct client *other; /* whose machine runs too while this client waits */
    struct smb_connection *machine;
    struct arena *arena;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_posted; /* under mutex */
    bool is_cut, has_gone, has_ended;
    bool stalls;
    size_t unsent;
    /* What came, in order; those taken are gone. */
    struct reply *replies;
    size_t reply_count;
    /* What the client says. */
    uint64_t next_id, session_id, previous;
    uint32_t tree_id;
    uint16_t charge, asked;
    uint8_t setup_flags;
    bool seals, signs;
    enum smb_dialect dialect;
    enum smb_cipher cipher;
    enum smb_signing signing;
    struct preauth preauth;
    struct signer *signer;
    struct sealer *sealer, *opener;
};

/* ---- the world ---- */

struct world *world_new(bool allow_unencrypted)
{
    const struct smb_options options = { .allow_unencrypted = allow_unencrypted };

    return world_new_with(&options);
}

struct world *world_new_with(const struct smb_options *options)
{
    struct world *world = xcalloc(1, sizeof *world);
    const char *problem;

    world->store = chosen_store_open(getenv("LAGRA_SMB_STORE"), world->folder);
    world->accounts = accounts_new();
    assert_true(accounts_add_list(world->accounts,
                                  "one:" TEST_KEY_1 ":" TEST_KEY_2 ";two:" TEST_KEY_1, &problem));
    world->pool = decision_pool_new(WORLD_POOL_THREADS, (struct pool_shares){ .account = 0 });
    world->service = smb_service_new(options, world->store, world->accounts, world->pool);
    world_add_share(world, "one", "share");
    world_add_share(world, "two", "share");
    return world;
}

void world_add_share(struct world *world, const char *account, const char *name)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct changes *changes = changes_new(arena);
    struct partition partition = { .space = file_account_space(bytes_from_string(account)),
                                   .key = bytes_from_string(name) };
    struct read_view *before = read_view_open(world->store, partition, STORE_MAY_BLOCK);
    instant now = clock_above(read_view_instant(before));
    struct commit_part part = { before, changes };
    struct share share = {
        .space = guid_new(),
        .created = now,
        .etag = { now },
        .modified = now,
        .quota_gib = 1,
    };
    uint64_t sequence;

    share_write(changes, arena, share_itself, &share);
    assert_int_equal(store_commit(world->store, &part, 1, now, STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(before);
    arena_free(arena);
}

void world_free(struct world *world)
{
    smb_service_free(world->service);
    decision_pool_free(world->pool);
    accounts_free(world->accounts);
    chosen_store_close(world->store, world->folder);
    free(world);
}

int world_setup(void **state)
{
    *state = world_new(true);
    return 0;
}

int world_teardown(void **state)
{
    world_free(*state);
    return 0;
}

/* ---- the machine's host ---- */

static struct client *client_of(struct smb_host *host)
{
    return (struct client *)(void *)host;
}

static void on_post(struct smb_host *host)
{
    struct client *client = client_of(host);

    pthread_mutex_lock(&client->mutex);
    client->is_posted = true;
    pthread_cond_signal(&client->changed);
    pthread_mutex_unlock(&client->mutex);
}

static void on_authenticated(struct smb_host *host, const struct account *account)
{
    (void)host;
    assert_non_null(account);
}

/* All clients of a test are of its thread. */
static const void *on_place(const struct smb_host *host)
{
    (void)host;
    return "here";
}

static void on_move(struct smb_host *host, const void *place)
{
    (void)host;
    (void)place;
    assert_true(false);
}

static void on_ended(struct smb_host *host)
{
    client_of(host)->has_ended = true;
}

/* Opens it, and takes its messages apart. */
static void take_frame(struct client *client, uint8_t *frame, size_t size)
{
    struct bytes rest = bytes_of(frame, size);
    bool was_sealed = smb_frame_kind(rest) == SMB_FRAME_SEALED;

    if (was_sealed) {
        assert_non_null(client->opener);
        assert_true(sealer_open(client->opener, frame, size));
        rest = bytes_from(rest, SMB_TRANSFORM_SIZE);
    }
    for (uint32_t next = 1; next > 0; rest = bytes_from(rest, next)) {
        struct reply *reply = &client->replies[client->reply_count++];
        struct wire_reader r;

        assert_true(client->reply_count < REPLIES_MAX);
        *reply = (struct reply){ .was_sealed = was_sealed };
        wire_reader_init(&r, rest);
        assert_true(smb_header_read(&r, &reply->header));
        assert_true(reply->header.flags & SMB_FLAG_RESPONSE);
        next = reply->header.next_command;
        assert_true(next % 8 == 0 && next < rest.len);
        reply->ends_frame = next == 0;
        reply->bytes = arena_copy(client->arena, next ? bytes_of(rest.ptr, next) : rest);
        reply->is_signed_rightly = reply->header.flags & SMB_FLAG_SIGNED && client->signer &&
                                   signer_verify(client->signer, reply->bytes);
    }
}

static void on_send(struct smb_host *host, struct smb_packet *packet)
{
    struct client *client = client_of(host);

    assert_int_equal(be32_get(packet->bytes), packet->size - FRAME_SIZE);
    take_frame(client, packet->bytes + FRAME_SIZE, packet->size - FRAME_SIZE);
    if (client->stalls)
        client->unsent += packet->size;
    else
        smb_connection_sent(client->machine, packet->size);
    smb_packet_free(packet);
}

bool client_has_room(const struct client *client)
{
    return smb_connection_has_room(client->machine);
}

void client_stall(struct client *client, bool stalls)
{
    smb_connection_sent(client->machine, client->unsent);
    client->unsent = 0;
    client->stalls = stalls;
}

void client_address(struct client *client, uint32_t address)
{
    memset(client->host.address, 0, sizeof client->host.address);
    memcpy(client->host.address, &address, sizeof address);
}

struct client *client_new(struct world *world)
{
    static _Atomic uint32_t clients;
    struct client *client = xcalloc(1, sizeof *client);

    client->host = (struct smb_host){ .send = on_send,
                                      .post = on_post,
                                      .authenticated = on_authenticated,
                                      .place = on_place,
                                      .move = on_move,
                                      .ended = on_ended };
    client_address(client, ++clients); /* nobody is refused for the failures of others */
    client->world = world;
    client->arena = arena_new(ARENA_MAX);
    client->replies = xcalloc(REPLIES_MAX, sizeof *client->replies);
    client->charge = 1;
    client->asked = 1;
    pthread_mutex_init(&client->mutex, NULL);
    lock_condition_init(&client->changed);
    client->machine =
        smb_connection_new(world->service, &client->host, bytes_from_string("192.0.2.7:50000"));
    return client;
}

bool client_is_posted(struct client *client)
{
    bool is_posted;

    pthread_mutex_lock(&client->mutex);
    is_posted = client->is_posted;
    pthread_mutex_unlock(&client->mutex);
    return is_posted;
}

void client_await_post(struct client *client)
{
    struct timespec until;
    bool is_posted;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += WAIT_MAX_S;
    pthread_mutex_lock(&client->mutex);
    while (!client->is_posted)
        if (pthread_cond_timedwait(&client->changed, &client->mutex, &until) != 0)
            break;
    is_posted = client->is_posted;
    pthread_mutex_unlock(&client->mutex);
    assert_true(is_posted);
}

/* Runs the machine of the other client until this one is posted. */
static void run_other(struct client *client)
{
    instant until = clock_now() + WAIT_MAX_S * TICKS_PER_SECOND;

    while (client->other && !client_is_posted(client) && clock_now() < until)
        client_has_none(client->other);
}

/* Runs the machine if it was posted; waits for a post where `wait`. */
static void run(struct client *client, bool wait)
{
    struct timespec until;
    bool is_posted;

    if (wait)
        run_other(client);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += WAIT_MAX_S;
    pthread_mutex_lock(&client->mutex);
    while (wait && !client->is_posted)
        if (pthread_cond_timedwait(&client->changed, &client->mutex, &until) != 0)
            break;
    is_posted = client->is_posted;
    client->is_posted = false;
    pthread_mutex_unlock(&client->mutex);
    assert_true(is_posted || !wait);
    if (is_posted && !smb_connection_run(client->machine))
        client->is_cut = true;
}

static void drop_keys(struct client *client)
{
    signer_free(client->signer);
    sealer_free(client->sealer);
    sealer_free(client->opener);
    client->signer = NULL;
    client->sealer = client->opener = NULL;
}

void client_cut(struct client *client)
{
    if (!client->has_gone)
        smb_connection_end(client->machine);
    client->has_gone = true;
}

void client_free(struct client *client)
{
    client_cut(client);
    while (!client->has_ended)
        run(client, true);
    smb_connection_free(client->machine);
    drop_keys(client);
    pthread_cond_destroy(&client->changed);
    pthread_mutex_destroy(&client->mutex);
    free(client->replies);
    arena_free(client->arena);
    free(client);
}

bool client_is_cut(const struct client *client)
{
    return client->is_cut;
}

struct smb_connection *client_machine(struct client *client)
{
    return client->machine;
}

struct arena *client_arena(struct client *client)
{
    return client->arena;
}

/* ---- sending ---- */

void sending_begin(struct client *client, struct sending *sending)
{
    struct wire_writer w;

    *sending = (struct sending){ .has_message = false };
    text_init(&sending->text, client->arena, 256);
    wire_writer_init(&w, &sending->text);
    wire_put_zeros(&w, SMB_TRANSFORM_SIZE);
}

/* The last message gets its signature once its padding is there. */
static void finish_last(struct client *client, struct sending *sending)
{
    if (sending->has_message && client->signs)
        signer_sign(client->signer, (uint8_t *)sending->text.ptr + sending->last_at,
                    sending->text.len - sending->last_at);
}

struct wire_writer sending_add(struct client *client, struct sending *sending, uint16_t command,
                               uint32_t flags)
{
    struct smb_header header = {
        .credit_charge = client->charge,
        .command = command,
        .credits = client->asked,
        .flags = flags,
        .message_id = client->next_id,
        .session_id = flags & SMB_FLAG_RELATED ? UINT64_MAX : client->session_id,
        .tree_id = flags & SMB_FLAG_RELATED ? UINT32_MAX : client->tree_id,
    };
    struct wire_writer w = { .out = &sending->text, .start = sending->last_at };

    if (sending->has_message) {
        wire_put_padding(&w, 8);
        wire_set_u32(&w, 20, (uint32_t)(sending->text.len - sending->last_at));
        finish_last(client, sending);
    }
    client->next_id += client->charge ? client->charge : 1;
    sending->has_message = true;
    sending->last_at = sending->text.len;
    wire_writer_init(&w, &sending->text);
    smb_header_write(&w, &header);
    return w;
}

void client_charge(struct client *client, uint16_t charge, uint16_t asked)
{
    client->charge = charge;
    client->asked = asked;
}

void client_send_raw(struct client *client, struct bytes bytes)
{
    if (!smb_connection_take(client->machine, bytes, NULL))
        client->is_cut = true;
}

uint64_t client_send(struct client *client, struct sending *sending)
{
    uint8_t *frame = (uint8_t *)sending->text.ptr;

    finish_last(client, sending);
    if (client->seals)
        assert_true(sealer_seal(client->sealer, client->session_id, frame, sending->text.len));
    client_send_raw(client,
                    bytes_from(text_bytes(&sending->text), client->seals ? 0 : SMB_TRANSFORM_SIZE));
    return client->next_id - (client->charge ? client->charge : 1);
}

void client_unsend(struct client *client, uint64_t ids)
{
    client->next_id -= ids;
}

/* ---- receiving ---- */

static struct reply take_reply(struct client *client, size_t at)
{
    struct reply reply = client->replies[at];

    client->reply_count--;
    memmove(client->replies + at, client->replies + at + 1,
            (client->reply_count - at) * sizeof *client->replies);
    return reply;
}

struct reply client_receive(struct client *client, uint64_t message_id)
{
    for (;;) {
        for (size_t i = 0; i < client->reply_count; i++) {
            const struct smb_header *header = &client->replies[i].header;

            if (header->message_id == message_id &&
                header->status != nt_status_value(STATUS_PENDING))
                return take_reply(client, i);
        }
        assert_false(client->is_cut);
        run(client, true);
    }
}

struct reply client_next(struct client *client)
{
    while (client->reply_count == 0)
        run(client, true);
    return take_reply(client, 0);
}

bool client_has_none(struct client *client)
{
    run(client, false);
    return client->reply_count == 0;
}

struct wire_reader reply_body(const struct reply *reply)
{
    struct wire_reader r;

    wire_reader_init(&r, reply->bytes);
    wire_skip(&r, SMB_HEADER_SIZE);
    return r;
}

struct reply client_ask(struct client *client, struct sending *sending)
{
    return client_receive(client, client_send(client, sending));
}

/* ---- negotiation ---- */

static void put_context(struct wire_writer *w, uint16_t type, uint16_t value)
{
    wire_put_padding(w, 8);
    wire_put_u16(w, type);
    wire_put_u16(w, type == 1 ? 6 : 4);
    wire_put_u32(w, 0);
    wire_put_u16(w, 1);
    if (type == 1)
        wire_put_u16(w, 0); /* no salt */
    wire_put_u16(w, value);
}

static void put_contexts(struct wire_writer *w, const struct negotiating *n, size_t count_at)
{
    uint16_t count = 0;

    wire_put_padding(w, 8);
    wire_set_u32(w, count_at - 4, (uint32_t)wire_place(w));
    if (!n->no_preauth) {
        put_context(w, 1, 1);
        count++;
    }
    if (n->cipher) {
        put_context(w, 2, n->cipher);
        count++;
    }
    put_context(w, 8, n->signing);
    wire_set_u16(w, count_at, (uint16_t)(count + 1));
}

struct reply client_negotiate(struct client *client, const struct negotiating *n)
{
    struct guid guid = { { 1, 2, 3 } };
    struct sending s;
    struct wire_writer w;
    struct reply reply;
    bool has_311 = false;
    size_t count_at;

    sending_begin(client, &s);
    w = sending_add(client, &s, SMB_NEGOTIATE, 0);
    wire_put_u16(&w, 36);
    wire_put_u16(&w, (uint16_t)n->dialect_count);
    wire_put_u16(&w, n->security_mode);
    wire_put_u16(&w, 0);
    wire_put_u32(&w, n->capabilities);
    wire_put_guid(&w, &guid);
    wire_put_u32(&w, 0);
    count_at = wire_place(&w);
    wire_put_u32(&w, 0);
    for (size_t i = 0; i < n->dialect_count; i++) {
        wire_put_u16(&w, n->dialects[i]);
        has_311 |= n->dialects[i] == SMB_311;
    }
    if (has_311)
        put_contexts(&w, n, count_at);
    preauth_add(&client->preauth, bytes_from(text_bytes(&s.text), s.last_at));
    reply = client_ask(client, &s);
    preauth_add(&client->preauth, reply.bytes);
    return reply;
}

void client_speak(struct client *client, enum smb_dialect dialect)
{
    const struct negotiating n = {
        .dialects = { (uint16_t)dialect },
        .dialect_count = 1,
        .security_mode = 1,
        .capabilities = 0x7F,
        .cipher = CIPHER_AES_128_GCM,
        .signing = SIGNING_AES_CMAC,
    };
    struct reply reply = client_negotiate(client, &n);

    assert_status(reply, STATUS_SUCCESS);
    client->dialect = dialect;
    client->signing = dialect == SMB_210 ? SIGNING_HMAC_SHA256 : SIGNING_AES_CMAC;
    client->cipher = dialect == SMB_311   ? CIPHER_AES_128_GCM
                     : dialect == SMB_210 ? CIPHER_NONE
                                          : CIPHER_AES_128_CCM;
}

/* ---- sessions and trees ---- */

static struct reply set_up(struct client *client, struct bytes token, struct preauth *preauth)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(client, &s);
    w = sending_add(client, &s, SMB_SESSION_SETUP, 0);
    wire_put_u16(&w, 25);
    wire_put_u8(&w, client->setup_flags);
    wire_put_zeros(&w, 1 + 4 + 4);
    wire_put_u16(&w, SMB_HEADER_SIZE + 24);
    wire_put_u16(&w, (uint16_t)token.len);
    wire_put_u64(&w, client->previous);
    wire_put(&w, token);
    if (client->setup_flags && client->signs) /* the hash is over what is sent */
        signer_sign(client->signer, (uint8_t *)(uintptr_t)s.text.ptr + s.last_at,
                    s.text.len - s.last_at);
    preauth_add(preauth, bytes_from(text_bytes(&s.text), s.last_at));
    return client_ask(client, &s);
}

static struct bytes token_of(const struct reply *reply)
{
    struct wire_reader r = reply_body(reply);
    uint16_t at, size;

    wire_skip(&r, 4);
    at = wire_u16(&r);
    size = wire_u16(&r);
    return wire_buffer(&r, at, size, SMB_HEADER_SIZE + 8);
}

/* The opposite ends of what the server has. */
static void take_keys(struct client *client, struct bytes session_key,
                      const struct preauth *preauth)
{
    struct smb_keys keys;

    smb_keys_derive(client->dialect, client->cipher, session_key, preauth, &keys);
    drop_keys(client);
    client->signer = signer_new(client->signing, keys.signing);
    if (client->cipher != CIPHER_NONE) {
        client->sealer = sealer_new(client->cipher, keys.opening);
        client->opener = sealer_new(client->cipher, keys.sealing);
    }
}

uint32_t client_log_on(struct client *client, const char *account, const char *key)
{
    struct initiator initiator = { .user = account, .domain = "AZURE", .password = key };
    struct preauth preauth = client->preauth;
    struct reply reply = set_up(client, initiator_begin(&initiator, client->arena), &preauth);
    struct bytes token;

    if (reply.header.status == nt_status_value(STATUS_MORE_PROCESSING_REQUIRED)) {
        client->session_id = reply.header.session_id;
        preauth_add(&preauth, reply.bytes);
        token = initiator_answer(&initiator, client->arena, token_of(&reply));
        reply = set_up(client, token, &preauth);
    }
    if (reply.header.status == 0 && !client->signer) {
        take_keys(client, bytes_of(initiator.session_key, sizeof initiator.session_key), &preauth);
        assert_true(reply.header.flags & SMB_FLAG_SIGNED);
        assert_true(signer_verify(client->signer, reply.bytes));
    }
    return reply.header.status;
}

/* The keys of the session but the one to sign with, which the channel has of its own. */
uint32_t client_bind(struct client *client, const struct client *of, const char *account,
                     const char *key)
{
    struct initiator initiator = { .user = account, .domain = "AZURE", .password = key };
    struct preauth preauth = client->preauth;
    struct signer *own = client->signer;
    uint64_t session = client->session_id;
    uint8_t channel[SIGNING_KEY_SIZE];
    struct reply reply;

    client->signer = of->signer;
    client->session_id = of->session_id;
    client->setup_flags = 1;
    client->signs = true;
    reply = set_up(client, initiator_begin(&initiator, client->arena), &preauth);
    if (reply.header.status == nt_status_value(STATUS_MORE_PROCESSING_REQUIRED)) {
        preauth_add(&preauth, reply.bytes);
        reply =
            set_up(client, initiator_answer(&initiator, client->arena, token_of(&reply)), &preauth);
    }
    client->setup_flags = 0;
    client->signer = own;
    client->session_id = session;
    if (reply.header.status != 0)
        return reply.header.status;
    smb_channel_key_derive(client->dialect,
                           bytes_of(initiator.session_key, sizeof initiator.session_key), &preauth,
                           channel);
    drop_keys(client);
    client->signer = signer_new(client->signing, channel);
    client->session_id = of->session_id;
    client->tree_id = of->tree_id;
    assert_true(signer_verify(client->signer, reply.bytes));
    return 0;
}

void client_waits_with(struct client *client, struct client *other)
{
    client->other = other;
}

void client_previous(struct client *client, uint64_t id)
{
    client->previous = id;
}

uint32_t client_begin_log_on(struct client *client)
{
    struct initiator initiator = { .user = "one", .domain = "", .password = "" };
    struct preauth preauth = { 0 };

    client->session_id = 0;
    return set_up(client, initiator_begin(&initiator, client->arena), &preauth).header.status;
}

void client_use_session(struct client *client, uint64_t id)
{
    client->session_id = id;
}

uint64_t client_session(const struct client *client)
{
    return client->session_id;
}

void client_seal(struct client *client, bool seals)
{
    client->seals = seals;
}

void client_sign(struct client *client, bool signs)
{
    client->signs = signs;
}

void put_tree_connect(struct client *client, struct wire_writer *w, const char *share)
{
    struct bytes path = arena_printf(client->arena, "\\\\server\\%s", share);

    wire_put_u16(w, 9);
    wire_put_u16(w, 0);
    wire_put_u16(w, SMB_HEADER_SIZE + 8);
    wire_put_u16(w, (uint16_t)(bytes_utf16_units(path) * 2));
    wire_put_utf16(w, path);
}

uint32_t client_mount(struct client *client, const char *share)
{
    bool signs = client->signs;
    struct sending s;
    struct wire_writer w;
    struct reply reply;

    client->signs = signs || (client->dialect == SMB_311 && client->signer && !client->seals);
    sending_begin(client, &s);
    w = sending_add(client, &s, SMB_TREE_CONNECT, 0);
    put_tree_connect(client, &w, share);
    reply = client_ask(client, &s);
    client->signs = signs;
    if (reply.header.status == 0)
        client->tree_id = reply.header.tree_id;
    return reply.header.status;
}

struct client *client_begin(struct world *world, enum smb_dialect dialect)
{
    struct client *client = client_new(world);

    client_speak(client, dialect);
    assert_int_equal(client_log_on(client, "one", TEST_KEY_1), 0);
    assert_int_equal(client_mount(client, "share"), 0);
    client_charge(client, 1, 8);
    return client;
}

void client_use_tree(struct client *client, uint32_t id)
{
    client->tree_id = id;
}

uint32_t client_tree(const struct client *client)
{
    return client->tree_id;
}

/* ---- files ---- */

void put_file(struct wire_writer *w, const struct open_file *file)
{
    wire_put_u64(w, file->persistent);
    wire_put_u64(w, file->volatile_id);
}

void put_create(struct wire_writer *w, const char *name, const struct creating *creating)
{
    struct bytes path = bytes_from_string(name);
    size_t units = bytes_utf16_units(path) * 2, contexts_at;

    wire_put_u16(w, 57);
    wire_put_u8(w, 0);
    wire_put_u8(w, creating->level);
    wire_put_u32(w, 2); /* impersonation */
    wire_put_zeros(w, 16);
    wire_put_u32(w, creating->access ? creating->access : 0x0012019F);
    wire_put_u32(w, creating->attributes);
    wire_put_u32(w, creating->share || creating->shares_nothing ? creating->share : 7);
    wire_put_u32(w, creating->disposition ? creating->disposition : 3);
    wire_put_u32(w, creating->options);
    wire_put_u16(w, SMB_HEADER_SIZE + 56);
    wire_put_u16(w, (uint16_t)units);
    contexts_at = wire_place(w);
    wire_put_u32(w, 0);
    wire_put_u32(w, (uint32_t)creating->contexts.len);
    wire_put_utf16(w, path);
    if (creating->contexts.len > 0) {
        wire_put_padding(w, 8);
        wire_set_u32(w, contexts_at, (uint32_t)wire_place(w));
        wire_put(w, creating->contexts);
    } else {
        wire_put_u16(w, 0); /* the byte that its size counts */
    }
}

struct open_file file_of(const struct reply *reply)
{
    struct wire_reader r = reply_body(reply);
    struct open_file file = { .reply = *reply };

    wire_skip(&r, 2);
    file.level = wire_u8(&r);
    wire_skip(&r, 1);
    file.action = wire_u32(&r);
    wire_skip(&r, 4 * 8 + 8 + 8 + 4 + 4);
    file.persistent = wire_u64(&r);
    file.volatile_id = wire_u64(&r);
    assert_true(wire_ok(&r));
    return file;
}

uint32_t client_create(struct client *client, const char *name, const struct creating *creating,
                       struct open_file *ret_file)
{
    struct sending s;
    struct wire_writer w;
    struct reply reply;

    sending_begin(client, &s);
    w = sending_add(client, &s, SMB_CREATE, 0);
    put_create(&w, name, creating);
    reply = client_ask(client, &s);
    if (reply.header.status == 0)
        *ret_file = file_of(&reply);
    return reply.header.status;
}

void client_open(struct client *client, const char *name, struct open_file *ret_file)
{
    const struct creating creating = { .level = 0 };

    assert_int_equal(client_create(client, name, &creating, ret_file), 0);
}

uint32_t client_close(struct client *client, const struct open_file *file)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(client, &s);
    w = sending_add(client, &s, SMB_CLOSE, 0);
    wire_put_u16(&w, 24);
    wire_put_zeros(&w, 6);
    put_file(&w, file);
    return client_ask(client, &s).header.status;
}

uint32_t client_write(struct client *client, const struct open_file *file, uint64_t offset,
                      const char *text)
{
    struct bytes bytes = bytes_from_string(text);
    struct sending s;
    struct wire_writer w;

    sending_begin(client, &s);
    w = sending_add(client, &s, SMB_WRITE, 0);
    wire_put_u16(&w, 49);
    wire_put_u16(&w, SMB_HEADER_SIZE + 48);
    wire_put_u32(&w, (uint32_t)bytes.len);
    wire_put_u64(&w, offset);
    put_file(&w, file);
    wire_put_zeros(&w, 16);
    wire_put(&w, bytes);
    return client_ask(client, &s).header.status;
}

void put_read(struct wire_writer *w, const struct open_file *file, uint64_t offset, uint32_t size)
{
    wire_put_u16(w, 49);
    wire_put_zeros(w, 2);
    wire_put_u32(w, size);
    wire_put_u64(w, offset);
    put_file(w, file);
    wire_put_zeros(w, 17);
}

uint32_t client_read(struct client *client, const struct open_file *file, uint64_t offset,
                     uint32_t size, struct bytes *ret_bytes)
{
    struct sending s;
    struct wire_writer w;
    struct wire_reader r;
    struct reply reply;
    uint8_t at;
    uint32_t count;

    sending_begin(client, &s);
    w = sending_add(client, &s, SMB_READ, 0);
    put_read(&w, file, offset, size);
    reply = client_ask(client, &s);
    r = reply_body(&reply);
    wire_skip(&r, 2);
    at = wire_u8(&r);
    wire_skip(&r, 1);
    count = wire_u32(&r);
    if (reply.header.status == 0)
        *ret_bytes = wire_buffer(&r, at, count, SMB_HEADER_SIZE + 16);
    return reply.header.status;
}
