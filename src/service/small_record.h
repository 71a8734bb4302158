/* Small records: INNER ones of a few numbers that services keep in a partition. And what is said
 * of any record that makes no sense. Any thread.
 *
 *   value: u8 1; the numbers, varints */
#ifndef LAGRA_SERVICE_SMALL_RECORD_H
#define LAGRA_SERVICE_SMALL_RECORD_H

#include "store/store.h"

/* what       for the log: "the record of .."
 * returns    STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT (logged), STORE_WAIT, STORE_IO;
 *            the numbers are 0 unless STORE_OK */
enum store_result small_record_read(struct snapshot *before, struct arena *arena, struct bytes key,
                                    const char *what, uint64_t *ret_numbers, size_t count);
void small_record_write(struct changes *changes, struct arena *arena, struct bytes key,
                        const uint64_t *numbers, size_t count);

/* Logs that a record has an unknown form. returns STORE_CORRUPT */
enum store_result record_is_unknown(const char *what, struct bytes value);

#endif
