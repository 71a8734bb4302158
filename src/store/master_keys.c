/* Reads the operator's file of master keys: see master_keys.h. */
#include "store/master_keys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/encode.h"
#include "base/file.h"
#include "base/secret_memory.h"

struct master_keys {
    size_t count;
    uint8_t keys[MASTER_KEYS_MAX][DATA_KEY_SIZE];
    uint8_t ids[MASTER_KEYS_MAX][KEY_HASH_SIZE];
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

/* ---- contents ---- */

/* A key of 32 equal bytes is a mistake, such as /dev/zero instead of /dev/urandom. */
static bool is_constant(const uint8_t *key)
{
    for (size_t i = 1; i < DATA_KEY_SIZE; i++) {
        if (key[i] != key[0])
            return false;
    }
    return true;
}

/* Adds the key of a line. Returns the problem, or NULL. */
static const char *add_key(struct master_keys *keys, struct bytes line, size_t number,
                           struct arena *arena)
{
    struct bytes key = base64_decode(arena, line);
    uint8_t id[KEY_HASH_SIZE];

    if (!key.ptr || key.len != DATA_KEY_SIZE)
        return problem_text("line %zu is not a key: 32 bytes in base64, which are 44 characters",
                            number);
    if (is_constant((const uint8_t *)key.ptr))
        return problem_text("the key in line %zu is not random", number);
    key_hash((const uint8_t *)key.ptr, id);
    if (master_keys_find(keys, id) < keys->count)
        return problem_text("line %zu repeats an earlier key", number);
    if (keys->count == MASTER_KEYS_MAX)
        return problem_text("it has more than %d keys", MASTER_KEYS_MAX);
    memcpy(keys->keys[keys->count], key.ptr, DATA_KEY_SIZE);
    memcpy(keys->ids[keys->count], id, KEY_HASH_SIZE);
    keys->count++;
    return NULL;
}

static const char *parse(struct master_keys *keys, struct bytes text)
{
    struct arena *arena = arena_new(4 * MASTER_KEYS_FILE_MAX);
    const char *problem = NULL;

    arena_hold_secret(arena);
    for (size_t number = 1; text.len > 0 && !problem; number++) {
        struct bytes line;

        bytes_cut(text, '\n', &line, &text);
        if (line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        line = bytes_trim(line);
        if (line.len > 0 && line.ptr[0] != '#')
            problem = add_key(keys, line, number, arena);
    }
    if (!problem && keys->count == 0)
        problem = "it has no key";
    arena_free_secret(arena);
    return problem;
}

struct master_keys *master_keys_parse(struct bytes text, const char **ret_problem)
{
    struct master_keys *keys = secret_memory_new(sizeof *keys);
    const char *problem = parse(keys, text);

    if (!problem)
        return keys;
    master_keys_free(keys);
    *ret_problem = problem;
    return NULL;
}

/* ---- the file ---- */

/* Returns the problem of a file that is not fit to hold keys, or NULL. */
static const char *check_status(const struct stat *status)
{
    if (!S_ISREG(status->st_mode))
        return "it is not a regular file";
    if (status->st_uid != 0 && status->st_uid != geteuid())
        return "it belongs to another user";
    if (status->st_mode & (S_IWGRP | S_IWOTH | S_IROTH))
        return "other users may read or change it: chmod 600 it";
    if (status->st_size > (off_t)MASTER_KEYS_FILE_MAX)
        return "it is longer than 16 KiB";
    return NULL;
}

static struct master_keys *read_open(int fd, const char **ret_problem)
{
    char text[MASTER_KEYS_FILE_MAX + 1];
    struct master_keys *keys = NULL;
    struct stat status;
    ssize_t size;

    *ret_problem = fstat(fd, &status) == 0 ? check_status(&status) : strerror(errno);
    if (*ret_problem)
        return NULL;
    size = file_read_at(fd, text, sizeof text, 0);
    if (size < 0)
        *ret_problem = strerror(errno);
    else if (size > (ssize_t)MASTER_KEYS_FILE_MAX)
        *ret_problem = "it is longer than 16 KiB";
    else
        keys = master_keys_parse(bytes_of(text, (size_t)size), ret_problem);
    explicit_bzero(text, sizeof text);
    return keys;
}

struct master_keys *master_keys_read(const char *path, const char **ret_problem)
{
    /* O_NONBLOCK: a pipe without a writer must not stop the start */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct master_keys *keys;
    char why[256];

    if (fd < 0) {
        *ret_problem =
            problem_text("the encryption keys in %s cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    keys = read_open(fd, ret_problem);
    close(fd);
    if (keys)
        return keys;
    snprintf(why, sizeof why, "%s", *ret_problem);
    *ret_problem = problem_text("the encryption keys in %s cannot be used: %s", path, why);
    return NULL;
}

void master_keys_free(struct master_keys *keys)
{
    secret_memory_free(keys, sizeof *keys);
}

/* ---- keys ---- */

size_t master_keys_count(const struct master_keys *keys)
{
    return keys->count;
}

const uint8_t *master_key(const struct master_keys *keys, size_t index)
{
    assert(index < keys->count);
    return keys->keys[index];
}

const uint8_t *master_key_id(const struct master_keys *keys, size_t index)
{
    assert(index < keys->count);
    return keys->ids[index];
}

size_t master_keys_find(const struct master_keys *keys, const uint8_t id[KEY_HASH_SIZE])
{
    for (size_t i = 0; i < keys->count; i++) {
        if (memcmp(keys->ids[i], id, KEY_HASH_SIZE) == 0)
            return i;
    }
    return keys->count;
}

void master_key_id_show(const uint8_t id[KEY_HASH_SIZE], char ret_digits[MASTER_KEY_ID_SHOWN])
{
    for (size_t i = 0; i < MASTER_KEY_ID_DIGITS / 2; i++)
        snprintf(ret_digits + 2 * i, 3, "%02x", id[i]);
}
