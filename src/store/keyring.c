/* The file `keys` and the keys derived from it: see keyring.h. */
#include "store/keyring.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/hmac.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/encode.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/secret_memory.h"

#define WRAP_VERSION 1
#define BY_MASTER    0 /* number in a wrapped form */

#define HEADER       "lagra keys 1\n"
#define SUM          "sum "
#define SUM_LINE     (sizeof SUM - 1 + 8 + 1)
#define ID_DIGITS    ((size_t)KEY_HASH_SIZE * 2)
/* More than a file with KEYRING_MAX keys has. */
#define FILE_MAX     (8u << 10)

/* Label of the key that a master key wraps store keys with; must not change. */
static const char master_label[] = "lagra store key 1";
static const char *const use_labels[KEYRING_PURPOSES] = {
    [KEY_FOR_PIECES] = "lagra pieces 1",
    [KEY_FOR_RECORDS] = "lagra records 1",
    [KEY_FOR_KEYS] = "lagra wrapped keys 1",
};

struct keyring {
    uint32_t count;
    uint8_t store_keys[KEYRING_MAX][DATA_KEY_SIZE];
    uint8_t derived[KEYRING_MAX][KEYRING_PURPOSES][DATA_KEY_SIZE];
};

static __attribute__((format(printf, 1, 2))) const char *problem_text(const char *words, ...)
{
    static _Thread_local char text[512];
    va_list args;

    va_start(args, words);
    vsnprintf(text, sizeof text, words, args);
    va_end(args);
    return text;
}

/* ---- keys ---- */

static void derive(const uint8_t key[DATA_KEY_SIZE], const char *label,
                   uint8_t ret_key[DATA_KEY_SIZE])
{
    struct hmac_sha256_ctx hmac;

    hmac_sha256_set_key(&hmac, DATA_KEY_SIZE, key);
    hmac_sha256_update(&hmac, strlen(label), (const uint8_t *)label);
    hmac_sha256_digest(&hmac, DATA_KEY_SIZE, ret_key);
    explicit_bzero(&hmac, sizeof hmac);
}

/* Adds the next store key. */
static void add_key(struct keyring *keyring, const uint8_t key[DATA_KEY_SIZE])
{
    assert(keyring->count < KEYRING_MAX);
    memcpy(keyring->store_keys[keyring->count], key, DATA_KEY_SIZE);
    for (int use = 0; use < KEYRING_PURPOSES; use++)
        derive(key, use_labels[use], keyring->derived[keyring->count][use]);
    keyring->count++;
}

uint32_t keyring_newest(const struct keyring *keyring)
{
    return keyring->count;
}

const uint8_t *keyring_key(const struct keyring *keyring, uint32_t number, enum keyring_purpose use)
{
    return number >= 1 && number <= keyring->count ? keyring->derived[number - 1][use] : NULL;
}

void keyring_free(struct keyring *keyring)
{
    secret_memory_free(keyring, sizeof *keyring);
}

/* ---- wrapping ---- */

/* Places in the wrapped form. */
enum { AT_NUMBER = 1, AT_SALT = 5, AT_KEY = AT_SALT + DATA_SALT_SIZE };
enum { AT_TAG = AT_KEY + DATA_KEY_SIZE };

static void wrap(const uint8_t with[DATA_KEY_SIZE], uint32_t number,
                 const uint8_t key[DATA_KEY_SIZE], struct bytes bound,
                 uint8_t ret_wrapped[WRAPPED_KEY_SIZE])
{
    struct data_cipher *cipher;

    ret_wrapped[0] = WRAP_VERSION;
    be32_put((char *)ret_wrapped + AT_NUMBER, number);
    data_salt_new(ret_wrapped + AT_SALT);
    memcpy(ret_wrapped + AT_KEY, key, DATA_KEY_SIZE);
    cipher = data_cipher_new(with, ret_wrapped + AT_SALT);
    data_cipher_seal_bound(cipher, 0, bound, ret_wrapped + AT_KEY, DATA_KEY_SIZE,
                           ret_wrapped + AT_TAG);
    data_cipher_free(cipher);
}

static bool unwrap(const uint8_t with[DATA_KEY_SIZE], const uint8_t wrapped[WRAPPED_KEY_SIZE],
                   struct bytes bound, uint8_t ret_key[DATA_KEY_SIZE])
{
    struct data_cipher *cipher = data_cipher_new(with, wrapped + AT_SALT);
    bool opened;

    memcpy(ret_key, wrapped + AT_KEY, DATA_KEY_SIZE);
    opened = data_cipher_open_bound(cipher, 0, bound, ret_key, DATA_KEY_SIZE, wrapped + AT_TAG);
    data_cipher_free(cipher);
    return opened;
}

void keyring_wrap(const struct keyring *keyring, const uint8_t key[DATA_KEY_SIZE],
                  struct bytes bound, uint8_t ret_wrapped[WRAPPED_KEY_SIZE])
{
    uint32_t number = keyring_newest(keyring);

    wrap(keyring_key(keyring, number, KEY_FOR_KEYS), number, key, bound, ret_wrapped);
}

bool keyring_unwrap(const struct keyring *keyring, const uint8_t wrapped[WRAPPED_KEY_SIZE],
                    struct bytes bound, uint8_t ret_key[DATA_KEY_SIZE])
{
    uint32_t number = be32_get((const char *)wrapped + AT_NUMBER);
    const uint8_t *with = keyring_key(keyring, number, KEY_FOR_KEYS);

    memset(ret_key, 0, DATA_KEY_SIZE);
    return wrapped[0] == WRAP_VERSION && with && unwrap(with, wrapped, bound, ret_key);
}

/* ---- the file ---- */

/* Returns the associated data of a store key: its number, so that keys cannot be exchanged. */
static struct bytes bound_of(uint32_t number, char buffer[4])
{
    be32_put(buffer, number);
    return bytes_of(buffer, 4);
}

/* Returns the key that wraps store keys, which the caller wipes. */
static void key_of_master(const struct master_keys *masters, size_t index,
                          uint8_t ret_key[DATA_KEY_SIZE])
{
    derive(master_key(masters, index), master_label, ret_key);
}

struct bytes keyring_write(const struct keyring *keyring, const struct master_keys *masters,
                           struct arena *arena)
{
    uint8_t with[DATA_KEY_SIZE];
    struct text out;

    key_of_master(masters, 0, with);
    text_init(&out, arena, FILE_MAX);
    text_add_string(&out, HEADER);
    for (uint32_t number = 1; number <= keyring->count; number++) {
        uint8_t wrapped[WRAPPED_KEY_SIZE];
        char bound[4];

        wrap(with, BY_MASTER, keyring->store_keys[number - 1], bound_of(number, bound), wrapped);
        text_printf(&out, "%u ", number);
        for (size_t i = 0; i < KEY_HASH_SIZE; i++)
            text_printf(&out, "%02x", master_key_id(masters, 0)[i]);
        text_add_char(&out, ' ');
        text_add(&out, base64_encode(arena, bytes_of(wrapped, sizeof wrapped)));
        text_add_char(&out, '\n');
    }
    explicit_bzero(with, sizeof with);
    text_printf(&out, SUM "%08x\n", crc32c(0, out.ptr, out.len));
    assert(out.len <= FILE_MAX);
    return text_bytes(&out);
}

/* A line of the file. */
struct entry {
    uint64_t number;
    uint8_t id[KEY_HASH_SIZE];
    const uint8_t *wrapped; /* WRAPPED_KEY_SIZE bytes, in the arena */
};

static bool read_id(struct bytes digits, uint8_t ret_id[KEY_HASH_SIZE])
{
    if (digits.len != ID_DIGITS)
        return false;
    for (size_t i = 0; i < KEY_HASH_SIZE; i++) {
        int high = bytes_hex_digit(digits.ptr[2 * i]), low = bytes_hex_digit(digits.ptr[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        ret_id[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool read_entry(struct bytes line, struct arena *arena, struct entry *ret_entry)
{
    struct bytes number, id, wrapped;

    bytes_cut(line, ' ', &number, &line);
    bytes_cut(line, ' ', &id, &wrapped);
    wrapped = base64_decode(arena, wrapped);
    ret_entry->wrapped = (const uint8_t *)wrapped.ptr;
    return bytes_parse_u64(number, KEYRING_MAX, &ret_entry->number) && read_id(id, ret_entry->id) &&
           wrapped.ptr && wrapped.len == WRAPPED_KEY_SIZE && wrapped.ptr[0] == WRAP_VERSION &&
           be32_get(wrapped.ptr + AT_NUMBER) == BY_MASTER;
}

/* Removes the first and the last line, and checks the sum. Returns false if they are wrong. */
static bool take_frame(struct bytes *file)
{
    struct bytes sum;
    char expected[SUM_LINE + 1];

    if (file->len <= sizeof HEADER - 1 + SUM_LINE || file->len > FILE_MAX ||
        !bytes_has_prefix(*file, bytes_from_string(HEADER)))
        return false;
    file->len -= SUM_LINE;
    sum = bytes_of(file->ptr + file->len, SUM_LINE);
    snprintf(expected, sizeof expected, SUM "%08x\n", crc32c(0, file->ptr, file->len));
    *file = bytes_from(*file, sizeof HEADER - 1);
    return bytes_is(sum, expected);
}

/* Unwraps the key of an entry. */
static enum store_result take_key(struct keyring *keyring, const struct entry *entry,
                                  const struct master_keys *masters, const char **ret_problem)
{
    size_t index = masters ? master_keys_find(masters, entry->id) : 0;
    uint8_t with[DATA_KEY_SIZE], key[DATA_KEY_SIZE];
    char shown[MASTER_KEY_ID_SHOWN], bound[4];
    bool opened;

    master_key_id_show(entry->id, shown);
    if (!masters || index == master_keys_count(masters)) {
        *ret_problem = problem_text(
            masters ? "it is encrypted with the key %s, which the file of --encryptionKey does not "
                      "contain"
                    : "it is encrypted: name the file with the key %s in --encryptionKey",
            shown);
        return STORE_CORRUPT;
    }
    key_of_master(masters, index, with);
    opened = unwrap(with, entry->wrapped, bound_of((uint32_t)entry->number, bound), key);
    if (opened)
        add_key(keyring, key);
    else
        *ret_problem = problem_text("its file `" KEYRING_FILE "` is damaged: key %u, wrapped with "
                                    "the key %s. Restore the file from a backup",
                                    (unsigned)entry->number, shown);
    explicit_bzero(with, sizeof with);
    explicit_bzero(key, sizeof key);
    return opened ? STORE_OK : STORE_CORRUPT;
}

/* Sets *ret_is_current to whether all keys are wrapped with the current master key. */
static enum store_result read_file(struct bytes file, const struct master_keys *masters,
                                   struct keyring *keyring, bool *ret_is_current,
                                   const char **ret_problem)
{
    struct arena *arena = arena_new(FILE_MAX * 2);
    enum store_result result = STORE_OK;
    bool is_intact = take_frame(&file);

    *ret_is_current = true;
    while (is_intact && !result && file.len > 0) {
        struct entry entry;
        struct bytes line;

        bytes_cut(file, '\n', &line, &file);
        is_intact = read_entry(line, arena, &entry) && entry.number == keyring->count + 1;
        if (!is_intact)
            break;
        result = take_key(keyring, &entry, masters, ret_problem);
        if (!result && master_keys_find(masters, entry.id) > 0)
            *ret_is_current = false;
    }
    arena_free(arena);
    if (result || is_intact)
        return result;
    *ret_problem = "its file `" KEYRING_FILE "` is damaged. Restore the file from a backup";
    return STORE_CORRUPT;
}

enum store_result keyring_read(struct bytes file, const struct master_keys *masters,
                               struct keyring **ret_keyring, const char **ret_problem)
{
    struct keyring *keyring = secret_memory_new(sizeof *keyring);
    bool is_current;
    enum store_result result = read_file(file, masters, keyring, &is_current, ret_problem);

    if (!result) {
        *ret_keyring = keyring;
        return STORE_OK;
    }
    keyring_free(keyring);
    return result;
}

static enum store_result failed(const char *doing, const char **ret_problem)
{
    *ret_problem =
        problem_text("its file `" KEYRING_FILE "` cannot be %s: %s", doing, strerror(errno));
    return STORE_IO;
}

/* Returns STORE_NOT_FOUND if there is no file. */
static enum store_result load(int folder, char contents[FILE_MAX + 1], size_t *ret_size,
                              const char **ret_problem)
{
    int fd = openat(folder, KEYRING_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    ssize_t size = -1;

    if (fd < 0)
        return errno == ENOENT ? STORE_NOT_FOUND : failed("read", ret_problem);
    if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
        errno = EINVAL;
    else
        size = file_read_at(fd, contents, FILE_MAX + 1, 0);
    if (size < 0)
        failed("read", ret_problem);
    close(fd);
    *ret_size = (size_t)size;
    return size < 0 ? STORE_IO : STORE_OK;
}

static enum store_result save(int folder, const struct keyring *keyring,
                              const struct master_keys *masters, const char **ret_problem)
{
    struct arena *arena = arena_new(FILE_MAX * 4);
    bool saved = file_replace(folder, KEYRING_FILE, keyring_write(keyring, masters, arena));

    if (!saved)
        failed("written", ret_problem);
    arena_free(arena);
    return saved ? STORE_OK : STORE_IO;
}

enum store_result keyring_open(int folder, const struct master_keys *masters, enum keyring_use use,
                               struct keyring **ret_keyring, const char **ret_problem)
{
    struct keyring *keyring;
    char contents[FILE_MAX + 1];
    bool is_current;
    size_t size = 0;
    enum store_result result = load(folder, contents, &size, ret_problem);

    *ret_keyring = NULL;
    if (result)
        return result == STORE_NOT_FOUND && !masters ? STORE_OK : result;
    keyring = secret_memory_new(sizeof *keyring);
    result = read_file(bytes_of(contents, size), masters, keyring, &is_current, ret_problem);
    if (!result && !is_current && use == KEYRING_SERVE)
        result = save(folder, keyring, masters, ret_problem);
    if (result)
        keyring_free(keyring);
    else
        *ret_keyring = keyring;
    return result;
}

enum store_result keyring_create(int folder, const struct master_keys *masters,
                                 struct keyring **ret_keyring, const char **ret_problem)
{
    struct keyring *keyring = secret_memory_new(sizeof *keyring);
    uint8_t key[DATA_KEY_SIZE];
    enum store_result result;

    data_key_new(key);
    add_key(keyring, key);
    explicit_bzero(key, sizeof key);
    result = save(folder, keyring, masters, ret_problem);
    if (result)
        keyring_free(keyring);
    else
        *ret_keyring = keyring;
    return result;
}

enum store_result keyring_copy(int folder, int from, const struct master_keys *masters,
                               struct keyring **ret_keyring, const char **ret_problem)
{
    enum store_result result = keyring_open(from, masters, KEYRING_LOOK, ret_keyring, ret_problem);

    if (result == STORE_NOT_FOUND) {
        *ret_problem = "the data directory from which it takes its keys has none";
        return STORE_CORRUPT;
    }
    if (!result)
        result = save(folder, *ret_keyring, masters, ret_problem);
    if (result) {
        keyring_free(*ret_keyring);
        *ret_keyring = NULL;
    }
    return result;
}
