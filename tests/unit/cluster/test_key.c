/* The key of a cluster: cluster/key.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/key.h"

static void text(void **state)
{
    char text[CLUSTER_KEY_FILE_MAX], changed[CLUSTER_KEY_FILE_MAX];
    struct net_secrets secrets = { .count = 0 }, read;

    (void)state;
    assert_false(cluster_key_text_read(bytes_of("", 0), &read));
    for (unsigned i = 0; i < NET_KEYS_MAX; i++) {
        size_t before = i == 0 ? 0 : strlen(text);

        for (size_t at = 0; at < NET_KEY_BYTES; at++)
            secrets.of[i][at] = (uint8_t)(at * 37 + i);
        secrets.count = i + 1;
        cluster_key_text_write(&secrets, text);
        assert_true(cluster_key_text_read(bytes_from_string(text), &read));
        assert_int_equal(read.count, i + 1);
        assert_memory_equal(read.of, secrets.of, read.count * NET_KEY_BYTES);
        for (size_t length = 0; length < strlen(text); length++)
            assert_int_equal(cluster_key_text_read(bytes_of(text, length), &read),
                             length > 0 && length == before);
        for (size_t at = 0; at < strlen(text); at++) {
            memcpy(changed, text, sizeof changed);
            changed[at] = (char)(changed[at] ^ 1);
            assert_false(cluster_key_text_read(bytes_from_string(changed), &read));
        }
    }
}

static void file(void **state)
{
    char path[] = "/tmp/lagra-key-XXXXXX", name[64];
    struct net_secrets first = { .count = 0 }, second = { .count = 0 }, read;
    const char *problem = "";
    struct stat found;
    int folder;

    (void)state;
    assert_non_null(mkdtemp(path));
    folder = open(path, O_RDONLY | O_DIRECTORY);
    snprintf(name, sizeof name, "%s/" CLUSTER_KEY_NAME, path);
    assert_int_equal(cluster_key_read(path, &read, &problem), CLUSTER_KEY_MISSING);
    assert_true(cluster_key_add(&first) && cluster_key_write(folder, &first));
    assert_int_equal(stat(name, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    assert_int_equal(cluster_key_read(path, &read, &problem), CLUSTER_KEY_READ);
    assert_int_equal(read.count, 1);
    assert_memory_equal(read.of, first.of, NET_KEY_BYTES);
    assert_true(cluster_key_add(&second) && cluster_key_add(&second));
    assert_memory_not_equal(second.of[0], second.of[1], NET_KEY_BYTES);
    assert_true(cluster_key_write(folder, &second));
    assert_int_equal(cluster_key_read(path, &read, &problem), CLUSTER_KEY_READ);
    assert_int_equal(read.count, 2);
    assert_memory_equal(read.of, second.of, sizeof second.of);
    assert_int_equal(chmod(name, 0640), 0);
    assert_int_equal(cluster_key_read(path, &read, &problem), CLUSTER_KEY_UNUSABLE);
    assert_non_null(strstr(problem, "other users"));
    assert_int_equal(chmod(name, 0600), 0);
    assert_int_equal(truncate(name, 20), 0);
    assert_int_equal(cluster_key_read(path, &read, &problem), CLUSTER_KEY_UNUSABLE);
    assert_non_null(strstr(problem, "damaged"));
    unlink(name);
    close(folder);
    rmdir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(text), cmocka_unit_test(file) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
