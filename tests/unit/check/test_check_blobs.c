/* Blobs whose names requests cannot say are reported, and are no damage: `lagra check` (check.h). */
#include "fixture.h"

#include "blob/blob.h"

static struct partition make_container(struct fixture *f, const char *name)
{
    struct container container = { .space = guid_new(), .modified = clock_now() };
    struct changes *changes = changes_new(f->arena);

    container_write(changes, f->arena, &container);
    commit(f, named("blob", name), changes);
    return (struct partition){ container.space, BYTES("") };
}

static void make_blob(struct fixture *f, struct partition container, const char *name)
{
    struct blob blob = { .created = clock_now(), .modified = clock_now() };
    struct changes *changes = changes_new(f->arena);

    blob_write(changes, f->arena, &blob);
    container.key = bytes_from_string(name);
    commit(f, container, changes);
}

/* Rule: a check names each blob that no request reaches, and the name that URLs with its name mean. decisions: 39,
 * 976 */
static void names_that_urls_change(void **state)
{
    struct fixture *f = *state;
    struct partition container;
    const char *said;

    open_store(f);
    container = make_container(f, "photos");
    make_blob(f, container, "cat.txt");
    make_blob(f, container, "a/...b/c");
    make_blob(f, container, "f.");
    make_blob(f, container, "a/./b");
    make_blob(f, container, "a/../\\b\t.");
    said = check(f, EXIT_SUCCESS);
    assert_non_null(strstr(said, "unreachable " ACCOUNT "/photos/f.: URLs with this name refer to "
                                 "\"f\"\n"));
    assert_non_null(strstr(said, "unreachable " ACCOUNT "/photos/a/./b: URLs with this name "
                                 "refer to \"a/b\"\n"));
    assert_non_null(strstr(said, "unreachable " ACCOUNT "/photos/a/../\\b\\x09.: URLs with this "
                                 "name refer to \"/b\\x09\"\n"));
    assert_null(strstr(said, "cat.txt"));
    assert_null(strstr(said, "...b"));
    assert_non_null(strstr(said, "5 blobs in 1 containers"));
    assert_non_null(strstr(said, "damaged or lost: 0\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_that_urls_change, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
