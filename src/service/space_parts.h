/* Spaces that several containers of an account share. Each container has a part of the space. The
 * record of a partition names either its part, or another partition of the same part; following
 * these names leads to the part. Code that reads an entire space finds the part of each partition
 * here, usually with one read, because neighbours are often in the same directory. */
#ifndef LAGRA_SERVICE_SPACE_PARTS_H
#define LAGRA_SERVICE_SPACE_PARTS_H

#include "store/store.h"

/* Functions of a service. Pure. */
struct part_functions {
    /* Returns true if the container of this LISTED record, which may be deleted and retained, has
     * only a part of its space. */
    bool (*of_container)(const struct space_record *record, struct guid *ret_part);
    const char *record_key; /* key of the LISTED record that names the part or the partition */
    /* Reads this record: *ret_above is the key of another partition, in the arena, or, if its ptr
     * is NULL, *ret_part is the part. Returns false if it is malformed. */
    bool (*above)(struct arena *arena, struct bytes value, struct bytes *ret_above,
                  struct guid *ret_part);
    /* Returns true if a record of a partition that belongs to no part is needed in a space that has
     * only this part. *ret_value: its value there, in the arena */
    bool (*keeps)(struct arena *arena, const struct guid *part, struct bytes partition_key,
                  enum record_family family, const struct record *record, struct bytes *ret_value);
};

/* Reads that record of a partition, into the arena. Returns like read_view_get(). */
typedef enum store_result part_read_fn(void *context, struct bytes partition_key,
                                       struct arena *arena, struct bytes *ret_value);

#define PART_KEY_MAX 64u
struct part_finder {
    const struct part_functions *functions;
    part_read_fn *read;
    void *context;
    struct arena *arena; /* is rewound by each search */
    /* newest search; lengths are 0 before it */
    struct guid part;
    size_t above_length;
    char above[PART_KEY_MAX]; /* what the partition belongs to */
    size_t key_length;
    char key[PART_KEY_MAX];
};
/* Finds the part to which a partition belongs; zero if to none. Returns STORE_OK, STORE_CORRUPT,
 * STORE_IO. */
enum store_result part_find(struct part_finder *finder, struct bytes partition_key,
                            struct guid *ret_part);

#endif
