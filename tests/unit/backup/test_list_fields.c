/* Every field of the list of a backup survives, next to others with any value. list.c */
#include "backup/list.h"

#include <sys/mman.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../record_fields.h"

/* A list of three files: the second one is compared. */
struct listed {
    instant made;
    uint64_t sequence;
    struct bytes name;
    uint64_t size;
    uint32_t crc;
    uint64_t inode, changed_ns;
};

static const struct field fields[] = {
    VALUE(listed, made), VALUE(listed, sequence), TEXT(listed, name),        VALUE(listed, size),
    VALUE(listed, crc),  VALUE(listed, inode),    VALUE(listed, changed_ns),
};

static void trip(struct arena *arena, const void *from, void *to)
{
    const struct listed *in = from;
    struct listed *out = to;
    struct backup_list list = { .made = in->made, .sequence = in->sequence }, read;
    const char *name = arena_string(arena, in->name);
    int fd = memfd_create("list", 0);

    backup_list_add(&list, &(struct backup_file){ .name = (char[]){ "format" }, .size = 1 });
    backup_list_add(&list, &(struct backup_file){ .name = (char *)(uintptr_t)name,
                                                  .size = in->size,
                                                  .crc = in->crc,
                                                  .inode = in->inode,
                                                  .changed_ns = in->changed_ns });
    backup_list_add(&list, &(struct backup_file){ .name = (char[]){ "synced" }, .size = 3 });
    backup_list_sort(&list);
    assert_true(backup_list_write(&list, fd));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_true(backup_list_read(fd, &read));
    assert_int_equal(read.count, 3);
    *out = (struct listed){ .made = read.made,
                            .sequence = read.sequence,
                            .name = arena_copy(arena, bytes_from_string(read.files[1].name)),
                            .size = read.files[1].size,
                            .crc = read.files[1].crc,
                            .inode = read.files[1].inode,
                            .changed_ns = read.files[1].changed_ns };
    backup_list_release(&list);
    backup_list_release(&read);
    close(fd);
}

static void lists(void **state)
{
    static const struct record_form form = RECORD_FORM(listed, fields, trip);
    static const struct listed samples[] = {
        { .made = 639000000000000001,
          .sequence = 2,
          .name = BYTES("records/3"),
          .size = 4,
          .crc = 5,
          .inode = 6,
          .changed_ns = 7 },
        { .made = 639000000000000011,
          .sequence = 12,
          .name = BYTES("records/13"),
          .size = 14,
          .crc = 0xFFFFFFFF,
          .inode = 16,
          .changed_ns = 17 },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lists) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
