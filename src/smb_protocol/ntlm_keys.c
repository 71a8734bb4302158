/* See ntlm_keys.h. */
#include "smb_protocol/ntlm_keys.h"

#include <nettle/arcfour.h>
#include <nettle/hmac.h>
#include <nettle/md5.h>

#include "base/endian.h"
#include "tree/path.h"

void ntlm_user_key(const uint8_t hash[NTLM_HASH_SIZE], struct bytes user, struct bytes domain,
                   uint8_t ret_key[NTLM_KEY_SIZE])
{
    struct hmac_md5_ctx hmac;
    uint8_t unit[2];

    hmac_md5_set_key(&hmac, NTLM_HASH_SIZE, hash);
    for (size_t at = 0; at + 2 <= user.len; at += 2) {
        le16_put(unit, upcase_unit(le16_get(user.ptr + at)));
        hmac_md5_update(&hmac, sizeof unit, unit);
    }
    hmac_md5_update(&hmac, domain.len, (const uint8_t *)domain.ptr);
    hmac_md5_digest(&hmac, NTLM_KEY_SIZE, ret_key);
    explicit_bzero(&hmac, sizeof hmac);
}

void ntlm_proof(const uint8_t user_key[NTLM_KEY_SIZE], const uint8_t challenge[NTLM_CHALLENGE_SIZE],
                struct bytes blob, uint8_t ret_proof[NTLM_PROOF_SIZE])
{
    struct hmac_md5_ctx hmac;

    hmac_md5_set_key(&hmac, NTLM_KEY_SIZE, user_key);
    hmac_md5_update(&hmac, NTLM_CHALLENGE_SIZE, challenge);
    hmac_md5_update(&hmac, blob.len, (const uint8_t *)blob.ptr);
    hmac_md5_digest(&hmac, NTLM_PROOF_SIZE, ret_proof);
    explicit_bzero(&hmac, sizeof hmac);
}

void ntlm_base_key(const uint8_t user_key[NTLM_KEY_SIZE], const uint8_t proof[NTLM_PROOF_SIZE],
                   uint8_t ret_key[NTLM_KEY_SIZE])
{
    struct hmac_md5_ctx hmac;

    hmac_md5_set_key(&hmac, NTLM_KEY_SIZE, user_key);
    hmac_md5_update(&hmac, NTLM_PROOF_SIZE, proof);
    hmac_md5_digest(&hmac, NTLM_KEY_SIZE, ret_key);
    explicit_bzero(&hmac, sizeof hmac);
}

void ntlm_exchange_key(const uint8_t base_key[NTLM_KEY_SIZE], const uint8_t sent[NTLM_KEY_SIZE],
                       uint8_t ret_key[NTLM_KEY_SIZE])
{
    struct arcfour_ctx rc4;

    arcfour_set_key(&rc4, NTLM_KEY_SIZE, base_key);
    arcfour_crypt(&rc4, NTLM_KEY_SIZE, ret_key, sent);
    explicit_bzero(&rc4, sizeof rc4);
}

void ntlm_mic(const uint8_t session_key[NTLM_KEY_SIZE], const struct bytes messages[3],
              uint8_t ret_mic[NTLM_MIC_SIZE])
{
    struct hmac_md5_ctx hmac;

    hmac_md5_set_key(&hmac, NTLM_KEY_SIZE, session_key);
    for (size_t i = 0; i < 3; i++)
        hmac_md5_update(&hmac, messages[i].len, (const uint8_t *)messages[i].ptr);
    hmac_md5_digest(&hmac, NTLM_MIC_SIZE, ret_mic);
    explicit_bzero(&hmac, sizeof hmac);
}

/* Constants of SIGNKEY and SEALKEY, with their terminating NUL. ms-nlmp: 3.4.5.2, 3.4.5.3 */
static const char sign_client[] = "session key to client-to-server signing key magic constant";
static const char sign_server[] = "session key to server-to-client signing key magic constant";
static const char seal_client[] = "session key to client-to-server sealing key magic constant";
static const char seal_server[] = "session key to server-to-client sealing key magic constant";

/* Derives SIGNKEY or SEALKEY. magic: one of the four constants, which have the same size */
static void magic_key(const uint8_t *key, size_t size, const char *magic,
                      uint8_t ret_key[MD5_DIGEST_SIZE])
{
    struct md5_ctx md5;

    md5_init(&md5);
    md5_update(&md5, size, key);
    md5_update(&md5, sizeof sign_client, (const uint8_t *)magic);
    md5_digest(&md5, MD5_DIGEST_SIZE, ret_key);
    explicit_bzero(&md5, sizeof md5);
}

#define CHECKSUM_SIZE 8

/* Signs a message. ms-nlmp: 3.4.4.2 */
void ntlm_sign(const uint8_t session_key[NTLM_KEY_SIZE], uint32_t flags, enum ntlm_sender sender,
               struct bytes message, uint8_t ret_signature[NTLM_SIGNATURE_SIZE])
{
    static const uint8_t sequence[4] = { 0 };
    size_t strength = flags & NTLM_128 ? 16 : flags & NTLM_56 ? 7 : 5;
    uint8_t key[MD5_DIGEST_SIZE], checksum[CHECKSUM_SIZE];
    struct hmac_md5_ctx hmac;
    struct arcfour_ctx rc4;

    magic_key(session_key, NTLM_KEY_SIZE, sender == NTLM_CLIENT ? sign_client : sign_server, key);
    hmac_md5_set_key(&hmac, sizeof key, key);
    hmac_md5_update(&hmac, sizeof sequence, sequence);
    hmac_md5_update(&hmac, message.len, (const uint8_t *)message.ptr);
    hmac_md5_digest(&hmac, sizeof checksum, checksum);
    if (flags & NTLM_KEY_EXCHANGE) {
        magic_key(session_key, strength, sender == NTLM_CLIENT ? seal_client : seal_server, key);
        arcfour_set_key(&rc4, sizeof key, key);
        arcfour_crypt(&rc4, sizeof checksum, checksum, checksum);
        explicit_bzero(&rc4, sizeof rc4);
    }
    le32_put(ret_signature, 1); /* Version */
    memcpy(ret_signature + 4, checksum, sizeof checksum);
    memcpy(ret_signature + 12, sequence, sizeof sequence);
    explicit_bzero(key, sizeof key);
    explicit_bzero(&hmac, sizeof hmac);
}
