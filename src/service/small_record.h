/* Small INNER records of a few numbers that services store in a partition, and the log message for
 * any unrecognized record. Thread-safe.
 *
 *   value: u8 1; the numbers, varints */
#ifndef LAGRA_SERVICE_SMALL_RECORD_H
#define LAGRA_SERVICE_SMALL_RECORD_H

#include "store/store.h"

/* Reads a record.
 * what       for the log: "the record of .."
 * returns    STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT (logged), STORE_WAIT, STORE_IO;
 *            the numbers are 0 unless STORE_OK */
enum store_result small_record_read(struct read_view *before, struct arena *arena, struct bytes key,
                                    const char *what, uint64_t *ret_numbers, size_t count);
void small_record_write(struct changes *changes, struct arena *arena, struct bytes key,
                        const uint64_t *numbers, size_t count);

/* Logs that a record has an unrecognized format. Returns STORE_CORRUPT. */
enum store_result record_is_unknown(const char *what, struct bytes value);

#endif
