/* Encrypts the values of rows at the boundary of RocksDB, whose logs and tables then contain only
 * encrypted values: records, index records and deferred tasks. Keys of rows, counters, rows of
 * pieces and clock rows are not encrypted. A value is bound to the key of its row.
 *
 *   sealed value   1     version ('S')
 *                  1     number of the store key (keyring.h)
 *                  12    random, of the process that wrote it
 *                  8 be  number of the value in that process
 *                  16    tag, which also authenticates the row's key
 *                  rest  the value, encrypted
 *
 * The cipher's salt is the 12 random bytes and the upper half of the number; its nonce is the
 * number, so that no nonce is used twice with a data key. A data key serves 2^32 values.
 *
 * Thread-safe. Each thread retains the ciphers of the salts that it used last. */
#ifndef LAGRA_STORE_EMBEDDED_RECORD_SEAL_H
#define LAGRA_STORE_EMBEDDED_RECORD_SEAL_H

#include "store/keyring.h"

#define RECORD_SEAL_BYTES (1 + 1 + 12 + 8 + DATA_TAG_SIZE)

struct record_sealer;
/* Returns NULL, which stands for values that are not encrypted, if keyring is NULL. */
struct record_sealer *record_sealer_new(const struct keyring *keyring);
/* Frees it. sealer: may be NULL */
void record_sealer_free(struct record_sealer *sealer);
/* Returns true if values of rows with such a key are encrypted. */
bool record_is_sealed(const struct record_sealer *sealer, struct bytes key);

/* Encrypts a value. to: value.len + RECORD_SEAL_BYTES bytes. Returns the sealed value. */
struct bytes record_seal(struct record_sealer *sealer, struct bytes key, struct bytes value,
                         char *to);
/* Decrypts a sealed value. to: as many bytes as the sealed value has
 *
 * Returns STORE_OK, or STORE_CORRUPT if it is not a value of this row that was sealed with a key of
 * the keyring. */
enum store_result record_unseal(const struct record_sealer *sealer, struct bytes key,
                                struct bytes sealed, char *to, struct bytes *ret_value);

/* Holds one value at a time. Initially all zeros; free() its bytes at the end. */
struct unsealed {
    char *bytes;
    size_t room;
};
/* Replaces a value that was read by the decrypted one, which is valid until the next call with this
 * buffer; does nothing if values of the row are not encrypted. Returns like record_unseal(), and
 * logs. */
enum store_result record_unseal_in(const struct record_sealer *sealer, struct bytes key,
                                   struct bytes *value, struct unsealed *buffer);

#endif
