/* See record_seal.h. */
#include "store/embedded/record_seal.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/log.h"
#include "store/record_key.h"

#define SEAL_VERSION 'S'
#define RANDOM_BYTES 12

/* Places in a sealed value. */
enum { AT_KEY = 1, AT_RANDOM = 2, AT_NUMBER = AT_RANDOM + RANDOM_BYTES, AT_TAG = AT_NUMBER + 8 };
_Static_assert(AT_TAG + DATA_TAG_SIZE == RECORD_SEAL_BYTES, "the value follows the tag");

struct record_sealer {
    const struct keyring *keyring;
    uint64_t id; /* of this sealer in the process */
    uint8_t random[RANDOM_BYTES];
    _Atomic uint64_t next; /* number of the next value */
};

/* ---- ciphers of a thread ---- */

/* Values of a data directory have as many salts as it had starts; those of the last ones are read
 * most. */
#define CIPHERS_KEPT 8u

struct kept_cipher {
    uint64_t sealer; /* 0 if unused */
    uint32_t store_key;
    uint8_t salt[DATA_SALT_SIZE];
    struct data_cipher *cipher;
};
struct ciphers {
    struct kept_cipher kept[CIPHERS_KEPT];
    unsigned oldest;
};

static pthread_key_t ciphers_key;
static _Atomic uint64_t last_sealer;

static void free_ciphers(void *of_thread)
{
    struct ciphers *ciphers = of_thread;

    for (size_t i = 0; i < CIPHERS_KEPT; i++)
        data_cipher_free(ciphers->kept[i].cipher);
    free(ciphers);
}

static void make_ciphers_key(void)
{
    int error = pthread_key_create(&ciphers_key, free_ciphers);

    assert(!error);
}

static struct ciphers *ciphers_of_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct ciphers *mine;

    pthread_once(&once, make_ciphers_key);
    mine = pthread_getspecific(ciphers_key);
    if (!mine) {
        int error;

        mine = xcalloc(1, sizeof *mine);
        error = pthread_setspecific(ciphers_key, mine);
        assert(!error);
    }
    return mine;
}

/* Returns the cipher of a sealed value, which the thread retains; NULL if there is no such key. */
static struct data_cipher *cipher_of(const struct record_sealer *sealer, const char *sealed)
{
    const uint32_t store_key = (uint8_t)sealed[AT_KEY];
    const uint8_t *key = keyring_key(sealer->keyring, store_key, KEY_FOR_RECORDS);
    struct ciphers *mine = ciphers_of_thread();
    struct kept_cipher *kept;
    uint8_t salt[DATA_SALT_SIZE];

    if (!key)
        return NULL;
    /* the random bytes, and the upper half of the number that follows them */
    memcpy(salt, sealed + AT_RANDOM, sizeof salt);
    for (size_t i = 0; i < CIPHERS_KEPT; i++) {
        kept = &mine->kept[i];
        if (kept->sealer == sealer->id && kept->store_key == store_key &&
            memcmp(kept->salt, salt, sizeof salt) == 0)
            return kept->cipher;
    }
    kept = &mine->kept[mine->oldest++ % CIPHERS_KEPT];
    data_cipher_free(kept->cipher);
    kept->sealer = sealer->id;
    kept->store_key = store_key;
    memcpy(kept->salt, salt, sizeof salt);
    kept->cipher = data_cipher_new(key, salt);
    return kept->cipher;
}

/* ---- values ---- */

struct record_sealer *record_sealer_new(const struct keyring *keyring)
{
    struct record_sealer *sealer;
    uint8_t random[DATA_SALT_SIZE];

    if (!keyring)
        return NULL;
    sealer = xcalloc(1, sizeof *sealer);
    data_salt_new(random);
    memcpy(sealer->random, random, sizeof sealer->random);
    sealer->keyring = keyring;
    sealer->id = atomic_fetch_add(&last_sealer, 1) + 1;
    return sealer;
}

void record_sealer_free(struct record_sealer *sealer)
{
    free(sealer);
}

bool record_is_sealed(const struct record_sealer *sealer, struct bytes key)
{
    if (!sealer || key.len == 0)
        return false;
    switch (key.ptr[0]) {
    case KEY_KIND_LISTED:
    case KEY_KIND_INNER:
    case KEY_KIND_INDEX:
    case KEY_KIND_TASK:
        return true;
    default:
        return false;
    }
}

struct bytes record_seal(struct record_sealer *sealer, struct bytes key, struct bytes value,
                         char *to)
{
    uint64_t number = atomic_fetch_add_explicit(&sealer->next, 1, memory_order_relaxed);

    assert(record_is_sealed(sealer, key));
    to[0] = SEAL_VERSION;
    to[AT_KEY] = (char)keyring_newest(sealer->keyring);
    memcpy(to + AT_RANDOM, sealer->random, RANDOM_BYTES);
    be64_put(to + AT_NUMBER, number);
    if (value.len > 0)
        memcpy(to + RECORD_SEAL_BYTES, value.ptr, value.len);
    data_cipher_seal_bound(cipher_of(sealer, to), number, key, to + RECORD_SEAL_BYTES, value.len,
                           (uint8_t *)to + AT_TAG);
    return bytes_of(to, RECORD_SEAL_BYTES + value.len);
}

enum store_result record_unseal(const struct record_sealer *sealer, struct bytes key,
                                struct bytes sealed, char *to, struct bytes *ret_value)
{
    struct data_cipher *cipher = NULL;
    size_t size = sealed.len - RECORD_SEAL_BYTES;

    if (sealed.len >= RECORD_SEAL_BYTES && sealed.ptr[0] == SEAL_VERSION)
        cipher = cipher_of(sealer, sealed.ptr);
    if (cipher) {
        memcpy(to, sealed.ptr + RECORD_SEAL_BYTES, size);
        if (data_cipher_open_bound(cipher, be64_get(sealed.ptr + AT_NUMBER), key, to, size,
                                   (const uint8_t *)sealed.ptr + AT_TAG)) {
            *ret_value = bytes_of(to, size);
            return STORE_OK;
        }
    }
    return STORE_CORRUPT;
}

enum store_result record_unseal_in(const struct record_sealer *sealer, struct bytes key,
                                   struct bytes *value, struct unsealed *buffer)
{
    if (!record_is_sealed(sealer, key))
        return STORE_OK;
    if (buffer->room < value->len) {
        free(buffer->bytes);
        buffer->room = 2 * value->len;
        buffer->bytes = xmalloc(buffer->room);
    }
    if (!record_unseal(sealer, key, *value, buffer->bytes, value))
        return STORE_OK;
    log_line(LOG_ERROR, "store: a record with a key of %zu bytes cannot be decrypted", key.len);
    return STORE_CORRUPT;
}
