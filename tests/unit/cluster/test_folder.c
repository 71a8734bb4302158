/* The folder of a cluster: cluster/folder.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/folder.h"
#include "cluster/owner_file.h"

static char *new_folder(void)
{
    static char name[64];

    snprintf(name, sizeof name, "%s", "/tmp/lagra-cluster-XXXXXX");
    assert_non_null(mkdtemp(name));
    return name;
}

static void remove_folder(const char *name)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", name);
    assert_int_equal(system(command), 0);
}

static void text(void **state)
{
    char text[CLUSTER_TEXT_BYTES], changed[CLUSTER_TEXT_BYTES];
    struct guid id = guid_new(), read;

    (void)state;
    cluster_text_write(&id, text);
    assert_true(cluster_text_read(bytes_from_string(text), &read));
    assert_true(guid_equal(&id, &read));
    for (size_t length = 0; length < strlen(text); length++)
        assert_false(cluster_text_read(bytes_of(text, length), &read));
    for (size_t i = 0; i < strlen(text); i++) {
        memcpy(changed, text, sizeof changed);
        changed[i] = (char)(changed[i] ^ 1);
        assert_false(cluster_text_read(bytes_from_string(changed), &read));
    }
}

static void made_once(void **state)
{
    char *path = new_folder(), *owner;
    unsigned cells[CLUSTER_CELLS_MAX];
    const char *problem = "";
    struct owner_record record;
    struct owner_file file;
    struct guid id;

    (void)state;
    assert_false(cluster_folder_read(path, &id, &problem));
    assert_int_equal(cluster_folder_cells(path, cells, &problem), 0);
    assert_true(cluster_folder_create(path, 3, &problem));
    assert_true(cluster_folder_read(path, &id, &problem));
    assert_int_equal(cluster_folder_cells(path, cells, &problem), 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(cells[i], i + 1);
    assert_false(cluster_folder_create(path, 1, &problem));
    owner = cluster_owner_path(path, 3);
    assert_true(owner_file_open(owner, false, &file));
    assert_int_equal(owner_file_read(&file, &record), OWNER_OK);
    assert_true(guid_equal(&record.cluster, &id));
    assert_int_equal(record.cell, 3);
    assert_int_equal(record.incarnation, 0);
    assert_false(record.is_held);
    owner_file_close(&file);
    free(owner);
    remove_folder(path);
}

/* Cells whose file `cluster` is lost are somebody's data: they are not made again. */
static void cells_without_cluster(void **state)
{
    char *path = new_folder(), name[128];
    const char *problem = "";

    (void)state;
    assert_true(cluster_folder_create(path, 1, &problem));
    snprintf(name, sizeof name, "%s/cluster", path);
    assert_int_equal(unlink(name), 0);
    assert_false(cluster_folder_create(path, 1, &problem));
    remove_folder(path);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(text),
        cmocka_unit_test(made_once),
        cmocka_unit_test(cells_without_cluster),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
