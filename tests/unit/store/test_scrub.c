/* A scrub finds what is damaged and nothing else, whatever is deleted while it reads, and goes on where another one
 * has stopped. store/scrub.h */
#include "conformance.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "store/embedded/extent_file.h"
#include "store/scrub.h"

#define STREAM (2 * PIECE_MAX_BYTES + 17)
#define KEYS   2000

struct state {
    struct fixture *f;
    unsigned damaged;
    char partition[64]; /* of the last that was */
    uint64_t bytes;
    void (*meanwhile)(struct state *s); /* once, after a whole piece was read; NULL: nothing */
};

static void damaged(void *context, const struct record_place *place, const char *what)
{
    struct state *s = context;

    (void)what;
    s->damaged++;
    snprintf(s->partition, sizeof s->partition, "%.*s", BYTES_ARG(place->partition_key));
}

static bool read_bytes(void *context, uint64_t bytes)
{
    struct state *s = context;
    void (*meanwhile)(struct state *) = s->meanwhile;

    s->bytes += bytes;
    if (meanwhile && bytes == PIECE_MAX_BYTES) {
        s->meanwhile = NULL;
        meanwhile(s);
    }
    return true;
}

static uint64_t scrub_all(struct state *s)
{
    const struct scrub_listener listener = { damaged, read_bytes, s };
    struct scrub *scrub = scrub_open(s->f->store, bytes_of(NULL, 0));
    enum store_result result;
    uint64_t records;

    do
        result = scrub_step(scrub, &listener);
    while (!result);
    assert_int_equal(result, STORE_NOT_FOUND);
    records = scrub_records(scrub);
    scrub_close(scrub);
    return records;
}

static void flip_byte(int fd, uint64_t at)
{
    char byte;

    assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
    byte = (char)~byte;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
}

static void whole(void **state)
{
    struct state s = { .f = *state };

    put_text(s.f->store, s.f->partition, "k", "v");
    wait_durable(s.f->store, put_stream(s.f->store, s.f->partition, "stream", STREAM, 1));
    assert_true(scrub_all(&s) >= 2);
    assert_int_equal(s.damaged, 0);
    assert_true(s.bytes >= STREAM);
}

static void delete_stream_meanwhile(struct state *s)
{
    wait_durable(s->f->store, delete_stream(s->f->store, s->f->partition, "stream"));
    (void)usage_now(s->f->store);
}

/* Rule: what is deleted while it is read keeps its bytes until it has been. */
static void deleted_meanwhile(void **state)
{
    struct state s = { .f = *state, .meanwhile = delete_stream_meanwhile };

    wait_durable(s.f->store, put_stream(s.f->store, s.f->partition, "stream", STREAM, 1));
    (void)scrub_all(&s);
    assert_int_equal(s.damaged, 0);
    assert_true(s.bytes >= STREAM);
    assert_all_given_back(s.f->store);
}

/* Rule: a record is reported once, however many of its bytes are damaged, and each that refers to them. */
static void damage(void **state)
{
    struct fixture *f = *state;
    struct state s = { .f = f };
    struct partition other = partition_of(f->partition.space, "other");
    int fd;

    wait_durable(f->store, put_stream(f->store, f->partition, "stream", STREAM, 1));
    wait_durable(f->store, put_stream(f->store, other, "stream", PIECE_SECTOR_BYTES, 2));
    fd = open(arena_printf(f->arena, "%s/extents/00000001", f->folder).ptr, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "?", 1, (off_t)(EXTENT_UNIT + extent_room(STREAM) + 100)), 1);
    (void)scrub_all(&s);
    assert_int_equal(s.damaged, 1);
    assert_string_equal(s.partition, "other");
    assert_int_equal(pwrite(fd, "?", 1, EXTENT_UNIT), 1);
    assert_int_equal(pwrite(fd, "?", 1, EXTENT_UNIT + (off_t)PIECE_MAX_BYTES + 5), 1);
    s.damaged = 0;
    (void)scrub_all(&s);
    assert_int_equal(s.damaged, 2);
    close(fd);
}

/* What one snapshot is held for: HOLD_BYTES in scrub.c. */
#define SLICE (UINT64_C(16) << 20)

/* Rule: a record is read to its last byte, whether it is a byte shorter than a slice, as long, or longer. */
static void longer_than_a_slice(void **state)
{
    static const uint64_t lengths[] = { SLICE - 1, SLICE, SLICE + 1, 2 * SLICE + 1 };
    struct fixture *f = *state;
    uint64_t at = EXTENT_UNIT;
    int fd;

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct partition partition =
            partition_of(f->partition.space, (char[]){ (char)('a' + i), 0 });
        struct state s = { .f = f };

        wait_durable(f->store, put_stream(f->store, partition, "stream", lengths[i], (unsigned)i));
        (void)scrub_all(&s);
        assert_int_equal(s.damaged, 0);
        assert_true(s.bytes >= lengths[i]);
        fd = open(arena_printf(f->arena, "%s/extents/00000001", f->folder).ptr, O_RDWR | O_CLOEXEC);
        assert_true(fd >= 0);
        flip_byte(fd, at + lengths[i] - 1);
        (void)scrub_all(&s);
        assert_int_equal(s.damaged, 1);
        assert_string_equal(s.partition, ((char[]){ (char)('a' + i), 0 }));
        flip_byte(fd, at + lengths[i] - 1);
        close(fd);
        at += extent_room(lengths[i]);
    }
}

/* Rule: scrubs that go on where the one before has stopped read each record once, all together. */
static void going_on(void **state)
{
    struct fixture *f = *state;
    struct state s = { .f = f };
    const struct scrub_listener listener = { damaged, read_bytes, &s };
    struct bytes place = { NULL, 0 };
    uint64_t all, records = 0;
    unsigned steps = 0;
    enum store_result result;

    for (unsigned i = 0; i < KEYS; i++) {
        char key[16];

        snprintf(key, sizeof key, "k%05u", i);
        put_text(f->store, f->partition, key, "v");
    }
    all = scrub_all(&s);
    do {
        struct scrub *scrub = scrub_open(f->store, place);

        result = scrub_step(scrub, &listener);
        records += scrub_records(scrub);
        place = arena_copy(f->arena, scrub_place(scrub));
        scrub_close(scrub);
        steps++;
    } while (!result);
    assert_int_equal(records, all);
    assert_true(steps >= 3);
}

#ifdef LAGRA_GATES
/* Changes a byte near the begin of each table of records. */
static unsigned damage_tables(const struct fixture *f)
{
    const char *records = arena_printf(f->arena, "%s/records", f->folder).ptr;
    DIR *dir = opendir(records);
    const struct dirent *entry;
    unsigned count = 0;

    assert_non_null(dir);
    while ((entry = file_next_entry(dir))) {
        char byte;
        int fd;

        if (!bytes_has_suffix(bytes_from_string(entry->d_name), (struct bytes)BYTES(".sst")))
            continue;
        fd = openat(dirfd(dir), entry->d_name, O_RDWR | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(pread(fd, &byte, 1, 16), 1);
        byte = (char)(byte ^ 1);
        assert_int_equal(pwrite(fd, &byte, 1, 16), 1);
        close(fd);
        count++;
    }
    closedir(dir);
    return count;
}

/* Rule: records that cannot be read are reported, also where a step begins. */
static void damaged_table(void **state)
{
    struct fixture *f = *state;
    struct state s = { .f = f };
    const struct scrub_listener listener = { damaged, read_bytes, &s };
    struct scrub *scrub;

    put_text(f->store, f->partition, "k", "v");
    store_drop_caches(f->store);
    assert_true(damage_tables(f) > 0);
    store_drop_caches(f->store);
    scrub = scrub_open(f->store, bytes_of(NULL, 0));
    assert_int_equal(scrub_step(scrub, &listener), STORE_CORRUPT);
    assert_int_equal(s.damaged, 1);
    scrub_close(scrub);
}
#endif

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(whole, STORES_ON_DISK),
        TEST(deleted_meanwhile, STORES_ON_DISK),
        TEST(damage, STORES_ON_DISK),
        TEST(going_on, STORES_ON_DISK),
        TEST(longer_than_a_slice, STORES_ON_DISK),
#ifdef LAGRA_GATES
        TEST(damaged_table, STORES_ON_DISK),
#endif
    };

    if (!log_open(LOG_ERROR, "/dev/null"))
        return 1;
    return conformance_run("scrub", tests, sizeof tests / sizeof tests[0]);
}
