/* A dropped space that could not be read is collected later, by the same start. embedded_cursor_seek() (cursor.h) is
 * played. store/embedded/collector.h */
#include "conformance.h"

#include <stdatomic.h>
#include <unistd.h>

#include "store/embedded/cursor.h"
#include "store/embedded/embedded_private.h"

enum store_result __real_embedded_cursor_seek(struct cursor *cursor, struct bytes key);
enum store_result __wrap_embedded_cursor_seek(struct cursor *cursor, struct bytes key);

static atomic_bool fails;
static atomic_uint failures;

enum store_result __wrap_embedded_cursor_seek(struct cursor *cursor, struct bytes key)
{
    if (!atomic_load(&fails) || gettid() == getpid())
        return __real_embedded_cursor_seek(cursor, key);
    atomic_fetch_add(&failures, 1);
    return STORE_IO;
}

static void what_could_not_be_read_is_collected_later(void **state)
{
    struct fixture *f = *state;
    struct embedded *embedded = embedded_of(f->store);
    const struct partition registry = partition_of((struct guid){ { 1, 2, 3 } }, "registry");
    struct changes *changes = changes_new(f->arena);
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, bytes_from_string("k"), bytes_from_string("v"), NULL, 0);
    assert_int_equal(commit_new(f->store, f->partition, changes, &sequence), STORE_OK);
    atomic_store(&fails, true);
    changes = changes_new(f->arena);
    changes_drop_space(changes, f->partition.space);
    assert_int_equal(commit_new(f->store, registry, changes, &sequence), STORE_OK);
    while (atomic_load(&failures) == 0)
        usleep(1000);
    assert_int_equal(atomic_load(&embedded->spaces.collected), 0);
    atomic_store(&fails, false);
    for (int i = 0; i < 60000 && atomic_load(&embedded->spaces.collected) == 0; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&embedded->spaces.collected), 1);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(what_could_not_be_read_is_collected_later, STORES_ON_DISK),
    };

    return conformance_run("collected later", tests, sizeof tests / sizeof tests[0]);
}
