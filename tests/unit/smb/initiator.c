#include "initiator.h"

#include <stdlib.h>

#include <nettle/md4.h>

#include "base/endian.h"
#include "smb_protocol/wire.h"

#define FLAGS_OFFERED                                                                              \
    (NTLM_UNICODE | NTLM_REQUEST_TARGET | NTLM_SIGN | NTLM_NTLM | NTLM_ALWAYS_SIGN |               \
     NTLM_EXTENDED_SECURITY | NTLM_VERSION | NTLM_128 | NTLM_KEY_EXCHANGE | NTLM_56)
#define FIXED  88 /* of AUTHENTICATE, with version and MIC */
#define MIC_AT 72

static const char magic[8] = "NTLMSSP";

struct bytes initiator_begin(struct initiator *i, struct arena *arena)
{
    struct text out;
    struct wire_writer w;

    if (i->flags == 0)
        i->flags = FLAGS_OFFERED;
    text_init(&out, arena, 64);
    wire_writer_init(&w, &out);
    wire_put(&w, bytes_of(magic, sizeof magic));
    wire_put_u32(&w, 1);
    wire_put_u32(&w, i->flags);
    wire_put_zeros(&w, 24);
    i->negotiate = text_bytes(&out);
    return i->negotiate;
}

static struct bytes utf16(struct arena *arena, const char *text)
{
    struct text out;
    struct wire_writer w;

    text_init(&out, arena, 64);
    wire_writer_init(&w, &out);
    wire_put_utf16(&w, bytes_from_string(text));
    return text_bytes(&out);
}

static void user_key(const struct initiator *i, struct arena *arena, uint8_t ret_key[NTLM_KEY_SIZE])
{
    struct bytes password = utf16(arena, i->password);
    uint8_t hash[MD4_DIGEST_SIZE];
    struct md4_ctx md4;

    md4_init(&md4);
    md4_update(&md4, password.len, (const uint8_t *)password.ptr);
    md4_digest(&md4, sizeof hash, hash);
    if (i->has_no_password)
        memset(hash, 0, sizeof hash);
    ntlm_user_key(hash, utf16(arena, i->user), utf16(arena, i->domain), ret_key);
}

/* Proof and blob, with the server's AV pairs and, if there is to be a MIC, the flag that says
 * so. */
static struct bytes response(const struct initiator *i, struct arena *arena,
                             const uint8_t key[NTLM_KEY_SIZE], struct bytes challenge)
{
    struct bytes info;
    struct text out;
    struct wire_writer w;
    struct wire_reader r;
    uint8_t proof[NTLM_PROOF_SIZE];
    uint16_t size;

    wire_reader_init(&r, challenge);
    wire_skip(&r, 40);
    size = wire_u16(&r);
    wire_skip(&r, 2);
    info = wire_buffer(&r, wire_u32(&r), size, 48);
    text_init(&out, arena, 256);
    wire_writer_init(&w, &out);
    wire_put_zeros(&w, NTLM_PROOF_SIZE);
    wire_put_u16(&w, i->other_version ? 0x0201 : 0x0101);
    wire_put_zeros(&w, 14);
    wire_put_u64(&w, 0xAAAAAAAAAAAAAAAA);
    wire_put_zeros(&w, 4);
    if (!i->without_mic) {
        wire_put_u16(&w, 6);
        wire_put_u16(&w, 4);
        wire_put_u32(&w, 2);
    }
    if (i->odd_flags_pair) {
        wire_put_u16(&w, 6);
        wire_put_u16(&w, 8);
        wire_put_u64(&w, 2);
    }
    wire_put(&w, info);
    wire_put_zeros(&w, 4);
    ntlm_proof(key, (const uint8_t *)challenge.ptr + 24,
               bytes_from(text_bytes(&out), NTLM_PROOF_SIZE), proof);
    memcpy(out.ptr, proof, sizeof proof);
    return text_bytes(&out);
}

static void put_fields(struct wire_writer *w, struct bytes value, size_t *at)
{
    wire_put_u16(w, (uint16_t)value.len);
    wire_put_u16(w, (uint16_t)value.len);
    wire_put_u32(w, (uint32_t)*at);
    *at += value.len;
}

struct bytes initiator_answer(struct initiator *i, struct arena *arena, struct bytes challenge)
{
    static const uint8_t chosen[NTLM_KEY_SIZE] = { 0x55, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    uint8_t key[NTLM_KEY_SIZE], base[NTLM_KEY_SIZE], sent[NTLM_KEY_SIZE], mic[NTLM_MIC_SIZE];
    struct bytes values[6], messages[3] = { i->negotiate, challenge };
    struct text out;
    struct wire_writer w;
    size_t at = FIXED;

    if (challenge.len < 48)
        abort();
    i->agreed = le32_get(challenge.ptr + 20) & i->flags;
    user_key(i, arena, key);
    values[0] = bytes_of("", 0); /* LM */
    values[1] = response(i, arena, key, challenge);
    ntlm_base_key(key, (const uint8_t *)values[1].ptr, base);
    if (i->response_size > 0)
        values[1].len = i->response_size;
    values[2] = utf16(arena, i->domain);
    values[3] = utf16(arena, i->user);
    values[4] = utf16(arena, "CLIENT");
    memcpy(i->session_key, i->agreed & NTLM_KEY_EXCHANGE ? chosen : base, NTLM_KEY_SIZE);
    ntlm_exchange_key(base, chosen, sent);
    values[5] = bytes_of(sent, i->agreed & NTLM_KEY_EXCHANGE ? sizeof sent : 0);
    if (i->short_key)
        values[5].len /= 2;

    text_init(&out, arena, 512);
    wire_writer_init(&w, &out);
    wire_put(&w, bytes_of(magic, sizeof magic));
    wire_put_u32(&w, 3);
    for (size_t n = 0; n < 6; n++)
        put_fields(&w, values[n], &at);
    wire_put_u32(&w, i->agreed ^ i->changes_flags);
    wire_put_zeros(&w, FIXED - wire_place(&w));
    for (size_t n = 0; n < 6; n++)
        wire_put(&w, values[n]);
    messages[2] = text_bytes(&out);
    ntlm_mic(i->session_key, messages, mic);
    mic[0] ^= i->spoils_mic;
    if (!i->without_mic)
        memcpy(out.ptr + MIC_AT, mic, sizeof mic);
    return text_bytes(&out);
}
