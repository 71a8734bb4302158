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
    char text[CLUSTER_KEY_TEXT_BYTES], changed[CLUSTER_KEY_TEXT_BYTES];
    uint8_t secret[NET_KEY_BYTES], read[NET_KEY_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof secret; i++)
        secret[i] = (uint8_t)(i * 37);
    cluster_key_text_write(secret, text);
    assert_true(cluster_key_text_read(bytes_from_string(text), read));
    assert_memory_equal(read, secret, sizeof secret);
    for (size_t length = 0; length < strlen(text); length++)
        assert_false(cluster_key_text_read(bytes_of(text, length), read));
    for (size_t i = 0; i < strlen(text); i++) {
        memcpy(changed, text, sizeof changed);
        changed[i] = (char)(changed[i] ^ 1);
        assert_false(cluster_key_text_read(bytes_from_string(changed), read));
    }
}

static void file(void **state)
{
    char path[] = "/tmp/lagra-key-XXXXXX", name[64];
    uint8_t first[NET_KEY_BYTES], second[NET_KEY_BYTES];
    const char *problem = "";
    struct stat found;
    int folder;

    (void)state;
    assert_non_null(mkdtemp(path));
    folder = open(path, O_RDONLY | O_DIRECTORY);
    snprintf(name, sizeof name, "%s/" CLUSTER_KEY_NAME, path);
    assert_int_equal(cluster_key_read(path, first, &problem), CLUSTER_KEY_MISSING);
    assert_true(cluster_key_create(folder));
    assert_int_equal(stat(name, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    assert_int_equal(cluster_key_read(path, first, &problem), CLUSTER_KEY_READ);
    assert_true(cluster_key_create(folder));
    assert_int_equal(cluster_key_read(path, second, &problem), CLUSTER_KEY_READ);
    assert_memory_not_equal(first, second, sizeof first);
    assert_int_equal(chmod(name, 0640), 0);
    assert_int_equal(cluster_key_read(path, second, &problem), CLUSTER_KEY_UNUSABLE);
    assert_non_null(strstr(problem, "other users"));
    assert_int_equal(chmod(name, 0600), 0);
    assert_int_equal(truncate(name, 20), 0);
    assert_int_equal(cluster_key_read(path, second, &problem), CLUSTER_KEY_UNUSABLE);
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
