/* Reads the operator's file of master keys (--encryptionKey FILE, docs/encryption.md), which wrap
 * the keys of data directories (keyring.h).
 *
 *   file       lines of text, each empty, a comment that starts with #, or a master key: 32 random
 *              bytes in base64. The first key is the current one; the others are older ones, with
 *              which data directories may still be wrapped.
 *
 * Keys are in memory that is neither dumped nor swapped, as far as the system allows it. A key is
 * named by its id, the SHA-256 of its 32 bytes. Immutable once read; thread-safe. */
#ifndef LAGRA_STORE_MASTER_KEYS_H
#define LAGRA_STORE_MASTER_KEYS_H

#include "base/data_cipher.h"

#define MASTER_KEYS_MAX      16
#define MASTER_KEYS_FILE_MAX (16u << 10) /* bytes */
/* Digits of a key's id that are shown to operators. */
#define MASTER_KEY_ID_DIGITS 16
#define MASTER_KEY_ID_SHOWN  (MASTER_KEY_ID_DIGITS + 1)

struct master_keys;

/* Reads the file. Refuses files that all users may read or that others may write, and files
 * of other users than root and this process's.
 *
 * ret_problem  sentence for the operator, without any part of a key; valid until the next problem
 *              of this thread
 *
 * Returns NULL with a problem. */
struct master_keys *master_keys_read(const char *path, const char **ret_problem);
/* Reads the contents of a file. Returns like master_keys_read(). */
struct master_keys *master_keys_parse(struct bytes text, const char **ret_problem);
/* Wipes and frees them. keys: may be NULL */
void master_keys_free(struct master_keys *keys);

size_t master_keys_count(const struct master_keys *keys);
/* Returns a key; index 0 is the current one. */
const uint8_t *master_key(const struct master_keys *keys, size_t index);
const uint8_t *master_key_id(const struct master_keys *keys, size_t index);
/* Returns the index of the key with this id, or the number of keys if no key has it. */
size_t master_keys_find(const struct master_keys *keys, const uint8_t id[KEY_HASH_SIZE]);
/* Writes the digits of an id that are shown, ended by NUL. */
void master_key_id_show(const uint8_t id[KEY_HASH_SIZE], char ret_digits[MASTER_KEY_ID_SHOWN]);

#endif
