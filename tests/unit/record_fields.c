/* See record_fields.h. */
#include "record_fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"

#define RECORD_SIZE_MAX 2048u
#define PADDING_MAX     7u

static bool is_same(const struct field *field, const void *a, const void *b)
{
    const char *one = (const char *)a + field->at, *other = (const char *)b + field->at;
    struct bytes first, second;

    if (field->kind != FIELD_BYTES)
        return memcmp(one, other, field->size) == 0;
    memcpy(&first, one, sizeof first);
    memcpy(&second, other, sizeof second);
    return bytes_equal(first, second);
}

/* No more than padding lies between the fields. */
static void assert_covered(const struct record_form *form)
{
    char covered[RECORD_SIZE_MAX] = { 0 };
    size_t gap = 0;

    assert_true(form->size <= sizeof covered);
    for (size_t i = 0; i < form->count; i++)
        memset(covered + form->fields[i].at, 1, form->fields[i].size);
    for (size_t at = 0; at < form->size; at++) {
        gap = covered[at] ? 0 : gap + 1;
        if (gap > PADDING_MAX)
            fail_msg("struct %s: the member at byte %zu is not listed", form->name, at + 1 - gap);
    }
}

static void assert_survives(const struct record_form *form, const void *from, const char *mixed)
{
    struct arena *arena = arena_new(1u << 20);
    uint64_t to[RECORD_SIZE_MAX / sizeof(uint64_t)] = { 0 };

    form->round_trip(arena, from, to);
    for (size_t i = 0; i < form->count; i++) {
        const struct field *field = &form->fields[i];

        if (field->kind != FIELD_SKIPPED && !is_same(field, from, to))
            fail_msg("struct %s: %s is not what was written, where %s has another value",
                     form->name, field->name, mixed);
    }
    arena_free(arena);
}

void fields_survive(const struct record_form *form, const void *one, const void *other)
{
    uint64_t mixed[RECORD_SIZE_MAX / sizeof(uint64_t)];

    assert_covered(form);
    assert_survives(form, one, "nothing");
    assert_survives(form, other, "everything");
    for (size_t i = 0; i < form->count; i++) {
        const struct field *field = &form->fields[i];

        if (field->kind == FIELD_SKIPPED || is_same(field, one, other))
            continue;
        memcpy(mixed, one, form->size);
        memcpy((char *)mixed + field->at, (const char *)other + field->at, field->size);
        assert_survives(form, mixed, field->name);
    }
}

void fields_all_differed(const struct record_form *form, const void *const samples[], size_t count)
{
    for (size_t i = 0; i < form->count; i++) {
        bool differed = form->fields[i].kind == FIELD_SKIPPED;

        for (size_t pair = 0; pair + 1 < count; pair += 2)
            differed = differed || !is_same(&form->fields[i], samples[pair], samples[pair + 1]);
        if (!differed)
            fail_msg("struct %s: %s has the same value in all samples", form->name,
                     form->fields[i].name);
    }
}

static const struct partition place = { .space = { { 1 } }, .key = BYTES("p") };

struct written written_begin(const struct changes *changes)
{
    struct written written = { .store = store_open_memory() };
    struct read_view *before = read_view_open(written.store, place, STORE_MAY_BLOCK);
    const struct commit_part part = { before, changes };
    uint64_t sequence;

    assert_int_equal(store_commit(written.store, &part, 1, 1, STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(before);
    written.snapshot = read_view_open(written.store, place, STORE_MAY_BLOCK);
    return written;
}

void written_end(struct written *written)
{
    read_view_close(written->snapshot);
    store_close(written->store);
}

struct bytes written_record(struct arena *arena, const struct changes *changes, int family,
                            struct bytes key)
{
    struct written written = written_begin(changes);
    struct record record;

    assert_int_equal(
        read_view_get(written.snapshot, (enum record_family)family, key, arena, &record), STORE_OK);
    written_end(&written);
    return record.value;
}

struct bytes written_index(struct arena *arena, const struct changes *changes, struct bytes key)
{
    struct written written = written_begin(changes);
    struct index_iterator *iterator = index_iterator_open(written.store, place.space, key, key,
                                                          bytes_from_string(""), STORE_MAY_BLOCK);
    struct index_record record;
    struct bytes value;

    assert_int_equal(index_iterator_next(iterator, &record), STORE_OK);
    assert_true(bytes_equal(record.key, key));
    value = arena_copy(arena, record.value);
    index_iterator_close(iterator);
    written_end(&written);
    return value;
}
