/* See smb_client.h. ms-smb2: 3.2.4, 3.2.5 */
#include "smb_client.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../tests/unit/smb/initiator.h"
#include "base/endian.h"
#include "smb_protocol/crypto.h"

#define LENGTH_SIZE         4u
#define ARENA_MAX           ((size_t)64 << 20)
#define STATUS_PENDING_CODE 0x00000103u
#define MORE_PROCESSING     0xC0000016u
#define CREDITS_ASKED       64
#define BYTES_A_CREDIT      65536u
#define SIGNING_ENABLED     1
#define CAPABILITIES        0x44 /* large MTU, encryption. ms-smb2: 2.2.3 */
/* Of a create: read, write and delete data and attributes; shared by all; open or make. ms-smb2: 2.2.13 */
#define ACCESS              0x0013019F
#define SHARED_BY_ALL       7
#define OPEN_OR_MAKE        3
#define NON_DIRECTORY       0x40

struct smb_client {
    int fd;
    struct arena *arena;
    struct arena_mark empty;
    struct text out;
    char *in; /* a frame without its length */
    size_t in_capacity;
    uint64_t message_id, session_id;
    uint32_t tree_id;
    struct preauth preauth;
    struct sealer *sealer, *opener; /* NULL: not logged on yet */
};

static void die(const char *what)
{
    fprintf(stderr, "smb_load: %s\n", what);
    exit(1);
}

/* ---- frames ---- */

static void send_all(struct smb_client *client, const char *at, size_t size)
{
    while (size > 0) {
        ssize_t n = send(client->fd, at, size, MSG_NOSIGNAL);

        if (n <= 0)
            die("the server has closed the connection");
        at += n;
        size -= (size_t)n;
    }
}

static void receive_all(struct smb_client *client, char *to, size_t size)
{
    if (recv(client->fd, to, size, MSG_WAITALL) != (ssize_t)size)
        die("the server has closed the connection");
}

static struct bytes receive_frame(struct smb_client *client)
{
    char length[LENGTH_SIZE];
    size_t size;

    receive_all(client, length, sizeof length);
    size = be32_get(length);
    if (size > client->in_capacity) {
        client->in = xrealloc(client->in, size);
        client->in_capacity = size;
    }
    receive_all(client, client->in, size);
    return bytes_of(client->in, size);
}

/* ---- requests ---- */

static struct wire_writer begin(struct smb_client *client, enum smb_command command,
                                uint16_t charge)
{
    struct smb_header header = {
        .credit_charge = charge,
        .command = (uint16_t)command,
        .credits = CREDITS_ASKED,
        .message_id = client->message_id,
        .session_id = client->session_id,
        .tree_id = client->tree_id,
    };
    struct wire_writer w;

    arena_rewind(client->arena, client->empty);
    text_init(&client->out, client->arena, 8192);
    wire_writer_init(&w, &client->out);
    wire_put_zeros(&w, LENGTH_SIZE + SMB_TRANSFORM_SIZE);
    wire_writer_init(&w, &client->out);
    smb_header_write(&w, &header);
    client->message_id += charge;
    return w;
}

struct wire_writer smb_client_begin(struct smb_client *client, enum smb_command command)
{
    return begin(client, command, 1);
}

static struct bytes message(const struct smb_client *client)
{
    return bytes_from(text_bytes(&client->out), LENGTH_SIZE + SMB_TRANSFORM_SIZE);
}

void smb_client_send(struct smb_client *client)
{
    char *frame = client->out.ptr + (client->sealer ? 0 : SMB_TRANSFORM_SIZE);
    size_t size = client->out.len - LENGTH_SIZE - (client->sealer ? 0 : SMB_TRANSFORM_SIZE);

    if (client->sealer &&
        !sealer_seal(client->sealer, client->session_id, (uint8_t *)frame + LENGTH_SIZE, size))
        die("the session's key is used up");
    be32_put(frame, (uint32_t)size);
    send_all(client, frame, LENGTH_SIZE + size);
}

/* The plain message of the next frame. */
static struct bytes next_message(struct smb_client *client)
{
    struct bytes frame = receive_frame(client);

    if (!client->opener || smb_frame_kind(frame) == SMB_FRAME_PLAIN)
        return frame;
    if (!sealer_open(client->opener, (uint8_t *)client->in, frame.len))
        die("a frame that is not sealed rightly");
    return bytes_from(frame, SMB_TRANSFORM_SIZE);
}

bool smb_client_receive(struct smb_client *client, uint32_t *ret_status,
                        struct wire_reader *ret_body)
{
    struct smb_header header;

    wire_reader_init(ret_body, next_message(client));
    if (!smb_header_read(ret_body, &header))
        die("an answer that is no SMB2");
    *ret_status = header.status;
    if (client->session_id == 0)
        client->session_id = header.session_id;
    if (header.command == SMB_TREE_CONNECT)
        client->tree_id = header.tree_id;
    return header.status != STATUS_PENDING_CODE;
}

struct wire_reader smb_client_ask(struct smb_client *client)
{
    struct wire_reader body;
    uint32_t status;

    smb_client_send(client);
    while (!smb_client_receive(client, &status, &body))
        ;
    if (status != 0 && status != MORE_PROCESSING) {
        fprintf(stderr, "smb_load: status %08X\n", status);
        exit(1);
    }
    return body;
}

/* ---- the start: ms-smb2 3.2.4.2 ---- */

static void put_context(struct wire_writer *w, uint16_t type, struct bytes data)
{
    wire_put_padding(w, 8);
    wire_put_u16(w, type);
    wire_put_u16(w, (uint16_t)data.len);
    wire_put_u32(w, 0);
    wire_put(w, data);
}

static void negotiate(struct smb_client *client, unsigned number)
{
    static const char sha512[] = { 1, 0, 0, 0, 1, 0 }, gcm[] = { 1, 0, CIPHER_AES_128_GCM, 0 };
    struct guid guid = { { 'b', (uint8_t)(number >> 8), (uint8_t)number } };
    struct wire_writer w = smb_client_begin(client, SMB_NEGOTIATE);
    struct wire_reader body;

    wire_put_u16(&w, 36); /* StructureSize */
    wire_put_u16(&w, 1);
    wire_put_u16(&w, SIGNING_ENABLED);
    wire_put_u16(&w, 0);
    wire_put_u32(&w, CAPABILITIES);
    wire_put_guid(&w, &guid);
    wire_put_u32(&w, SMB_HEADER_SIZE + 40); /* where the contexts begin */
    wire_put_u16(&w, 2);
    wire_put_u16(&w, 0);
    wire_put_u16(&w, SMB_311);
    put_context(&w, 1, bytes_of(sha512, sizeof sha512));
    put_context(&w, 2, bytes_of(gcm, sizeof gcm));
    preauth_add(&client->preauth, message(client));
    body = smb_client_ask(client);
    preauth_add(&client->preauth, bytes_of(body.message, body.size));
}

/* returns the token of the answer, a copy */
static struct bytes set_up(struct smb_client *client, struct arena *arena, struct bytes token,
                           bool is_last)
{
    struct wire_writer w = smb_client_begin(client, SMB_SESSION_SETUP);
    struct wire_reader body;
    uint16_t at, size;

    wire_put_u16(&w, 25); /* StructureSize */
    wire_put_u8(&w, 0);
    wire_put_u8(&w, SIGNING_ENABLED);
    wire_put_zeros(&w, 4 + 4);
    wire_put_u16(&w, SMB_HEADER_SIZE + 24);
    wire_put_u16(&w, (uint16_t)token.len);
    wire_put_u64(&w, 0);
    wire_put(&w, token);
    preauth_add(&client->preauth, message(client));
    body = smb_client_ask(client);
    if (!is_last)
        preauth_add(&client->preauth, bytes_of(body.message, body.size));
    wire_skip(&body, 4);
    at = wire_u16(&body);
    size = wire_u16(&body);
    return arena_copy(arena, wire_buffer(&body, at, size, SMB_HEADER_SIZE + 8));
}

static void log_on(struct smb_client *client, const struct smb_login *login)
{
    struct initiator initiator = { .user = login->user, .domain = "", .password = login->password };
    struct arena *arena = arena_new(1u << 20);
    struct bytes challenge = set_up(client, arena, initiator_begin(&initiator, arena), false);
    struct smb_keys keys;

    set_up(client, arena, initiator_answer(&initiator, arena, challenge), true);
    smb_keys_derive(SMB_311, CIPHER_AES_128_GCM,
                    bytes_of(initiator.session_key, sizeof initiator.session_key), &client->preauth,
                    &keys);
    client->sealer = sealer_new(CIPHER_AES_128_GCM, keys.opening);
    client->opener = sealer_new(CIPHER_AES_128_GCM, keys.sealing);
    arena_free(arena);
}

static void mount(struct smb_client *client, const struct smb_login *login)
{
    char path[256];
    struct wire_writer w = smb_client_begin(client, SMB_TREE_CONNECT);

    snprintf(path, sizeof path, "\\\\%s\\%s", login->host, login->share);
    wire_put_u16(&w, 9); /* StructureSize */
    wire_put_u16(&w, 0);
    wire_put_u16(&w, SMB_HEADER_SIZE + 8);
    wire_put_u16(&w, (uint16_t)(2 * strlen(path)));
    wire_put_utf16(&w, bytes_from_string(path));
    smb_client_ask(client);
}

static int connect_to(const struct smb_login *login)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
    int one = 1, fd;

    if (getaddrinfo(login->host, login->port, &hints, &found) != 0)
        die("getaddrinfo");
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0)
        die("connect");
    freeaddrinfo(found);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

struct smb_client *smb_client_open(const struct smb_login *login, unsigned number)
{
    struct smb_client *client = xcalloc(1, sizeof *client);

    client->fd = connect_to(login);
    client->arena = arena_new(ARENA_MAX);
    client->empty = arena_mark(client->arena);
    negotiate(client, number);
    log_on(client, login);
    mount(client, login);
    return client;
}

void smb_client_close(struct smb_client *client)
{
    close(client->fd);
    sealer_free(client->sealer);
    sealer_free(client->opener);
    arena_free(client->arena);
    free(client->in);
    free(client);
}

int smb_client_fd(const struct smb_client *client)
{
    return client->fd;
}

/* ---- files ---- */

void smb_client_create(struct smb_client *client, const char *name)
{
    struct wire_writer w = smb_client_begin(client, SMB_CREATE);

    wire_put_u16(&w, 57); /* StructureSize */
    wire_put_u8(&w, 0);
    wire_put_u8(&w, 0);  /* no oplock */
    wire_put_u32(&w, 2); /* impersonation */
    wire_put_zeros(&w, 16);
    wire_put_u32(&w, ACCESS);
    wire_put_u32(&w, 0);
    wire_put_u32(&w, SHARED_BY_ALL);
    wire_put_u32(&w, OPEN_OR_MAKE);
    wire_put_u32(&w, NON_DIRECTORY);
    wire_put_u16(&w, SMB_HEADER_SIZE + 56);
    wire_put_u16(&w, (uint16_t)(2 * strlen(name)));
    wire_put_zeros(&w, 8); /* no contexts */
    wire_put_utf16(&w, bytes_from_string(name));
}

struct smb_file smb_client_created(struct wire_reader *body)
{
    struct smb_file file;

    wire_skip(body, 64);
    file.persistent = wire_u64(body);
    file.volatile_id = wire_u64(body);
    return file;
}

static void put_file(struct wire_writer *w, const struct smb_file *file)
{
    wire_put_u64(w, file->persistent);
    wire_put_u64(w, file->volatile_id);
}

static uint16_t charge_of(size_t size)
{
    return (uint16_t)(size == 0 ? 1 : (size - 1) / BYTES_A_CREDIT + 1);
}

void smb_client_read(struct smb_client *client, const struct smb_file *file, uint64_t offset,
                     uint32_t size)
{
    struct wire_writer w = begin(client, SMB_READ, charge_of(size));

    wire_put_u16(&w, 49); /* StructureSize */
    wire_put_u8(&w, SMB_HEADER_SIZE + 16);
    wire_put_u8(&w, 0);
    wire_put_u32(&w, size);
    wire_put_u64(&w, offset);
    put_file(&w, file);
    wire_put_zeros(&w, 16 + 1);
}

void smb_client_write(struct smb_client *client, const struct smb_file *file, uint64_t offset,
                      struct bytes bytes)
{
    struct wire_writer w = begin(client, SMB_WRITE, charge_of(bytes.len));

    wire_put_u16(&w, 49); /* StructureSize */
    wire_put_u16(&w, SMB_HEADER_SIZE + 48);
    wire_put_u32(&w, (uint32_t)bytes.len);
    wire_put_u64(&w, offset);
    put_file(&w, file);
    wire_put_zeros(&w, 16);
    wire_put(&w, bytes);
}

void smb_client_close_file(struct smb_client *client, const struct smb_file *file)
{
    struct wire_writer w = smb_client_begin(client, SMB_CLOSE);

    wire_put_u16(&w, 24); /* StructureSize */
    wire_put_zeros(&w, 2 + 4);
    put_file(&w, file);
}
