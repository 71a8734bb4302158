/* See crypto.h. */
#include "smb_protocol/crypto.h"

#include <assert.h>
#include <stdlib.h>

#include <gnutls/crypto.h>
#include <nettle/aes.h>
#include <nettle/ccm.h>
#include <nettle/cmac.h>
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

/* Labels and contexts include their terminating NUL. ms-smb2: 3.3.5.5.3 */
struct derivation {
    struct bytes label, context; /* in 3.1.1 the context is the session's preauthentication hash */
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

/* Derives a key by the KDF in counter mode with HMAC-SHA256, which needs one block. SP800-108 5.1;
 * ms-smb2: 3.1.4.2 */
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

/* Returns Session.SessionKey: the first 16 bytes of the key, padded with zeros. ms-smb2:
 * 3.3.5.5.3 */
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

/* ---- GCM ----
 *
 * GnuTLS encrypts and authenticates in one pass, twice as fast as nettle; this halves the cost of a
 * large read. */

#define GCM_NONCE_SIZE 12

static gnutls_aead_cipher_hd_t gcm_new(const uint8_t *key, size_t size)
{
    gnutls_datum_t datum = { .data = (uint8_t *)(uintptr_t)key, .size = (unsigned)size };
    gnutls_aead_cipher_hd_t gcm;
    int result = gnutls_aead_cipher_init(
        &gcm, size == 32 ? GNUTLS_CIPHER_AES_256_GCM : GNUTLS_CIPHER_AES_128_GCM, &datum);

    if (result == GNUTLS_E_MEMORY_ERROR)
        out_of_memory(size);
    assert(result == GNUTLS_E_SUCCESS);
    return gcm;
}

static giovec_t part_of(const void *ptr, size_t size)
{
    return (giovec_t){ .iov_base = (void *)(uintptr_t)ptr, .iov_len = size };
}

/* ---- signing ---- */

struct signer {
    enum smb_signing algorithm;
    union {
        /* initialized with the key; copied for each message, like cmac */
        struct hmac_sha256_ctx hmac;
        struct cmac_aes128_ctx cmac;
        gnutls_aead_cipher_hd_t gmac;
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
        signer->gmac = gcm_new(key, SIGNING_KEY_SIZE);
        break;
    }
    return signer;
}

void signer_free(struct signer *signer)
{
    if (!signer)
        return;
    if (signer->algorithm == SIGNING_AES_GMAC)
        gnutls_aead_cipher_deinit(signer->gmac);
    explicit_bzero(signer, sizeof *signer);
    free(signer);
}

static const uint8_t no_signature[SMB_SIGNATURE_SIZE];

/* Computes a signature, with zeros in the signature field. ms-smb2: 3.1.4.1 */
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

/* Computes a signature. The nonce consists of the message id, the role, and a flag for CANCEL,
 * which has the message id of the request it cancels. ms-smb2: 3.1.4.1 */
static void sign_gmac(gnutls_aead_cipher_hd_t gmac, const struct smb_header *header,
                      struct bytes message, uint8_t *ret_signature)
{
    const giovec_t parts[] = {
        part_of(message.ptr, SMB_SIGNATURE_AT),
        part_of(no_signature, sizeof no_signature),
        part_of(message.ptr + SMB_HEADER_SIZE, message.len - SMB_HEADER_SIZE),
    };
    uint8_t nonce[GCM_NONCE_SIZE];
    size_t size = SMB_SIGNATURE_SIZE;
    int result;

    le64_put(nonce, header->message_id);
    le32_put(nonce + 8, (header->flags & SMB_FLAG_RESPONSE ? GMAC_NONCE_SERVER : 0) |
                            (header->command == SMB_CANCEL ? GMAC_NONCE_CANCEL : 0));
    result =
        gnutls_aead_cipher_encryptv2(gmac, nonce, sizeof nonce, parts, sizeof parts / sizeof *parts,
                                     NULL, 0, ret_signature, &size);
    assert(result == GNUTLS_E_SUCCESS && size == SMB_SIGNATURE_SIZE);
}

/* Computes the signature of a message. Returns false if it has no valid header. */
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
        sign_gmac(signer->gmac, &header, message, ret_signature);
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

/* ---- encryption ---- */

#define CCM_NONCE_SIZE 11
/* Authenticated part of the transform header: all fields after Signature. ms-smb2: 3.1.4.3 */
#define AAD_AT         20
#define AAD_SIZE       (SMB_TRANSFORM_SIZE - AAD_AT)

struct sealer {
    gnutls_aead_cipher_hd_t gcm; /* NULL for CCM, which uses `encrypt` and `cipher` */
    nettle_cipher_func *encrypt;
    union {
        struct aes128_ctx aes128;
        struct aes256_ctx aes256;
    } cipher;
    uint64_t seals; /* number of nonces used */
};

struct sealer *sealer_new(enum smb_cipher cipher, const uint8_t *key)
{
    struct sealer *sealer = xcalloc(1, sizeof *sealer);

    switch (cipher) {
    case CIPHER_AES_128_CCM:
        sealer->encrypt = (nettle_cipher_func *)aes128_encrypt;
        aes128_set_encrypt_key(&sealer->cipher.aes128, key);
        break;
    case CIPHER_AES_256_CCM:
        sealer->encrypt = (nettle_cipher_func *)aes256_encrypt;
        aes256_set_encrypt_key(&sealer->cipher.aes256, key);
        break;
    case CIPHER_AES_128_GCM:
        sealer->gcm = gcm_new(key, 16);
        break;
    case CIPHER_AES_256_GCM:
        sealer->gcm = gcm_new(key, 32);
        break;
    case CIPHER_NONE:
        assert(false);
    }
    return sealer;
}

void sealer_free(struct sealer *sealer)
{
    if (!sealer)
        return;
    if (sealer->gcm)
        gnutls_aead_cipher_deinit(sealer->gcm);
    explicit_bzero(sealer, sizeof *sealer);
    free(sealer);
}

/* Encrypts a frame. size: of the part after the transform header, as in the following functions */
static void seal_gcm(gnutls_aead_cipher_hd_t gcm, uint8_t *frame, size_t size, uint8_t *ret_tag)
{
    const giovec_t aad = part_of(frame + AAD_AT, AAD_SIZE);
    const giovec_t message = part_of(frame + SMB_TRANSFORM_SIZE, size);
    size_t tag_size = SMB_SIGNATURE_SIZE;
    int result = gnutls_aead_cipher_encryptv2(gcm, frame + AAD_AT, GCM_NONCE_SIZE, &aad, 1,
                                              &message, 1, ret_tag, &tag_size);

    assert(result == GNUTLS_E_SUCCESS && tag_size == SMB_SIGNATURE_SIZE);
}

static bool open_gcm(gnutls_aead_cipher_hd_t gcm, uint8_t *frame, size_t size,
                     const uint8_t tag[SMB_SIGNATURE_SIZE])
{
    const giovec_t aad = part_of(frame + AAD_AT, AAD_SIZE);
    const giovec_t message = part_of(frame + SMB_TRANSFORM_SIZE, size);

    return gnutls_aead_cipher_decryptv2(gcm, frame + AAD_AT, GCM_NONCE_SIZE, &aad, 1, &message, 1,
                                        (void *)(uintptr_t)tag, SMB_SIGNATURE_SIZE) == 0;
}

static void begin_ccm(const struct sealer *sealer, const uint8_t *frame, size_t size,
                      struct ccm_ctx *ret_ccm)
{
    ccm_set_nonce(ret_ccm, &sealer->cipher, sealer->encrypt, CCM_NONCE_SIZE, frame + AAD_AT,
                  AAD_SIZE, size, SMB_SIGNATURE_SIZE);
    ccm_update(ret_ccm, &sealer->cipher, sealer->encrypt, AAD_SIZE, frame + AAD_AT);
}

static void seal_ccm(const struct sealer *sealer, uint8_t *frame, size_t size, uint8_t *ret_tag)
{
    uint8_t *message = frame + SMB_TRANSFORM_SIZE;
    struct ccm_ctx ccm;

    begin_ccm(sealer, frame, size, &ccm);
    ccm_encrypt(&ccm, &sealer->cipher, sealer->encrypt, size, message, message);
    ccm_digest(&ccm, &sealer->cipher, sealer->encrypt, SMB_SIGNATURE_SIZE, ret_tag);
}

static bool open_ccm(const struct sealer *sealer, uint8_t *frame, size_t size,
                     const uint8_t tag[SMB_SIGNATURE_SIZE])
{
    uint8_t *message = frame + SMB_TRANSFORM_SIZE, is[SMB_SIGNATURE_SIZE];
    struct ccm_ctx ccm;

    begin_ccm(sealer, frame, size, &ccm);
    ccm_decrypt(&ccm, &sealer->cipher, sealer->encrypt, size, message, message);
    ccm_digest(&ccm, &sealer->cipher, sealer->encrypt, sizeof is, is);
    return bytes_equal_secret(bytes_of(is, sizeof is), bytes_of(tag, sizeof is));
}

bool sealer_seal(struct sealer *sealer, uint64_t session_id, uint8_t *frame, size_t size)
{
    struct smb_transform transform = { .session_id = session_id };

    assert(size > SMB_TRANSFORM_SIZE && size - SMB_TRANSFORM_SIZE <= UINT32_MAX);
    if (sealer->seals >= SEALS_MAX)
        return false;
    transform.size = (uint32_t)(size - SMB_TRANSFORM_SIZE);
    le64_put(transform.nonce, sealer->seals++);
    smb_transform_write(frame, &transform);
    if (sealer->gcm)
        seal_gcm(sealer->gcm, frame, transform.size, transform.signature);
    else
        seal_ccm(sealer, frame, transform.size, transform.signature);
    smb_transform_write(frame, &transform);
    return true;
}

bool sealer_open(struct sealer *sealer, uint8_t *frame, size_t size)
{
    struct smb_transform transform;

    if (!smb_transform_read(bytes_of(frame, size), &transform))
        return false;
    return sealer->gcm ? open_gcm(sealer->gcm, frame, transform.size, transform.signature)
                       : open_ccm(sealer, frame, transform.size, transform.signature);
}
