/* What the tests of src/content share: a store with one partition, bytes of known pieces, and short
 * ways to commit and to read. The store lies in memory; with LAGRA_CONTENT_STORE=embedded in the
 * environment, in a folder of its own below $TMPDIR, without syncs. */
#ifndef LAGRA_TESTS_CONTENT_FIXTURE_H
#define LAGRA_TESTS_CONTENT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "content/window.h"

#define FIXTURE_STAGES_MAX 4096

struct fixture {
    struct store *store;
    char folder[256]; /* empty: in memory */
    sem_t woken;
    struct partition partition;
    struct arena *arena;
    struct read_view *before; /* of the change being made */
    struct changes *changes;
    struct stage *stages[FIXTURE_STAGES_MAX]; /* open until the next commit */
    size_t stage_count;
    uint64_t random;
};

/* For cmocka: *state becomes a struct fixture. The log goes nowhere. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* Closes the store and opens it again, when it has a folder. */
void fixture_reopen(struct fixture *f);
/* Bytes that the store's folder takes on its disk. */
uint64_t fixture_disk_bytes(const struct fixture *f);

/* The same numbers in every run. */
uint64_t fixture_random(struct fixture *f, uint64_t below);
struct bytes fixture_random_bytes(struct fixture *f, size_t length);

/* A change of the partition, from begin to commit (which must succeed). */
void fixture_begin(struct fixture *f);
void fixture_commit(struct fixture *f);

/* Stages bytes as pieces of piece_length each (the last may be short). */
const struct piece *fixture_pieces(struct fixture *f, struct bytes data, uint32_t piece_length,
                                   size_t *ret_count);
/* A body of these bytes: inline, or in pieces when piece_length is not 0. */
struct body fixture_body(struct fixture *f, struct bytes data, uint32_t piece_length);

/* Bytes that pieces of the partition's records take, after all has been collected. */
uint64_t fixture_piece_bytes(struct fixture *f);

/* Deletes what changes left to content_collect(), in commits of its own. */
void fixture_collect_all(struct fixture *f);

/* Records that the partition has. */
size_t fixture_record_count(struct fixture *f);
/* Loads the window of a content that holds the byte at the offset. */
enum store_result fixture_load(struct fixture *f, const struct content *content, uint64_t offset,
                               struct window *ret_window);

/* Reads a range in reads of at most `max` bytes, and says how it ended. */
enum store_result fixture_read(struct fixture *f, const struct content *content, uint64_t offset,
                               uint64_t length, size_t max, struct bytes *ret_bytes);
/* The whole content, and ranges of it, are these bytes. */
void fixture_expect(struct fixture *f, const struct content *content, struct bytes expected);

#endif
