/* Session keys, signing, encryption, and the preauthentication integrity hash. Pure functions
 * except for the nonce counter. Keys are zeroed when freed and never logged.
 *
 * (1) A nonce is never reused with a key: a sealer counts its nonces and stops at SEALS_MAX. The
 *     nonce of AES-GMAC consists of message id and role, so an interim response (STATUS_PENDING),
 *     which has the message id of the final one, is never signed.
 * (2) Signatures are compared in constant time. ms-smb2: 3.1.4, 3.1.5, 3.3.5.5.3 */
#ifndef LAGRA_SMB_PROTOCOL_CRYPTO_H
#define LAGRA_SMB_PROTOCOL_CRYPTO_H

#include "smb_protocol/wire.h"

/* Values of SMB2_SIGNING_CAPABILITIES. ms-smb2: 2.2.3.1.7 */
enum smb_signing { SIGNING_HMAC_SHA256 = 0, SIGNING_AES_CMAC = 1, SIGNING_AES_GMAC = 2 };
/* Values of SMB2_ENCRYPTION_CAPABILITIES. ms-smb2: 2.2.3.1.2 */
enum smb_cipher {
    CIPHER_NONE = 0,
    CIPHER_AES_128_CCM = 1,
    CIPHER_AES_128_GCM = 2,
    CIPHER_AES_256_CCM = 3,
    CIPHER_AES_256_GCM = 4,
};

/* ---- preauthentication integrity (3.1.1): ms-smb2 3.1.5.2 ---- */

#define PREAUTH_HASH_SIZE 64
/* Zeros at the start of a connection. A session starts with the connection's value after
 * negotiation. */
struct preauth {
    uint8_t hash[PREAUTH_HASH_SIZE];
};
/* Adds a message, starting at its header, to the SHA-512 hash. */
void preauth_add(struct preauth *preauth, struct bytes message);

/* ---- keys ---- */

#define SESSION_KEY_SIZE 16
#define SEALING_KEY_MAX  32
#define SIGNING_KEY_SIZE 16

struct smb_keys {
    uint8_t signing[SIGNING_KEY_SIZE];
    uint8_t sealing[SEALING_KEY_MAX]; /* EncryptionKey: server to client */
    uint8_t opening[SEALING_KEY_MAX]; /* DecryptionKey: client to server */
    size_t sealing_size;              /* size of both: 16, or 32 for AES-256 */
    uint8_t application[SIGNING_KEY_SIZE];
};
/* Derives the keys of a session.
 *
 * session_key  from authentication; its first 16 bytes are used, padded with zeros if it is
 *              shorter. AES-256 uses all of it
 * preauth      hash of the session, the derivation context of 3.1.1; ignored for older dialects.
 *              ms-smb2: 3.3.5.5.3 */
void smb_keys_derive(enum smb_dialect dialect, enum smb_cipher cipher, struct bytes session_key,
                     const struct preauth *preauth, struct smb_keys *ret_keys);
/* Derives the signing key of another channel of a session from the channel's own authentication. */
void smb_channel_key_derive(enum smb_dialect dialect, struct bytes session_key,
                            const struct preauth *preauth, uint8_t ret_signing[SIGNING_KEY_SIZE]);
/* Zeroes the keys. */
void smb_keys_wipe(struct smb_keys *keys);

/* ---- signing ---- */

/* A signing key and its algorithm. Not thread-safe. */
struct signer;
struct signer *signer_new(enum smb_signing algorithm, const uint8_t key[SIGNING_KEY_SIZE]);
void signer_free(struct signer *signer);
/* Signs one message of a compound, including its padding, and sets SMB_FLAG_SIGNED. message: starts
 * with a header */
void signer_sign(const struct signer *signer, uint8_t *message, size_t size);
/* Returns whether the signature is valid. The caller checks SMB_FLAG_SIGNED. Returns false if the
 * message is shorter than a header. */
bool signer_verify(const struct signer *signer, struct bytes message);

/* ---- encryption ---- */

/* Maximum number of frames encrypted with one key, as the counter is a part of the nonce. No
 * session lives long enough to reach it. rfc: 5116 3.2 */
#define SEALS_MAX (UINT64_C(1) << 48)

/* The key of one direction, shared by all channels of a session. Not thread-safe. */
struct sealer;
/* key: smb_keys.sealing or .opening, of smb_keys.sealing_size bytes */
struct sealer *sealer_new(enum smb_cipher cipher, const uint8_t *key);
void sealer_free(struct sealer *sealer);
/* Encrypts a frame in place: SMB_TRANSFORM_SIZE bytes, which are overwritten, followed by the
 * messages. Returns false, without changes, if the key has been used SEALS_MAX times. */
bool sealer_seal(struct sealer *sealer, uint64_t session_id, uint8_t *frame, size_t size);
/* Decrypts the part of a frame after its transform header, in place. Returns false if
 * smb_transform_read() does, or if the frame was not encrypted with this key; its contents are then
 * undefined. */
bool sealer_open(struct sealer *sealer, uint8_t *frame, size_t size);

#endif
