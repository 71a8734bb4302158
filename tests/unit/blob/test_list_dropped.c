/* A container is deleted between the look at it and the begin of its list: the list is of no container, not an empty one.
 * list_blobs.c; store.h, space_iterator_is_gone() */
#include "fixture.h"

#include "blob/blob.h"
#include "service/names.h"

#define LIST "GET /box?restype=container&comp=list"

static struct store *drops; /* before the next list begins; NULL: nothing */

/* As Delete Container does it. */
static void drop_container(struct store *store)
{
    struct partition at = { account_space("blob", bytes_from_string("devstoreaccount1")),
                            BYTES("box") };
    struct read_view *before = read_view_open(store, at, STORE_MAY_BLOCK);
    struct arena *arena = arena_new(1u << 20);
    struct changes *changes = changes_new(arena);
    struct container container;
    uint64_t sequence;

    assert_int_equal(container_read(before, arena, &container), STORE_OK);
    container_delete_record(changes);
    changes_drop_space(changes, container.space);
    assert_int_equal(store_commit(store, &(struct commit_part){ before, changes }, 1,
                                  clock_above(read_view_instant(before)), STORE_MAY_BLOCK,
                                  &sequence),
                     STORE_OK);
    read_view_close(before);
    arena_free(arena);
}

__typeof__(space_iterator_open) __real_space_iterator_open, __wrap_space_iterator_open;
struct space_iterator *__wrap_space_iterator_open(struct store *store, struct guid space,
                                                  struct bytes from_partition,
                                                  struct bytes from_record,
                                                  struct store_access access)
{
    struct store *drop = drops;

    drops = NULL;
    if (drop)
        drop_container(drop);
    return __real_space_iterator_open(store, space, from_partition, from_record, access);
}

static void dropped_meanwhile(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/a", "x-ms-blob-type: BlockBlob", "a"), 201);
    assert_ok(ask(f, LIST, NULL, NULL), 200);
    drops = store_of(f);
    assert_answer(ask(f, LIST, NULL, NULL), 404, "ContainerNotFound");
    assert_null(drops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(dropped_meanwhile, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
