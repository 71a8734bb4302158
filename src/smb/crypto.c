/* Keys, signatures and sealed frames of a session: see crypto.h. */
#include "smb/crypto.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <nettle/aes.h>
#include <nettle/ccm.h>
#include <nettle/cmac.h>
#include <nettle/gcm.h>
#include <nettle/hmac.h>
#include <nettle/sha2.h>

#include "base/endian.h"

void preauth_add(struct preauth *preauth, struct bytes message)
{
    struct sha512_ctx sha;

    sha512_init(&sha);
    sha512_update(&sha, sizeof preauth->hash, preauth->hash);
    sha512_update(&sha, message.len, (const uint8_t *)message.ptr);
    sha512_digest(&sha, sizeof preauth->hash, preauth->hash);
}

/* ---- keys ---- */

/* Labels and contexts with the NUL that is a part of them. ms-smb2: 3.3.5.5.3 */
struct derivation {
    struct bytes label, context; /* context of 3.1.1: the session's hash */
};
enum derived { DERIVE_SIGNING, DERIVE_SEALING, DERIVE_OPENING, DERIVE_APPLICATION };
#define NUL_ENDED(literal)                                                                         \
    {                                                                                              \
        (literal), sizeof(literal)                                                                 \
    }
static const struct derivation smb30[] = {
    [DERIVE_SIGNING] = { NUL_ENDED("SMB2AESCMAC"), NUL_ENDED("SmbSign") },
    [DERIVE_SEALING] = { NUL_ENDED("SMB2AESCCM"), NUL_ENDED("ServerOut") },
    [DERIVE_OPENING] = { NUL_ENDED("SMB2AESCCM"), NUL_ENDED("ServerIn ") },
    [DERIVE_APPLICATION] = { NUL_ENDED("SMB2APP"), NUL_ENDED("SmbRpc") },
};
static const struct derivation smb311[] = {
    [DERIVE_SIGNING] = { .label = NUL_ENDED("SMBSigningKey") },
    [DERIVE_SEALING] = { .label = NUL_ENDED("SMBS2CCipherKey") },
    [DERIVE_OPENING] = { .label = NUL_ENDED("SMBC2SCipherKey") },
    [DERIVE_APPLICATION] = { .label = NUL_ENDED("SMBAppKey") },
};

/* Counter mode with HMAC-SHA256, whose first block is enough. SP800-108 5.1; ms-smb2: 3.1.4.2 */
static void derive(struct bytes key, struct bytes label, struct bytes context, uint8_t *ret_key,
                   size_t size)
{
    struct hmac_sha256_ctx hmac;
    uint8_t number[4];

    assert(size <= SHA256_DIGEST_SIZE);
    hmac_sha256_set_key(&hmac, key.len, (const uint8_t *)key.ptr);
    be32_put(number, 1);
    hmac_sha256_update(&hmac, sizeof number, number);
    hmac_sha256_update(&hmac, label.len, (const uint8_t *)label.ptr);
    hmac_sha256_update(&hmac, 1, (const uint8_t *)"");
    hmac_sha256_update(&hmac, context.len, (const uint8_t *)context.ptr);
    be32_put(number, (uint32_t)size * 8);
    hmac_sha256_update(&hmac, sizeof number, number);
    hmac_sha256_digest(&hmac, size, ret_key);
    explicit_bzero(&hmac, sizeof hmac);
}

static void derive_for(enum smb_dialect dialect, enum derived what, struct bytes key,
                       const struct preauth *preauth, uint8_t *ret_key, size_t size)
{
    const struct derivation *d = dialect == SMB_311 ? &smb311[what] : &smb30[what];

    derive(key, d->label,
           dialect == SMB_311 ? bytes_of(preauth->hash, sizeof preauth->hash) : d->context, ret_key,
           size);
}

/* "Session.SessionKey": the first 16 bytes, or fewer with zeros behind them. ms-smb2: 3.3.5.5.3 */
static void first_bytes(struct bytes key, uint8_t ret_key[SESSION_KEY_SIZE])
{
    memset(ret_key, 0, SESSION_KEY_SIZE);
    memcpy(ret_key, key.ptr, key.len < SESSION_KEY_SIZE ? key.len : SESSION_KEY_SIZE);
}

void smb_channel_key_derive(enum smb_dialect dialect, struct bytes session_key,
                            const struct preauth *preauth, uint8_t ret_signing[SIGNING_KEY_SIZE])
{
    uint8_t key[SESSION_KEY_SIZE];

    first_bytes(session_key, key);
    if (dialect < SMB_300)
        memcpy(ret_signing, key, sizeof key);
    else
        derive_for(dialect, DERIVE_SIGNING, bytes_of(key, sizeof key), preauth, ret_signing,
                   SIGNING_KEY_SIZE);
    explicit_bzero(key, sizeof key);
}

void smb_keys_derive(enum smb_dialect dialect, enum smb_cipher cipher, struct bytes session_key,
                     const struct preauth *preauth, struct smb_keys *ret_keys)
{
    bool is_256 = cipher == CIPHER_AES_256_CCM || cipher == CIPHER_AES_256_GCM;
    uint8_t first[SESSION_KEY_SIZE] = { 0 };
    struct bytes key = bytes_of(first, sizeof first);
    struct smb_keys keys = { .sealing_size = is_256 ? 32 : 16 };

    first_bytes(session_key, first);
    smb_channel_key_derive(dialect, session_key, preauth, keys.signing);
    if (dialect < SMB_300) {
        memcpy(keys.application, first, sizeof first);
    } else {
        derive_for(dialect, DERIVE_APPLICATION, key, preauth, keys.application,
                   sizeof keys.application);
        derive_for(dialect, DERIVE_SEALING, is_256 ? session_key : key, preauth, keys.sealing,
                   keys.sealing_size);
        derive_for(dialect, DERIVE_OPENING, is_256 ? session_key : key, preauth, keys.opening,
                   keys.sealing_size);
    }
    *ret_keys = keys;
    smb_keys_wipe(&keys);
    explicit_bzero(first, sizeof first);
}

void smb_keys_wipe(struct smb_keys *keys)
{
    explicit_bzero(keys, sizeof *keys);
}

/* ---- signing ---- */

struct signer {
    enum smb_signing algorithm;
    union {
        struct hmac_sha256_ctx hmac; /* keyed; copied to be used, as is the next */
        struct cmac_aes128_ctx cmac;
        struct {
            struct aes128_ctx cipher;
            struct gcm_key key;
        } gmac;
    };
};

struct signer *signer_new(enum smb_signing algorithm, const uint8_t key[SIGNING_KEY_SIZE])
{
    struct signer *signer = xcalloc(1, sizeof *signer);

    signer->algorithm = algorithm;
    switch (algorithm) {
    case SIGNING_HMAC_SHA256:
        hmac_sha256_set_key(&signer->hmac, SIGNING_KEY_SIZE, key);
        break;
    case SIGNING_AES_CMAC:
        cmac_aes128_set_key(&signer->cmac, key);
        break;
    case SIGNING_AES_GMAC:
        aes128_set_encrypt_key(&signer->gmac.cipher, key);
        gcm_set_key(&signer->gmac.key, &signer->gmac.cipher, (nettle_cipher_func *)aes128_encrypt);
        break;
    }
    return signer;
}

void signer_free(struct signer *signer)
{
    if (!signer)
        return;
    explicit_bzero(signer, sizeof *signer);
    free(signer);
}

static const uint8_t no_signature[SMB_SIGNATURE_SIZE];

/* The message is signed with zeros in the place of its signature. ms-smb2: 3.1.4.1 */
static void sign_hmac(struct hmac_sha256_ctx hmac, struct bytes message, uint8_t *ret_signature)
{
    const uint8_t *at = (const uint8_t *)message.ptr;

    hmac_sha256_update(&hmac, SMB_SIGNATURE_AT, at);
    hmac_sha256_update(&hmac, sizeof no_signature, no_signature);
    hmac_sha256_update(&hmac, message.len - SMB_HEADER_SIZE, at + SMB_HEADER_SIZE);
    hmac_sha256_digest(&hmac, SMB_SIGNATURE_SIZE, ret_signature);
    explicit_bzero(&hmac, sizeof hmac);
}

static void sign_cmac(struct cmac_aes128_ctx cmac, struct bytes message, uint8_t *ret_signature)
{
    const uint8_t *at = (const uint8_t *)message.ptr;

    cmac_aes128_update(&cmac, SMB_SIGNATURE_AT, at);
    cmac_aes128_update(&cmac, sizeof no_signature, no_signature);
    cmac_aes128_update(&cmac, message.len - SMB_HEADER_SIZE, at + SMB_HEADER_SIZE);
    cmac_aes128_digest(&cmac, SMB_SIGNATURE_SIZE, ret_signature);
    explicit_bzero(&cmac, sizeof cmac);
}

#define GMAC_NONCE_SERVER 1
#define GMAC_NONCE_CANCEL 2

/* The nonce is the message id, the sender, and whether it is a CANCEL, whose id is that of what it
 * cancels. ms-smb2: 3.1.4.1 */
static void sign_gmac(const struct aes128_ctx *cipher, const struct gcm_key *key,
                      const struct smb_header *header, struct bytes message, uint8_t *ret_signature)
{
    const uint8_t *at = (const uint8_t *)message.ptr;
    uint8_t nonce[GCM_IV_SIZE];
    struct gcm_ctx gcm;

    le64_put(nonce, header->message_id);
    le32_put(nonce + 8, (header->flags & SMB_FLAG_RESPONSE ? GMAC_NONCE_SERVER : 0) |
                            (header->command == SMB_CANCEL ? GMAC_NONCE_CANCEL : 0));
    gcm_set_iv(&gcm, key, sizeof nonce, nonce);
    gcm_update(&gcm, key, SMB_SIGNATURE_AT, at);
    gcm_update(&gcm, key, sizeof no_signature, no_signature);
    gcm_update(&gcm, key, message.len - SMB_HEADER_SIZE, at + SMB_HEADER_SIZE);
    gcm_digest(&gcm, key, cipher, (nettle_cipher_func *)aes128_encrypt, SMB_SIGNATURE_SIZE,
               ret_signature);
}

/* Returns false when the message does not begin with a header. */
static bool compute(const struct signer *signer, struct bytes message,
                    uint8_t ret_signature[SMB_SIGNATURE_SIZE])
{
    struct smb_header header;
    struct wire_reader r;

    wire_reader_init(&r, message);
    if (!smb_header_read(&r, &header))
        return false;
    switch (signer->algorithm) {
    case SIGNING_HMAC_SHA256:
        sign_hmac(signer->hmac, message, ret_signature);
        break;
    case SIGNING_AES_CMAC:
        sign_cmac(signer->cmac, message, ret_signature);
        break;
    case SIGNING_AES_GMAC:
        sign_gmac(&signer->gmac.cipher, &signer->gmac.key, &header, message, ret_signature);
        break;
    }
    return true;
}

void signer_sign(const struct signer *signer, uint8_t *message, size_t size)
{
    uint8_t signature[SMB_SIGNATURE_SIZE];
    bool signed_now;

    assert(size >= SMB_HEADER_SIZE);
    le32_put(message + SMB_FLAGS_AT, le32_get(message + SMB_FLAGS_AT) | SMB_FLAG_SIGNED);
    signed_now = compute(signer, bytes_of(message, size), signature);
    assert(signed_now);
    memcpy(message + SMB_SIGNATURE_AT, signature, sizeof signature);
}

bool signer_verify(const struct signer *signer, struct bytes message)
{
    uint8_t signature[SMB_SIGNATURE_SIZE];

    return compute(signer, message, signature) &&
           bytes_equal_secret(bytes_of(signature, sizeof signature),
                              bytes_of(message.ptr + SMB_SIGNATURE_AT, SMB_SIGNATURE_SIZE));
}

/* ---- sealing ---- */

#define CCM_NONCE_SIZE 11
/* What is authenticated of the transform header: all behind its signature. ms-smb2: 3.1.4.3 */
#define AAD_AT         20
#define AAD_SIZE       (SMB_TRANSFORM_SIZE - AAD_AT)

struct sealer {
    bool is_gcm;
    nettle_cipher_func *encrypt;
    union {
        struct aes128_ctx aes128;
        struct aes256_ctx aes256;
    } cipher;
    struct gcm_key gcm;
    _Atomic uint64_t seals; /* how many nonces have been used */
};

struct sealer *sealer_new(enum smb_cipher cipher, const uint8_t *key)
{
    struct sealer *sealer = xcalloc(1, sizeof *sealer);

    assert(cipher != CIPHER_NONE);
    if (cipher == CIPHER_AES_128_CCM || cipher == CIPHER_AES_128_GCM) {
        sealer->encrypt = (nettle_cipher_func *)aes128_encrypt;
        aes128_set_encrypt_key(&sealer->cipher.aes128, key);
    } else {
        sealer->encrypt = (nettle_cipher_func *)aes256_encrypt;
        aes256_set_encrypt_key(&sealer->cipher.aes256, key);
    }
    sealer->is_gcm = cipher == CIPHER_AES_128_GCM || cipher == CIPHER_AES_256_GCM;
    if (sealer->is_gcm)
        gcm_set_key(&sealer->gcm, &sealer->cipher, sealer->encrypt);
    atomic_init(&sealer->seals, 0);
    return sealer;
}

void sealer_free(struct sealer *sealer)
{
    if (!sealer)
        return;
    explicit_bzero(sealer, sizeof *sealer);
    free(sealer);
}

enum direction { SEAL, OPEN };

static void run_gcm(const struct sealer *sealer, enum direction direction, uint8_t *frame,
                    size_t size, uint8_t *ret_tag)
{
    const void *cipher = &sealer->cipher;
    uint8_t *message = frame + SMB_TRANSFORM_SIZE;
    struct gcm_ctx gcm;

    gcm_set_iv(&gcm, &sealer->gcm, GCM_IV_SIZE, frame + AAD_AT);
    gcm_update(&gcm, &sealer->gcm, AAD_SIZE, frame + AAD_AT);
    (direction == SEAL ? gcm_encrypt : gcm_decrypt)(&gcm, &sealer->gcm, cipher, sealer->encrypt,
                                                    size, message, message);
    gcm_digest(&gcm, &sealer->gcm, cipher, sealer->encrypt, SMB_SIGNATURE_SIZE, ret_tag);
}

static void run_ccm(const struct sealer *sealer, enum direction direction, uint8_t *frame,
                    size_t size, uint8_t *ret_tag)
{
    const void *cipher = &sealer->cipher;
    uint8_t *message = frame + SMB_TRANSFORM_SIZE;
    struct ccm_ctx ccm;

    ccm_set_nonce(&ccm, cipher, sealer->encrypt, CCM_NONCE_SIZE, frame + AAD_AT, AAD_SIZE, size,
                  SMB_SIGNATURE_SIZE);
    ccm_update(&ccm, cipher, sealer->encrypt, AAD_SIZE, frame + AAD_AT);
    (direction == SEAL ? ccm_encrypt : ccm_decrypt)(&ccm, cipher, sealer->encrypt, size, message,
                                                    message);
    ccm_digest(&ccm, cipher, sealer->encrypt, SMB_SIGNATURE_SIZE, ret_tag);
}

/* size: of what follows the transform header. */
static void run(const struct sealer *sealer, enum direction direction, uint8_t *frame, size_t size,
                uint8_t *ret_tag)
{
    (sealer->is_gcm ? run_gcm : run_ccm)(sealer, direction, frame, size, ret_tag);
}

bool sealer_seal(struct sealer *sealer, uint64_t session_id, uint8_t *frame, size_t size)
{
    uint64_t count = atomic_fetch_add(&sealer->seals, 1);
    struct smb_transform transform = { .session_id = session_id };

    assert(size > SMB_TRANSFORM_SIZE && size - SMB_TRANSFORM_SIZE <= UINT32_MAX);
    if (count >= SEALS_MAX)
        return false;
    transform.size = (uint32_t)(size - SMB_TRANSFORM_SIZE);
    le64_put(transform.nonce, count);
    smb_transform_write(frame, &transform);
    run(sealer, SEAL, frame, transform.size, transform.signature);
    smb_transform_write(frame, &transform);
    return true;
}

bool sealer_open(const struct sealer *sealer, uint8_t *frame, size_t size)
{
    struct smb_transform transform;
    uint8_t tag[SMB_SIGNATURE_SIZE];

    if (!smb_transform_read(bytes_of(frame, size), &transform))
        return false;
    run(sealer, OPEN, frame, transform.size, tag);
    return bytes_equal_secret(bytes_of(tag, sizeof tag),
                              bytes_of(transform.signature, sizeof transform.signature));
}
