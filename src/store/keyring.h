/* Manages the keys of a data directory that is encrypted at rest. decision: 1425
 *
 * The file `keys` of the data directory contains random store keys, each wrapped with one of the
 * operator's master keys (master_keys.h). The newest store key encrypts new data. To rotate the
 * master key, the file is written again, wrapped with the new current key; no data is rewritten.
 *
 *   keys       a line "lagra keys 1", then for each store key, numbered from 1, a line
 *                 NUMBER ID WRAPPED
 *              ID: of the master key, 64 hex digits; WRAPPED: base64 of the wrapped form (below);
 *              then a line "sum " with the CRC-32C of all lines before it, 8 hex digits
 *   wrapped    1     version (1)
 *   form       4 be  number of the store key that wraps it, or 0 for a master key
 *              16    salt, of a data cipher (base/data_cipher.h) with the key for this use
 *              32    the key, encrypted with number 0
 *              16    tag, which also authenticates the associated data
 *
 * Each use of a store key has a key of its own, derived by HMAC-SHA256, so that nothing encrypted
 * for one use can pass for another. Immutable once open; thread-safe. */
#ifndef LAGRA_STORE_KEYRING_H
#define LAGRA_STORE_KEYRING_H

#include "store/master_keys.h"
#include "store/store.h"

#define KEYRING_FILE     "keys"
#define KEYRING_MAX      16 /* store keys */
#define WRAPPED_KEY_SIZE (1 + 4 + DATA_SALT_SIZE + DATA_KEY_SIZE + DATA_TAG_SIZE)

struct keyring;

enum keyring_use {
    KEYRING_SERVE, /* rotates: wraps the keys with the current master key if they are not yet */
    KEYRING_LOOK,  /* writes nothing */
};
/* Opens the keys of a data directory.
 *
 * masters       the operator's keys, or NULL; used only during the call
 * ret_keyring   NULL if the directory is not encrypted and there are no master keys
 * *ret_problem  sentence for the operator; valid until the next problem of this thread
 *
 * Returns STORE_OK
 *         STORE_NOT_FOUND  the directory has no file `keys`, although there are master keys
 *         STORE_CORRUPT    the master key that it needs is missing (the problem names it), or the
 *                          file is damaged
 *         STORE_IO. Startup thread. */
enum store_result keyring_open(int folder, const struct master_keys *masters, enum keyring_use use,
                               struct keyring **ret_keyring, const char **ret_problem);
/* Creates the file `keys` of a new data directory, with one random store key, durably. Returns
 * STORE_OK, STORE_IO. Startup thread. */
enum store_result keyring_create(int folder, const struct master_keys *masters,
                                 struct keyring **ret_keyring, const char **ret_problem);
/* Gives a new data directory the same store keys as another one has, such as another cell of the
 * cluster. from: folder of that one. Returns like keyring_open(); STORE_NOT_FOUND never. */
enum store_result keyring_copy(int folder, int from, const struct master_keys *masters,
                               struct keyring **ret_keyring, const char **ret_problem);
/* Reads the contents of a file `keys`, without rotation. Returns like keyring_open(). */
enum store_result keyring_read(struct bytes file, const struct master_keys *masters,
                               struct keyring **ret_keyring, const char **ret_problem);
/* Returns the contents of a file `keys` with these keys, wrapped with the current master key. */
struct bytes keyring_write(const struct keyring *keyring, const struct master_keys *masters,
                           struct arena *arena);
/* Wipes and frees it. keyring: may be NULL */
void keyring_free(struct keyring *keyring);
/* Returns the keys of a store that is encrypted at rest, or NULL. Thread-safe. */
const struct keyring *store_keyring(const struct store *store);

enum keyring_purpose { KEY_FOR_PIECES, KEY_FOR_RECORDS, KEY_FOR_KEYS, KEYRING_PURPOSES };

/* Returns the number of the store key that encrypts new data. */
uint32_t keyring_newest(const struct keyring *keyring);
/* Returns the key of DATA_KEY_SIZE bytes that is derived from the store key of this number, or NULL
 * if there is no such store key. Valid as long as the keyring. */
const uint8_t *keyring_key(const struct keyring *keyring, uint32_t number,
                           enum keyring_purpose use);

/* Wraps a key, for storage in a record. Rotation of the master key does not change wrapped keys.
 *
 * bound  associated data: the same is required to unwrap it; what the key is for and whose it is */
void keyring_wrap(const struct keyring *keyring, const uint8_t key[DATA_KEY_SIZE],
                  struct bytes bound, uint8_t ret_wrapped[WRAPPED_KEY_SIZE]);
/* Unwraps a key. The caller wipes it after use. Returns false if it was not wrapped by this keyring
 * with the same associated data, or has changed since; *ret_key is zeroed then. */
bool keyring_unwrap(const struct keyring *keyring, const uint8_t wrapped[WRAPPED_KEY_SIZE],
                    struct bytes bound, uint8_t ret_key[DATA_KEY_SIZE]);

#endif
