/* Keys of a session, signatures, sealed frames, the hash over what was said before a session.
 * Pure functions but for the count of nonces. Keys are zeroed when they are freed, and nothing
 * of them is ever logged.
 *
 * (1) No nonce is used twice with a key: a sealer counts, and ends at SEALS_MAX; the nonce of
 *     AES-GMAC is made of message id and sender, so an interim answer (STATUS_PENDING), whose
 *     final one has the same id, is never signed.
 * (2) Signatures are compared in constant time. ms-smb2: 3.1.4, 3.1.5, 3.3.5.5.3 */
#ifndef LAGRA_SMB_CRYPTO_H
#define LAGRA_SMB_CRYPTO_H

#include "smb/wire.h"

/* As SMB2_SIGNING_CAPABILITIES numbers them: ms-smb2: 2.2.3.1.7 */
enum smb_signing { SIGNING_HMAC_SHA256 = 0, SIGNING_AES_CMAC = 1, SIGNING_AES_GMAC = 2 };
/* As SMB2_ENCRYPTION_CAPABILITIES numbers them: ms-smb2: 2.2.3.1.2 */
enum smb_cipher {
    CIPHER_NONE = 0,
    CIPHER_AES_128_CCM = 1,
    CIPHER_AES_128_GCM = 2,
    CIPHER_AES_256_CCM = 3,
    CIPHER_AES_256_GCM = 4,
};

/* ---- pre-authentication integrity (3.1.1): ms-smb2: 3.1.5.2 ---- */

#define PREAUTH_HASH_SIZE 64
/* Zeros at the start of the connection; a session goes on from the connection's value after
 * negotiation. */
struct preauth {
    uint8_t hash[PREAUTH_HASH_SIZE];
};
/* message: whole, from its header on. SHA-512. */
void preauth_add(struct preauth *preauth, struct bytes message);

/* ---- keys ---- */

#define SESSION_KEY_SIZE 16
#define SEALING_KEY_MAX  32
#define SIGNING_KEY_SIZE 16

struct smb_keys {
    uint8_t signing[SIGNING_KEY_SIZE];
    uint8_t sealing[SEALING_KEY_MAX]; /* of what the server sends: "EncryptionKey" */
    uint8_t opening[SEALING_KEY_MAX]; /* of what the client sends: "DecryptionKey" */
    size_t sealing_size;              /* of either, in bytes: 16, or 32 for AES-256 */
    uint8_t application[SIGNING_KEY_SIZE];
};
/* Derives what follows from a session's key.
 *
 * session_key  as authentication made it; 16 bytes count, shorter is filled with zeros. All of
 *              it is the key for AES-256
 * preauth      of the session, all of 3.1.1's context; NULL and not looked at below ms-smb2:
 *              3.3.5.5.3 */
void smb_keys_derive(enum smb_dialect dialect, enum smb_cipher cipher, struct bytes session_key,
                     const struct preauth *preauth, struct smb_keys *ret_keys);
/* The signing key of a further channel of a session, from its own authentication. */
void smb_channel_key_derive(enum smb_dialect dialect, struct bytes session_key,
                            const struct preauth *preauth, uint8_t ret_signing[SIGNING_KEY_SIZE]);
/* explicit_bzero. */
void smb_keys_wipe(struct smb_keys *keys);

/* ---- signing ---- */

/* A key with its algorithm. One thread at a time. */
struct signer;
struct signer *signer_new(enum smb_signing algorithm, const uint8_t key[SIGNING_KEY_SIZE]);
void signer_free(struct signer *signer);
/* Sets SMB_FLAG_SIGNED and the signature of one message of a compound, padding included.
 *
 * message, size  from its header on, at least a header */
void signer_sign(const struct signer *signer, uint8_t *message, size_t size);
/* Is the signature right? SMB_FLAG_SIGNED is the caller's to look at. Shorter than a header:
 * false. */
bool signer_verify(const struct signer *signer, struct bytes message);

/* ---- sealing ---- */

/* Frames that may be sealed with one key: the count is a part of the nonce, and no session lives
 * long enough to come there. rfc: 5116 3.2 */
#define SEALS_MAX (UINT64_C(1) << 48)

/* One direction's key, shared by all channels of the session, which have one thread. One thread at a time. */
struct sealer;
/* key: smb_keys.sealing or .opening, of smb_keys.sealing_size bytes. */
struct sealer *sealer_new(enum smb_cipher cipher, const uint8_t *key);
void sealer_free(struct sealer *sealer);
/* Seals in place: `frame` begins with SMB_TRANSFORM_SIZE bytes, whose content does not matter,
 * then the messages.
 *
 * returns false when the key has been used SEALS_MAX times: nothing was done */
bool sealer_seal(struct sealer *sealer, uint64_t session_id, uint8_t *frame, size_t size);
/* Opens a frame in place: what follows the transform header is then plain.
 *
 * returns false when smb_transform_read() does, or it was not sealed with this key: what follows
 * is then worthless */
bool sealer_open(struct sealer *sealer, uint8_t *frame, size_t size);

#endif
