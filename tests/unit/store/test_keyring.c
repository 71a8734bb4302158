/* The operator's file of keys, the file `keys` of a data directory, and keys that are wrapped with it: what is accepted, what the
 * operator is told otherwise, and that no failed or interrupted step loses a key. keyring.h, master_keys.h
 *
 * This program has its own openat(), write(), fsync() and renameat(), of which one may fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "store/keyring.h"

/* bytes 00 .. 1f, and 20 .. 3f */
#define KEY_A "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
#define KEY_B "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
/* the beginnings of their SHA-256 */
#define ID_A  "630dcd2966c43366"
#define ID_B  "72dbb7336c767800"
#define WHOLE bytes_of("whose it is", 11)

/* ---- calls that fail ---- */

static int calls_left = -1; /* -1: none fails; the call that reaches 0 does */
static bool dies;           /* that call ends the process instead */
static bool has_failed;

static bool fails_now(void)
{
    if (calls_left < 0 || calls_left-- > 0)
        return false;
    if (dies)
        _exit(9);
    has_failed = true;
    errno = EIO;
    return true;
}

int openat(int folder, const char *name, int flags, ...);
ssize_t write(int fd, const void *from, size_t size);
int fsync(int fd);
int renameat(int from_folder, const char *from, int to_folder, const char *to);

int openat(int folder, const char *name, int flags, ...)
{
    va_list more;
    unsigned mode;

    va_start(more, flags);
    mode = va_arg(more, unsigned);
    va_end(more);
    return fails_now() ? -1 : (int)syscall(SYS_openat, folder, name, flags, mode);
}

ssize_t write(int fd, const void *from, size_t size)
{
    if (fails_now()) {
        (void)!syscall(SYS_write, fd, from, size / 2);
        return -1;
    }
    return syscall(SYS_write, fd, from, size);
}

int fsync(int fd)
{
    return fails_now() ? -1 : (int)syscall(SYS_fsync, fd);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return fails_now() ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

/* ---- fixture ---- */

struct fixture {
    char path[32];
    int folder;
    struct arena *arena;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);

    strcpy(f->path, "/tmp/keyring.XXXXXX");
    if (!mkdtemp(f->path))
        return -1;
    f->folder = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    f->arena = arena_new(1 << 20);
    *state = f;
    return f->folder < 0;
}

static int teardown(void **state)
{
    static const char *const names[] = { "keys", "keys.new", "file", "link", "pipe" };
    struct fixture *f = *state;

    calls_left = -1;
    dies = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlinkat(f->folder, names[i], 0);
    close(f->folder);
    rmdir(f->path);
    arena_free(f->arena);
    free(f);
    return 0;
}

static struct master_keys *masters(const char *text)
{
    const char *problem = NULL;
    struct master_keys *keys = master_keys_parse(bytes_from_string(text), &problem);

    assert_non_null(keys);
    return keys;
}

static const char *file_of(struct fixture *f, const char *name)
{
    return arena_string(f->arena, arena_printf(f->arena, "%s/%s", f->path, name));
}

static void put_file(struct fixture *f, const char *name, struct bytes contents, mode_t mode)
{
    int fd = openat(f->folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, contents.ptr, contents.len), (ssize_t)contents.len);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static struct bytes get_file(struct fixture *f, const char *name)
{
    char *contents = arena_bytes(f->arena, 16384);
    int fd = openat(f->folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t size = read(fd, contents, 16384);

    assert_true(size > 0);
    close(fd);
    return bytes_of(contents, (size_t)size);
}

/* ---- the operator's file ---- */

/* Rule: keys are read in their order, whatever surrounds them. */
static void keys_are_read(void **state)
{
    static const char *const texts[] = {
        KEY_A "\n" KEY_B "\n",
        KEY_A "\r\n\r\n" KEY_B,
        "# current\n  " KEY_A "  \n\n# before\n" KEY_B "\n#" KEY_B "\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct master_keys *keys = masters(texts[i]);
        char shown[MASTER_KEY_ID_SHOWN];

        assert_int_equal(master_keys_count(keys), 2);
        assert_int_equal(master_key(keys, 0)[31], 0x1f);
        assert_int_equal(master_key(keys, 1)[0], 0x20);
        master_key_id_show(master_key_id(keys, 0), shown);
        assert_string_equal(shown, ID_A);
        assert_int_equal(master_keys_find(keys, master_key_id(keys, 1)), 1);
        assert_int_equal(master_keys_find(keys, master_key(keys, 1)), 2);
        master_keys_free(keys);
    }
}

/* Rule: a file that is not a list of keys is refused, with the line and without anything from it. */
static void other_contents_are_refused(void **state)
{
    static const struct {
        const char *text, *problem;
    } cases[] = {
        { "", "it has no key" },
        { "# " KEY_A "\n\n", "it has no key" },
        { KEY_A "\n" KEY_B "x\n", "line 2 is not a key" },
        { "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==\n", "line 1 is not a key" },
        { KEY_A " " KEY_B, "line 1 is not a key" },
        { "-----BEGIN PRIVATE KEY-----\n", "line 1 is not a key" },
        { "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
          "line 1 is not a key" },
        { KEY_A "\n\n" KEY_B "\n" KEY_A "\n", "line 4 repeats" },
        { "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", "line 1 is not random" },
        { "//////////////////////////////////////////8=\n", "line 1 is not random" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *problem = NULL;

        assert_null(master_keys_parse(bytes_from_string(cases[i].text), &problem));
        assert_non_null(strstr(problem, cases[i].problem));
        assert_null(strstr(problem, "AAEC"));
    }
}

/* Rule: at most MASTER_KEYS_MAX keys. */
static void keys_are_limited(void **state)
{
    struct fixture *f = *state;
    const char *problem = NULL;
    struct text text;

    text_init(&text, f->arena, 0);
    for (int i = 0; i <= MASTER_KEYS_MAX; i++) {
        text_printf(&text, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd%c%c8=\n", 'A' + i, 'h');
        if (i < MASTER_KEYS_MAX)
            master_keys_free(master_keys_parse(text_bytes(&text), &problem));
        assert_null(problem);
        if (i == MASTER_KEYS_MAX)
            assert_null(master_keys_parse(text_bytes(&text), &problem));
    }
    assert_non_null(strstr(problem, "more than 16 keys"));
}

/* Rule: files that others may read or change, and what is no file, are refused; links are followed, as Kubernetes makes them. */
static void only_private_files_are_read(void **state)
{
    static const struct {
        mode_t mode;
        const char *problem;
    } cases[] = {
        { 0600, NULL },          { 0400, NULL },          { 0440, NULL },
        { 0604, "other users" }, { 0620, "other users" }, { 0602, "other users" },
    };
    struct fixture *f = *state;
    const char *problem = NULL;
    struct master_keys *keys;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_file(f, "file", bytes_from_string(KEY_A "\n"), cases[i].mode);
        keys = master_keys_read(file_of(f, "file"), &problem);
        assert_int_equal(!keys, cases[i].problem != NULL);
        if (!keys)
            assert_non_null(strstr(problem, cases[i].problem));
        master_keys_free(keys);
        unlinkat(f->folder, "file", 0);
    }
    put_file(f, "file", bytes_from_string(KEY_A "\n"), 0600);
    assert_int_equal(symlinkat("file", f->folder, "link"), 0);
    keys = master_keys_read(file_of(f, "link"), &problem);
    assert_non_null(keys);
    master_keys_free(keys);
    assert_int_equal(mkfifo(file_of(f, "pipe"), 0600), 0);
    assert_null(master_keys_read(file_of(f, "pipe"), &problem));
    assert_non_null(strstr(problem, "not a regular file"));
    assert_null(master_keys_read(f->path, &problem));
    assert_null(master_keys_read("/dev/zero", &problem));
    assert_null(master_keys_read(file_of(f, "none"), &problem));
    assert_non_null(strstr(problem, "No such file"));
    assert_int_equal(truncate(file_of(f, "file"), MASTER_KEYS_FILE_MAX + 1), 0);
    assert_null(master_keys_read(file_of(f, "file"), &problem));
    assert_non_null(strstr(problem, "longer than 16 KiB"));
}

/* ---- the file `keys` ---- */

/* Opens the folder's keys, and returns its key for pieces in *ret_key. */
static enum store_result opens(struct fixture *f, const char *text, enum keyring_use use,
                               uint8_t *ret_key, const char **ret_problem)
{
    struct master_keys *keys = text ? masters(text) : NULL;
    struct keyring *keyring;
    enum store_result result = keyring_open(f->folder, keys, use, &keyring, ret_problem);

    if (!result && keyring)
        memcpy(ret_key, keyring_key(keyring, keyring_newest(keyring), KEY_FOR_PIECES),
               DATA_KEY_SIZE);
    keyring_free(keyring);
    master_keys_free(keys);
    return result;
}

static void create(struct fixture *f, const char *text, uint8_t *ret_key)
{
    struct master_keys *keys = masters(text);
    const char *problem = NULL;
    struct keyring *keyring;

    assert_int_equal(keyring_create(f->folder, keys, &keyring, &problem), STORE_OK);
    memcpy(ret_key, keyring_key(keyring, 1, KEY_FOR_PIECES), DATA_KEY_SIZE);
    assert_memory_not_equal(ret_key, keyring_key(keyring, 1, KEY_FOR_RECORDS), DATA_KEY_SIZE);
    assert_memory_not_equal(ret_key, keyring_key(keyring, 1, KEY_FOR_KEYS), DATA_KEY_SIZE);
    assert_null(keyring_key(keyring, 0, KEY_FOR_PIECES));
    assert_null(keyring_key(keyring, 2, KEY_FOR_PIECES));
    keyring_free(keyring);
    master_keys_free(keys);
}

/* Rule: what was created opens with the same key only; otherwise the operator is told which key is missing. */
static void keys_need_their_master(void **state)
{
    uint8_t made[DATA_KEY_SIZE], found[DATA_KEY_SIZE];
    struct fixture *f = *state;
    const char *problem = NULL;

    assert_int_equal(opens(f, NULL, KEYRING_SERVE, found, &problem), STORE_OK);
    assert_int_equal(opens(f, KEY_A, KEYRING_SERVE, found, &problem), STORE_NOT_FOUND);
    create(f, KEY_A, made);
    assert_int_equal(opens(f, KEY_A, KEYRING_SERVE, found, &problem), STORE_OK);
    assert_memory_equal(made, found, DATA_KEY_SIZE);
    assert_int_equal(opens(f, KEY_B, KEYRING_SERVE, found, &problem), STORE_CORRUPT);
    assert_non_null(strstr(problem, ID_A));
    assert_int_equal(opens(f, NULL, KEYRING_SERVE, found, &problem), STORE_CORRUPT);
    assert_non_null(strstr(problem, ID_A));
    assert_non_null(strstr(problem, "--encryptionKey"));
}

/* Rule: every changed, missing or added byte of the file is noticed. */
static void damage_is_noticed(void **state)
{
    uint8_t key[DATA_KEY_SIZE];
    struct fixture *f = *state;
    struct bytes whole;
    char *copy;

    create(f, KEY_A, key);
    whole = get_file(f, "keys");
    copy = arena_bytes(f->arena, whole.len + 1);
    for (size_t i = 0; i < whole.len; i++) {
        const char *problem = NULL;

        memcpy(copy, whole.ptr, whole.len);
        copy[i] ^= 1;
        put_file(f, "keys", bytes_of(copy, whole.len), 0600);
        assert_int_equal(opens(f, KEY_A, KEYRING_SERVE, key, &problem), STORE_CORRUPT);
        assert_non_null(strstr(problem, "damaged"));
        put_file(f, "keys", bytes_of(whole.ptr, i), 0600);
        assert_int_equal(opens(f, KEY_A, KEYRING_SERVE, key, &problem), STORE_CORRUPT);
    }
    put_file(f, "keys", whole, 0600);
    assert_int_equal(symlinkat("keys", f->folder, "link"), 0);
    assert_int_equal(renameat(f->folder, "keys", f->folder, "file"), 0);
    assert_int_equal(renameat(f->folder, "link", f->folder, "keys"), 0);
    assert_int_equal(opens(f, KEY_A, KEYRING_SERVE, key, &(const char *){ NULL }), STORE_IO);
}

/* Rule: opening for service wraps the keys with the current master key; then the older one is of no use any more. */
static void a_start_rotates(void **state)
{
    uint8_t made[DATA_KEY_SIZE], found[DATA_KEY_SIZE];
    struct fixture *f = *state;
    const char *problem = NULL;
    struct bytes before;

    create(f, KEY_A, made);
    before = get_file(f, "keys");
    assert_int_equal(opens(f, KEY_B "\n" KEY_A, KEYRING_LOOK, found, &problem), STORE_OK);
    assert_true(bytes_equal(before, get_file(f, "keys")));
    assert_int_equal(opens(f, KEY_B "\n" KEY_A, KEYRING_SERVE, found, &problem), STORE_OK);
    assert_memory_equal(made, found, DATA_KEY_SIZE);
    assert_int_equal(opens(f, KEY_A, KEYRING_SERVE, found, &problem), STORE_CORRUPT);
    assert_non_null(strstr(problem, ID_B));
    memset(found, 0, sizeof found);
    assert_int_equal(opens(f, KEY_B, KEYRING_SERVE, found, &problem), STORE_OK);
    assert_memory_equal(made, found, DATA_KEY_SIZE);
}

/* Rule: whichever call of a rotation fails or is the last one of the process, the keys open afterwards, with the master keys of
 * before and after together. */
static void no_failure_loses_keys(void **state)
{
    uint8_t made[DATA_KEY_SIZE], found[DATA_KEY_SIZE];
    struct fixture *f = *state;
    int failures = 0, deaths = 0;

    for (int n = 0; n < 2 * 12; n++) {
        const char *problem = NULL;
        int status = 0;
        pid_t child;

        create(f, KEY_A, made);
        dies = n % 2 == 1;
        child = dies ? fork() : 0;
        if (child == 0) {
            enum store_result result;

            has_failed = false;
            calls_left = n / 2;
            result = opens(f, KEY_B "\n" KEY_A, KEYRING_SERVE, found, &problem);
            calls_left = -1;
            if (dies)
                _exit(0);
            assert_int_equal(result, has_failed ? STORE_IO : STORE_OK);
            failures += has_failed;
        } else {
            assert_int_equal(waitpid(child, &status, 0), child);
            deaths += WEXITSTATUS(status) == 9;
        }
        memset(found, 0, sizeof found);
        assert_int_equal(opens(f, KEY_B "\n" KEY_A, KEYRING_LOOK, found, &problem), STORE_OK);
        assert_memory_equal(made, found, DATA_KEY_SIZE);
    }
    /* open; then of the new file open, write, sync, rename, sync of the folder */
    assert_int_equal(failures, 6);
    assert_int_equal(deaths, 6);
}

/* ---- wrapped keys ---- */

/* Rule: a wrapped key comes back after a rotation, for the same use only, and unchanged only. */
static void wrapped_keys_come_back(void **state)
{
    static const uint8_t key[DATA_KEY_SIZE] = "a key of an encryption scope, 32";
    uint8_t wrapped[2][WRAPPED_KEY_SIZE], found[DATA_KEY_SIZE];
    struct fixture *f = *state;
    struct master_keys *both = masters(KEY_B "\n" KEY_A), *old = masters(KEY_A);
    const char *problem = NULL;
    struct keyring *keyring;

    assert_int_equal(keyring_create(f->folder, old, &keyring, &problem), STORE_OK);
    keyring_wrap(keyring, key, WHOLE, wrapped[0]);
    keyring_wrap(keyring, key, WHOLE, wrapped[1]);
    assert_memory_not_equal(wrapped[0], wrapped[1], WRAPPED_KEY_SIZE);
    assert_null(memmem(wrapped[0], WRAPPED_KEY_SIZE, key, 8));
    keyring_free(keyring);
    assert_int_equal(keyring_open(f->folder, both, KEYRING_SERVE, &keyring, &problem), STORE_OK);
    assert_true(keyring_unwrap(keyring, wrapped[0], WHOLE, found));
    assert_memory_equal(found, key, DATA_KEY_SIZE);
    assert_false(keyring_unwrap(keyring, wrapped[0], bytes_of("another's", 9), found));
    assert_false(keyring_unwrap(keyring, wrapped[0], bytes_of(NULL, 0), found));
    assert_memory_equal(found, (uint8_t[DATA_KEY_SIZE]){ 0 }, DATA_KEY_SIZE);
    for (size_t i = 0; i < WRAPPED_KEY_SIZE; i++) {
        wrapped[0][i] ^= 0x10;
        assert_false(keyring_unwrap(keyring, wrapped[0], WHOLE, found));
        wrapped[0][i] ^= 0x10;
    }
    assert_true(keyring_unwrap(keyring, wrapped[0], WHOLE, found));
    keyring_free(keyring);
    master_keys_free(both);
    master_keys_free(old);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keys_are_read),          TEST(other_contents_are_refused),
        TEST(keys_are_limited),       TEST(only_private_files_are_read),
        TEST(keys_need_their_master), TEST(damage_is_noticed),
        TEST(a_start_rotates),        TEST(no_failure_loses_keys),
        TEST(wrapped_keys_come_back),
    };

    return cmocka_run_group_tests_name("keyring", tests, NULL, NULL);
}
