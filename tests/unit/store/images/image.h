/* What lies in every image of a data folder: said once, for the program that makes them and for the
 * test that reads them. */
#ifndef LAGRA_TESTS_STORE_IMAGE_H
#define LAGRA_TESTS_STORE_IMAGE_H

#include "../conformance.h"

/* The clock of the program that made an image was so far ahead. */
#define IMAGE_CLOCK_AHEAD   (20ull * 365 * 86400 * TICKS_PER_SECOND)

#define IMAGE_STREAM_LENGTH 70001
#define IMAGE_STREAM_SEED   7
#define IMAGE_SHARED_LENGTH 5000
#define IMAGE_SHARED_SEED   8

static const struct guid image_space = { { 0x10, 1, 2, 3, 4, 5, 0x46, 7, 0x88, 9, 10, 11, 12, 13,
                                           14, 15 } };
static const struct guid image_dropped = { { 0x20, 1, 2, 3, 4, 5, 0x46, 7, 0x88, 9, 10, 11, 12, 13,
                                             14, 15 } };

/* Partition keys. The odd one has a 00 and an FF. */
#define IMAGE_PLAIN  ((struct bytes)BYTES("plain"))
#define IMAGE_ODD    ((struct bytes)BYTES("a\0b\xff"))
#define IMAGE_STREAM ((struct bytes)BYTES("stream"))
#define IMAGE_SHARED ((struct bytes)BYTES("shared"))
#define IMAGE_FREED  ((struct bytes)BYTES("freed"))
/* Written after the first start of the folder was over, and not followed by an orderly end. */
#define IMAGE_LATE   ((struct bytes)BYTES("late"))

#endif
