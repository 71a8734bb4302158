/* Values of records and of rows of the piece index, as stored on disk.
 *
 *   record value   1     version (1; 2 if a piece is encrypted; 3 if one is with a store key)
 *                  v     number of pieces, varint
 *                        for each: v extent, v length, v offset, 4 le CRC-32C for each sector;
 *                        from version 2 on then 1 whether it is encrypted: 0 if not, 1 if so,
 *                        more for the store key of this number plus 1; and if it is
 *                        encrypted 16 salt, and 16 GCM tag for each sector
 *                  rest  the payload, as the caller passed it
 *   clock row      8 be  bound of the clock
 *                  8 be  total ticks of the steps that it has followed, and
 *                  8 be  ticks of a pending step (struct clock_checkpoint); absent if both are 0
 *   piece row      1     version (1)
 *                  v     length in bytes
 *                  v     references, 1 or more
 *
 * Newer programs read older versions. When the format changes: increment the version, keep the old
 * reader, add an image in tests/unit/store/images. Thread-safe. */
#ifndef LAGRA_STORE_RECORD_VALUE_H
#define LAGRA_STORE_RECORD_VALUE_H

#include "store/store.h"

#define RECORD_VALUE_VERSION           1
#define RECORD_VALUE_VERSION_ENCRYPTED 2
#define RECORD_VALUE_VERSION_STORE_KEY 3
#define PIECE_ROW_VERSION              1

struct bytes record_value_encode(struct arena *arena, struct bytes payload,
                                 const struct piece *pieces, size_t piece_count);

/* Decodes a value; pieces are allocated in the arena, the payload points into the value.
 *
 * Returns STORE_OK, STORE_CORRUPT (the caller logs). */
enum store_result record_value_decode(struct bytes value, struct arena *arena,
                                      struct bytes *ret_payload, const struct piece **ret_pieces,
                                      size_t *ret_count);
/* Like record_value_decode(), but into a record, with the payload copied into the arena. */
enum store_result record_value_read(struct bytes value, struct arena *arena,
                                    struct record *ret_record);

#define PIECE_ROW_SIZE_MAX 21 /* version, two varints */

struct piece_row {
    uint32_t length;
    uint64_t references;
};
/* All write functions return the size of the value. */
size_t piece_row_write(char to[PIECE_ROW_SIZE_MAX], struct piece_row row);
bool piece_row_read(struct bytes value, struct piece_row *ret_row);

#define CLOCK_ROW_SIZE_MAX 24

size_t clock_row_write(char to[CLOCK_ROW_SIZE_MAX], const struct clock_checkpoint *checkpoint);
bool clock_row_read(struct bytes value, struct clock_checkpoint *ret_checkpoint);

#endif
