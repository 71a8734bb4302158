/* See ntlm.h. */
#include "smb_protocol/ntlm.h"

#include <assert.h>
#include <stdlib.h>

#include "smb_protocol/wire.h"

enum message_type { MESSAGE_NEGOTIATE = 1, MESSAGE_CHALLENGE = 2, MESSAGE_AUTHENTICATE = 3 };
enum state { EXPECTS_NEGOTIATE, EXPECTS_AUTHENTICATE, ENDED };

struct ntlm {
    const struct accounts *accounts;
    enum state state;
    uint8_t challenge[NTLM_CHALLENGE_SIZE];
    uint32_t flags;              /* offered in the challenge; later negotiated */
    struct bytes negotiate_sent; /* first two messages, covered by the MIC; owned */
    struct bytes challenge_sent;
    const struct account *account; /* set on success */
    uint8_t session_key[NTLM_KEY_SIZE];
};

static const char magic[8] = "NTLMSSP"; /* includes the NUL */

/* Supported NEGOTIATE flags. */
#define FLAGS_OFFERED                                                                              \
    (NTLM_UNICODE | NTLM_REQUEST_TARGET | NTLM_SIGN | NTLM_SEAL | NTLM_NTLM | NTLM_ALWAYS_SIGN |   \
     NTLM_EXTENDED_SECURITY | NTLM_VERSION | NTLM_128 | NTLM_KEY_EXCHANGE | NTLM_56)

bool ntlm_is_token(struct bytes token)
{
    return bytes_has_prefix(token, bytes_of(magic, sizeof magic));
}

struct ntlm *ntlm_new(const struct accounts *accounts, const uint8_t challenge[NTLM_CHALLENGE_SIZE])
{
    struct ntlm *ntlm = xcalloc(1, sizeof *ntlm);

    ntlm->accounts = accounts;
    memcpy(ntlm->challenge, challenge, sizeof ntlm->challenge);
    return ntlm;
}

void ntlm_free(struct ntlm *ntlm)
{
    if (!ntlm)
        return;
    free((char *)ntlm->negotiate_sent.ptr);
    free((char *)ntlm->challenge_sent.ptr);
    explicit_bzero(ntlm, sizeof *ntlm);
    free(ntlm);
}

static struct bytes keep(struct bytes message)
{
    return bytes_of(memcpy(xmalloc(message.len), message.ptr, message.len), message.len);
}

/* ---- CHALLENGE ---- */

/* AV pairs. ms-nlmp: 2.2.2.1 */
enum av_id {
    AV_END = 0,
    AV_COMPUTER = 1,
    AV_DOMAIN = 2,
    AV_DNS_COMPUTER = 3,
    AV_DNS_DOMAIN = 4,
    AV_FLAGS = 6,
    AV_TIME = 7,
};
#define AV_FLAG_MIC 0x2u /* AUTHENTICATE contains a MIC */

/* The server's names; it is in no domain. */
static const struct bytes server_name = BYTES("LAGRA");
static const struct bytes server_dns_name = BYTES("lagra");

static void put_name(struct wire_writer *w, enum av_id id, struct bytes name)
{
    wire_put_u16(w, (uint16_t)id);
    wire_put_u16(w, (uint16_t)(bytes_utf16_units(name) * 2));
    wire_put_utf16(w, name);
}

/* Writes the fields of a buffer in the payload: length, maximum length, offset. */
static void put_fields(struct wire_writer *w, size_t length, size_t offset)
{
    wire_put_u16(w, (uint16_t)length);
    wire_put_u16(w, (uint16_t)length);
    wire_put_u32(w, (uint32_t)offset);
}

#define CHALLENGE_FIXED 56
/* Version 10.0, build 20348, NTLM revision 15; clients ignore the values. ms-nlmp: 2.2.2.10 */
static const uint8_t version[8] = { 10, 0, 0x7C, 0x4F, 0, 0, 0, 15 };

/* Builds the CHALLENGE message. ms-nlmp: 2.2.1.2, 3.2.5.1.1 */
static struct bytes challenge_message(const struct ntlm *ntlm, struct arena *arena, instant now)
{
    size_t name_size = bytes_utf16_units(server_name) * 2;
    struct text out;
    struct wire_writer w;
    size_t info_at = CHALLENGE_FIXED + name_size;

    text_init(&out, arena, 256);
    wire_writer_init(&w, &out);
    wire_put(&w, bytes_of(magic, sizeof magic));
    wire_put_u32(&w, MESSAGE_CHALLENGE);
    put_fields(&w, name_size, CHALLENGE_FIXED);
    wire_put_u32(&w, ntlm->flags);
    wire_put(&w, bytes_of(ntlm->challenge, sizeof ntlm->challenge));
    wire_put_zeros(&w, 8);
    put_fields(&w, 0, info_at);
    wire_put(&w, bytes_of(version, sizeof version));
    assert(wire_place(&w) == CHALLENGE_FIXED);
    wire_put_utf16(&w, server_name);
    put_name(&w, AV_DOMAIN, server_name);
    put_name(&w, AV_COMPUTER, server_name);
    put_name(&w, AV_DNS_DOMAIN, server_dns_name);
    put_name(&w, AV_DNS_COMPUTER, server_dns_name);
    wire_put_u16(&w, AV_TIME);
    wire_put_u16(&w, 8);
    wire_put_u64(&w, filetime_of(now));
    wire_put_u32(&w, AV_END);
    wire_set_u16(&w, 40, (uint16_t)(wire_place(&w) - info_at));
    wire_set_u16(&w, 42, (uint16_t)(wire_place(&w) - info_at));
    return text_bytes(&out);
}

/* Maximum size of a NEGOTIATE message, which is stored before the client is authenticated. It
 * contains names of up to 15 and 255 characters. */
#define NEGOTIATE_MAX 1024

static enum spnego_step take_negotiate(struct ntlm *ntlm, struct arena *arena,
                                       struct wire_reader *r, struct bytes token, instant now,
                                       struct bytes *ret_token)
{
    uint32_t flags = wire_u32(r);

    if (!wire_ok(r) || token.len > NEGOTIATE_MAX)
        return SPNEGO_MALFORMED;
    if (!(flags & NTLM_UNICODE) || !(flags & NTLM_NTLM))
        return SPNEGO_REFUSED;
    ntlm->flags =
        (flags & FLAGS_OFFERED) | NTLM_TARGET_INFO | NTLM_TARGET_IS_SERVER | NTLM_REQUEST_TARGET;
    *ret_token = challenge_message(ntlm, arena, now);
    ntlm->negotiate_sent = keep(token);
    ntlm->challenge_sent = keep(*ret_token);
    ntlm->state = EXPECTS_AUTHENTICATE;
    return SPNEGO_MORE;
}

/* ---- AUTHENTICATE ---- */

/* AUTHENTICATE message. ms-nlmp: 2.2.1.3 */
#define AUTHENTICATE_FIXED 64 /* Version and MIC are optional */
#define MIC_AT             72

struct authenticate {
    struct bytes response, domain, user, sent_key; /* point into the token */
    uint32_t flags;
};

static struct bytes take_fields(struct wire_reader *r)
{
    uint16_t length = wire_u16(r);

    wire_skip(r, 2);
    return wire_buffer(r, wire_u32(r), length, AUTHENTICATE_FIXED);
}

static bool parse_authenticate(struct wire_reader *r, struct authenticate *ret)
{
    take_fields(r); /* LmChallengeResponse */
    ret->response = take_fields(r);
    ret->domain = take_fields(r);
    ret->user = take_fields(r);
    take_fields(r); /* Workstation */
    ret->sent_key = take_fields(r);
    ret->flags = wire_u32(r);
    return wire_ok(r) && ret->user.len % 2 == 0 && ret->domain.len % 2 == 0;
}

/* Size of the NTLMv2 response before its AV pairs. ms-nlmp: 2.2.2.7, 2.2.2.8 */
#define RESPONSE_FIXED (NTLM_PROOF_SIZE + 28)

/* Reads MsvAvFlags from the AV pairs of the response. Returns false if a pair is malformed. */
static bool parse_response(struct bytes response, uint32_t *ret_av_flags)
{
    struct wire_reader r;
    uint16_t id, length;

    *ret_av_flags = 0;
    wire_reader_init(&r, response);
    wire_skip(&r, NTLM_PROOF_SIZE);
    if (wire_u8(&r) != 1 || wire_u8(&r) != 1) /* RespType, HiRespType */
        return false;
    wire_seek(&r, RESPONSE_FIXED, 0);
    while (wire_ok(&r)) {
        id = wire_u16(&r);
        length = wire_u16(&r);
        if (id == AV_END)
            break;
        if (id == AV_FLAGS && length == 4)
            *ret_av_flags = wire_u32(&r);
        else
            wire_skip(&r, length);
    }
    return wire_ok(&r);
}

/* Returns the account for a user name, ignoring a domain before a backslash, or NULL. User names
 * are case-insensitive. */
static const struct account *find_account(const struct ntlm *ntlm, struct arena *arena,
                                          struct bytes user)
{
    struct bytes name, domain, rest;

    if (!wire_utf8(arena, user, &name))
        return NULL;
    bytes_cut(name, '\\', &domain, &rest);
    return accounts_find_host(ntlm->accounts, rest.ptr ? rest : name);
}

/* Checks the response against each key of the account; takes as long if the account is NULL.
 * ret_base_key: set if true is returned */
static bool prove(const struct ntlm *ntlm, const struct account *account,
                  const struct authenticate *a, uint8_t ret_base_key[NTLM_KEY_SIZE])
{
    uint8_t hashes[ACCOUNT_KEYS_MAX][NT_HASH_SIZE] = { 0 }, key[NTLM_KEY_SIZE],
            proof[NTLM_PROOF_SIZE];
    size_t count = account ? account_nt_hashes(account, hashes) : 0;
    bool proved = false;

    for (size_t i = 0; i < ACCOUNT_KEYS_MAX; i++) {
        ntlm_user_key(hashes[i], a->user, a->domain, key);
        ntlm_proof(key, ntlm->challenge, bytes_from(a->response, NTLM_PROOF_SIZE), proof);
        if (bytes_equal_secret(bytes_of(proof, sizeof proof),
                               bytes_of(a->response.ptr, NTLM_PROOF_SIZE)) &&
            i < count) {
            ntlm_base_key(key, proof, ret_base_key);
            proved = true;
        }
    }
    explicit_bzero(hashes, sizeof hashes);
    explicit_bzero(key, sizeof key);
    return proved;
}

/* Verifies the MIC over all three messages. ms-nlmp: 3.2.5.1.2 */
static bool mic_is_right(const struct ntlm *ntlm, struct arena *arena, struct bytes token)
{
    struct bytes messages[3] = { ntlm->negotiate_sent, ntlm->challenge_sent };
    uint8_t mic[NTLM_MIC_SIZE];
    char *copy;

    if (token.len < MIC_AT + NTLM_MIC_SIZE)
        return false;
    copy = arena_bytes(arena, token.len);
    memcpy(copy, token.ptr, token.len);
    memset(copy + MIC_AT, 0, NTLM_MIC_SIZE);
    messages[2] = bytes_of(copy, token.len);
    ntlm_mic(ntlm->session_key, messages, mic);
    return bytes_equal_secret(bytes_of(mic, sizeof mic), bytes_of(token.ptr + MIC_AT, sizeof mic));
}

/* Sets the session key: chosen by the client, or derived from the proof. */
static bool settle_key(struct ntlm *ntlm, const struct authenticate *a,
                       const uint8_t base_key[NTLM_KEY_SIZE])
{
    ntlm->flags &= a->flags;
    if (!(ntlm->flags & NTLM_KEY_EXCHANGE)) {
        memcpy(ntlm->session_key, base_key, NTLM_KEY_SIZE);
        return true;
    }
    if (a->sent_key.len != NTLM_KEY_SIZE)
        return false;
    ntlm_exchange_key(base_key, (const uint8_t *)a->sent_key.ptr, ntlm->session_key);
    return true;
}

static enum spnego_step take_authenticate(struct ntlm *ntlm, struct arena *arena,
                                          struct wire_reader *r, struct bytes token)
{
    struct authenticate a;
    const struct account *account;
    uint8_t base_key[NTLM_KEY_SIZE] = { 0 };
    uint32_t av_flags;
    bool ok;

    if (!parse_authenticate(r, &a))
        return SPNEGO_MALFORMED;
    /* An empty response is anonymous; one of 24 bytes is NTLMv1. */
    if (!(a.flags & NTLM_UNICODE) || (a.flags & NTLM_ANONYMOUS) ||
        a.response.len < RESPONSE_FIXED || a.user.len == 0)
        return SPNEGO_REFUSED;
    if (!parse_response(a.response, &av_flags))
        return SPNEGO_MALFORMED;
    account = find_account(ntlm, arena, a.user);
    ok = prove(ntlm, account, &a, base_key) && settle_key(ntlm, &a, base_key) &&
         (!(av_flags & AV_FLAG_MIC) || mic_is_right(ntlm, arena, token));
    explicit_bzero(base_key, sizeof base_key);
    if (!ok)
        return SPNEGO_REFUSED;
    ntlm->account = account;
    return SPNEGO_DONE;
}

enum spnego_step ntlm_step(struct ntlm *ntlm, struct arena *arena, struct bytes token, instant now,
                           struct bytes *ret_token)
{
    enum state state = ntlm->state;
    struct wire_reader r;
    uint32_t type;

    assert(state != ENDED);
    ntlm->state = ENDED;
    if (!ntlm_is_token(token))
        return SPNEGO_MALFORMED;
    wire_reader_init(&r, token);
    wire_skip(&r, sizeof magic);
    type = wire_u32(&r);
    if (type != (state == EXPECTS_NEGOTIATE ? MESSAGE_NEGOTIATE : MESSAGE_AUTHENTICATE))
        return SPNEGO_MALFORMED;
    return state == EXPECTS_NEGOTIATE ? take_negotiate(ntlm, arena, &r, token, now, ret_token)
                                      : take_authenticate(ntlm, arena, &r, token);
}

/* ---- results ---- */

const struct account *ntlm_account(const struct ntlm *ntlm)
{
    assert(ntlm->account);
    return ntlm->account;
}

struct bytes ntlm_session_key(const struct ntlm *ntlm)
{
    assert(ntlm->account);
    return bytes_of(ntlm->session_key, sizeof ntlm->session_key);
}

void ntlm_sign_as_server(const struct ntlm *ntlm, struct bytes message,
                         uint8_t ret_signature[NTLM_SIGNATURE_SIZE])
{
    assert(ntlm->account);
    ntlm_sign(ntlm->session_key, ntlm->flags, NTLM_SERVER, message, ret_signature);
}

bool ntlm_signed_by_client(const struct ntlm *ntlm, struct bytes message, struct bytes signature)
{
    uint8_t right[NTLM_SIGNATURE_SIZE];

    assert(ntlm->account);
    if (!(ntlm->flags & NTLM_EXTENDED_SECURITY))
        return false;
    ntlm_sign(ntlm->session_key, ntlm->flags, NTLM_CLIENT, message, right);
    return bytes_equal_secret(bytes_of(right, sizeof right), signature);
}
