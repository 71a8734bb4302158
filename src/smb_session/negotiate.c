/* NEGOTIATE: chooses dialect, signing and encryption. All input is unauthenticated. ms-smb2: 2.2.3,
 * 2.2.4, 3.3.5.3, 3.3.5.4 */
#include "smb_session/negotiate.h"

#include <assert.h>

#include "base/endian.h"
#include "smb_session/service.h"
#include "smb_protocol/spnego.h"

#define WILDCARD_DIALECT 0x02FFu /* "SMB 2.???" of an SMB1 negotiation */

#define CONTEXT_PREAUTH  1u
#define CONTEXT_CIPHERS  2u
#define CONTEXT_SIGNINGS 8u
#define HASH_SHA_512     1u
#define SALT_SIZE        32u

/* Returns the newest dialect that both sides support. ms-smb2: 3.3.5.4 */
enum smb_dialect negotiate_dialect(struct bytes dialects)
{
    static const enum smb_dialect ours[] = { SMB_311, SMB_302, SMB_300, SMB_210 };

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        for (size_t at = 0; at + 2 <= dialects.len; at += 2)
            if (le16_get(dialects.ptr + at) == (uint16_t)ours[i])
                return ours[i];
    return SMB_NO_DIALECT;
}

static uint32_t capabilities_of(enum smb_dialect dialect, uint32_t of_client)
{
    uint32_t ours = SMB_CAP_LEASING | SMB_CAP_LARGE_MTU;

    if (dialect >= SMB_300)
        ours |= of_client & (SMB_CAP_MULTI_CHANNEL | SMB_CAP_PERSISTENT_HANDLES);
    if (dialect == SMB_300 || dialect == SMB_302)
        ours |= of_client & SMB_CAP_ENCRYPTION;
    return ours;
}

/* ---- negotiate contexts of 3.1.1: ms-smb2 2.2.3.1 ---- */

struct contexts {
    unsigned preauths, ciphers, signings; /* number of each */
    bool has_sha_512;
    enum smb_cipher cipher;
    enum smb_signing signing;
};

static bool is_our_cipher(uint16_t cipher)
{
    return cipher >= CIPHER_AES_128_CCM && cipher <= CIPHER_AES_256_GCM;
}

/* HashAlgorithmCount, SaltLength, HashAlgorithms, Salt */
static void read_preauth(struct wire_reader *r, struct contexts *c)
{
    uint16_t count = wire_u16(r), salt = wire_u16(r);

    for (uint16_t i = 0; i < count && wire_ok(r); i++)
        if (wire_u16(r) == HASH_SHA_512)
            c->has_sha_512 = true;
    wire_skip(r, salt);
    if (count == 0)
        r->bad = true;
}

/* Chooses the first supported cipher in the client's order of preference. */
static void read_ciphers(struct wire_reader *r, struct contexts *c)
{
    uint16_t count = wire_u16(r);

    for (uint16_t i = 0; i < count && wire_ok(r); i++) {
        uint16_t cipher = wire_u16(r);

        if (c->cipher == CIPHER_NONE && is_our_cipher(cipher))
            c->cipher = (enum smb_cipher)cipher;
    }
    if (count == 0)
        r->bad = true;
}

static void read_signings(struct wire_reader *r, struct contexts *c)
{
    uint16_t count = wire_u16(r);
    bool found = false;

    for (uint16_t i = 0; i < count && wire_ok(r); i++) {
        uint16_t signing = wire_u16(r);

        if (!found && signing <= SIGNING_AES_GMAC) {
            c->signing = (enum smb_signing)signing;
            found = true;
        }
    }
    if (count == 0)
        r->bad = true;
}

static void read_context(struct wire_reader *r, uint16_t type, uint16_t size, struct contexts *c)
{
    struct wire_reader of_context;

    wire_reader_init(&of_context, wire_bytes(r, size));
    if (type == CONTEXT_PREAUTH && ++c->preauths == 1)
        read_preauth(&of_context, c);
    else if (type == CONTEXT_CIPHERS && ++c->ciphers == 1)
        read_ciphers(&of_context, c);
    else if (type == CONTEXT_SIGNINGS && ++c->signings == 1)
        read_signings(&of_context, c);
    if (!wire_ok(&of_context))
        r->bad = true;
}

/* Returns STATUS_SUCCESS, STATUS_INVALID_PARAMETER or
 * STATUS_SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP. */
static enum nt_status read_contexts(struct wire_reader *r, uint32_t offset, uint16_t count,
                                    struct contexts *c)
{
    *c = (struct contexts){ .cipher = CIPHER_NONE, .signing = SIGNING_AES_CMAC };
    if (count > SMB_CONTEXTS_MAX || offset % 8)
        return STATUS_INVALID_PARAMETER;
    wire_seek(r, offset, SMB_HEADER_SIZE + 36);
    for (uint16_t i = 0; i < count && wire_ok(r); i++) {
        uint16_t type, size;

        if (i > 0)
            wire_pass_padding(r, 8);
        type = wire_u16(r);
        size = wire_u16(r);
        wire_skip(r, 4); /* reserved */
        read_context(r, type, size, c);
    }
    if (!wire_ok(r) || c->preauths != 1 || c->ciphers > 1 || c->signings > 1)
        return STATUS_INVALID_PARAMETER;
    return c->has_sha_512 ? STATUS_SUCCESS : STATUS_SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP;
}

static void put_context(struct wire_writer *w, uint16_t type, uint16_t size)
{
    wire_put_padding(w, 8);
    wire_put_u16(w, type);
    wire_put_u16(w, size);
    wire_put_u32(w, 0);
}

static void put_contexts(struct wire_writer *w, const struct contexts *c)
{
    struct guid salt[SALT_SIZE / sizeof(struct guid)] = { guid_new(), guid_new() };

    put_context(w, CONTEXT_PREAUTH, 6 + SALT_SIZE);
    wire_put_u16(w, 1);
    wire_put_u16(w, SALT_SIZE);
    wire_put_u16(w, HASH_SHA_512);
    wire_put(w, bytes_of(salt, SALT_SIZE));
    if (c->ciphers > 0) {
        put_context(w, CONTEXT_CIPHERS, 4);
        wire_put_u16(w, 1);
        wire_put_u16(w, (uint16_t)c->cipher);
    }
    if (c->signings > 0) {
        put_context(w, CONTEXT_SIGNINGS, 4);
        wire_put_u16(w, 1);
        wire_put_u16(w, (uint16_t)c->signing);
    }
}

/* ---- command ---- */

struct negotiation {
    uint16_t dialect; /* as sent */
    struct contexts contexts;
};

/* Sets the negotiated parameters. */
static void agree(struct smb_agreement *agreed, enum smb_dialect dialect, const struct contexts *c)
{
    bool seals = agreed->client_capabilities & SMB_CAP_ENCRYPTION;

    agreed->dialect = dialect;
    agreed->multi_credit = true; /* 2.1 and newer have LARGE_MTU */
    agreed->security_mode = SMB_SIGNING_ENABLED;
    agreed->capabilities = capabilities_of(dialect, agreed->client_capabilities);
    agreed->client_requires_signing = agreed->client_security_mode & SMB_SIGNING_REQUIRED;
    agreed->signing = dialect == SMB_311   ? c->signing
                      : dialect == SMB_210 ? SIGNING_HMAC_SHA256
                                           : SIGNING_AES_CMAC;
    agreed->cipher = dialect == SMB_311 ? c->cipher : CIPHER_NONE;
    if ((dialect == SMB_300 || dialect == SMB_302) && seals)
        agreed->cipher = CIPHER_AES_128_CCM;
}

enum smb_step smb_negotiate_begin(struct smb_request *request, struct wire_reader *r)
{
    struct smb_connection *connection = request->message->connection;
    struct smb_agreement *agreed = &connection->agreed;
    struct negotiation *n = arena_alloc(request->message->arena, sizeof *n);
    uint16_t count = wire_u16(r), context_count;
    enum smb_dialect dialect;
    struct smb_referrer *referrer = connection->service->options.referrer;
    enum nt_status status = STATUS_SUCCESS;
    uint32_t context_offset;
    struct bytes dialects;

    request->parameters = n;
    agreed->client_security_mode = wire_u16(r);
    wire_skip(r, 2);
    agreed->client_capabilities = wire_u32(r);
    agreed->client_guid = wire_guid(r);
    context_offset = wire_u32(r);
    context_count = wire_u16(r);
    wire_skip(r, 2);
    dialects = wire_bytes(r, (size_t)count * 2);
    if (!wire_ok(r) || count == 0)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    dialect = negotiate_dialect(dialects);
    if (dialect == SMB_NO_DIALECT)
        return smb_refuse(request, STATUS_NOT_SUPPORTED);
    if (dialect == SMB_311)
        status = read_contexts(r, context_offset, context_count, &n->contexts);
    if (status)
        return smb_refuse(request, status);
    agree(agreed, dialect, &n->contexts);
    if (referrer && referrer->refers(referrer))
        agreed->capabilities |= SMB_CAP_DFS;
    n->dialect = (uint16_t)dialect;
    if (dialect == SMB_311) {
        preauth_add(&agreed->preauth, request->bytes);
        request->message->adds_to = &agreed->preauth;
    }
    return smb_refuse(request, STATUS_SUCCESS);
}

void smb_negotiate_answer(struct smb_request *request, struct wire_writer *w)
{
    const struct smb_connection *connection = request->message->connection;
    const struct negotiation *n = request->parameters;
    bool has_contexts = n->dialect == SMB_311;
    struct bytes token = spnego_offer(request->message->arena);
    uint32_t most = n->dialect == WILDCARD_DIALECT ? 65536 : SMB_IO_MAX;
    size_t contexts_at;

    wire_put_u16(w, 65); /* StructureSize */
    wire_put_u16(w, SMB_SIGNING_ENABLED);
    wire_put_u16(w, n->dialect);
    wire_put_u16(
        w,
        (uint16_t)(has_contexts ? 1 + (n->contexts.ciphers > 0) + (n->contexts.signings > 0) : 0));
    wire_put_guid(w, &connection->service->guid);
    wire_put_u32(w, n->dialect == WILDCARD_DIALECT ? SMB_CAP_LARGE_MTU
                                                   : connection->agreed.capabilities);
    wire_put_u32(w, most); /* MaxTransactSize, MaxReadSize, MaxWriteSize */
    wire_put_u32(w, most);
    wire_put_u32(w, most);
    wire_put_u64(w, filetime_of(clock_wall()));
    wire_put_u64(w, 0); /* ServerStartTime */
    wire_put_u16(w, SMB_HEADER_SIZE + 64);
    wire_put_u16(w, (uint16_t)token.len);
    contexts_at = wire_place(w);
    wire_put_u32(w, 0);
    wire_put(w, token);
    if (has_contexts) {
        wire_put_padding(w, 8);
        wire_set_u32(w, contexts_at, (uint32_t)wire_place(w));
        put_contexts(w, &n->contexts);
    }
}

/* ---- SMB1 negotiation: ms-smb2 3.3.5.3 ---- */

/* Returns whether an SMB1 NEGOTIATE (header of 32 bytes, WordCount 0, ByteCount, dialects: 2, name,
 * NUL) offers the wildcard dialect. "SMB 2.002" is not supported. */
static bool offers_wildcard(struct bytes bytes)
{
    static const struct bytes wildcard = BYTES("\2SMB 2.???");
    struct bytes rest, name;

    if (bytes.len < 35 || bytes.ptr[4] != 0x72 || bytes.ptr[32] != 0)
        return false;
    rest = bytes_from(bytes, 35);
    while (rest.ptr && rest.len > 0) {
        bytes_cut(rest, '\0', &name, &rest);
        if (bytes_equal(name, wildcard))
            return true;
    }
    return false;
}

static enum smb_step smb1_begin(struct smb_request *request, struct wire_reader *r)
{
    struct negotiation *n = arena_alloc(request->message->arena, sizeof *n);

    (void)r;
    n->dialect = WILDCARD_DIALECT;
    request->parameters = n;
    return smb_refuse(request, STATUS_SUCCESS);
}

bool negotiate_smb1(struct smb_message *message, struct bytes bytes)
{
    static const struct smb_row row = {
        .command = SMB_NEGOTIATE,
        .name = "SMB1 NEGOTIATE",
        .begin = smb1_begin,
        .answer = smb_negotiate_answer,
    };
    struct smb_connection *connection = message->connection;
    struct smb_request *request;

    if (connection->agreed.dialect != SMB_NO_DIALECT || !offers_wildcard(bytes) ||
        !credits_take(&connection->window, 0, 1))
        return false;
    request = message_add(message);
    request->header = (struct smb_header){ .command = SMB_NEGOTIATE, .credits = 1 };
    request->row = &row;
    request->state = BEGIN;
    return true;
}
