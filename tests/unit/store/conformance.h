/* What every store must do, tested against each of them: the engines, the fixture, and helpers that
 * the files test_conformance_*.c share. A test gets a fresh, empty store.
 *
 * LAGRA_STORE=memory (or embedded) in the environment runs the tests on that engine only;
 * LAGRA_TEST_FOLDERS=folder puts the folders of stores there and not in the working directory. */
#ifndef LAGRA_TESTS_STORE_CONFORMANCE_H
#define LAGRA_TESTS_STORE_CONFORMANCE_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/piece.h"

struct engine {
    const char *name;
    bool on_disk;
    /* Opens, or opens again, the store in a folder (which memory ignores). */
    enum store_result (*open)(const char *folder, struct store **ret_store);
};

const struct engine *engine_by_name(const char *name);

#define FOLDER_SIZE 256

struct conformance_test;

struct fixture {
    const struct engine *engine;
    const struct conformance_test *test;
    bool passed;
    char folder[FOLDER_SIZE]; /* of the store; removed after the test */
    struct store *store;      /* a test may close it and set it to NULL */
    struct arena *arena;      /* of the test */
    struct partition partition;
};

enum engines_wanted { EVERY_STORE, STORES_ON_DISK };

struct conformance_test {
    const char *name;
    CMUnitTestFunction run;
    enum engines_wanted wanted;
};
#define TEST(function, wanted)                                                                     \
    {                                                                                              \
#function, function, wanted                                                                \
    }
/* Runs each test on each engine wanted; gives what main() returns. */
int conformance_run(const char *group, const struct conformance_test *tests, size_t count);

/* Closes the store and opens it again; it must be healthy. */
void fixture_reopen(struct fixture *fixture);

/* ---- records ---- */

struct partition partition_of(struct guid space, const char *key);

/* Commits to the newest state, however often it takes; *ret_sequence may be NULL. */
enum store_result commit_new(struct store *store, struct partition partition,
                             const struct changes *changes, uint64_t *ret_sequence);
/* Puts one record without pieces (LISTED), deletes one; must succeed. Gives the sequence. */
uint64_t put_text(struct store *store, struct partition partition, const char *key,
                  const char *value);
uint64_t delete_key(struct store *store, struct partition partition, const char *key);
/* The value's text in the arena, "(none)" when there is no such record. */
const char *get_text(struct read_view *snapshot, struct arena *arena, const char *key);
const char *get_now(struct store *store, struct partition partition, struct arena *arena,
                    const char *key);
/* All LISTED keys and values of a snapshot from a place: "a=1 b=2". */
const char *scan_text(struct read_view *snapshot, struct arena *arena, struct bytes prefix,
                      struct bytes from);
/* All records of a space iterator: "partition/key=value ...". */
const char *space_text(struct space_iterator *iterator, struct arena *arena);

/* ---- waiting ---- */

/* A waiter that holds its thread. */
struct blocking_waiter {
    struct waiter waiter;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    unsigned woken; /* how often since the last wait; under the mutex */
};
void blocking_init(struct blocking_waiter *blocking);
void blocking_release(struct blocking_waiter *blocking);
/* Until woken; a minute without ends the process. */
void blocking_wait(struct blocking_waiter *blocking);
/* How often it was woken and not waited for. */
unsigned blocking_woken(struct blocking_waiter *blocking);

/* Waits until the sequence is durable or the store has failed. */
void wait_durable(struct store *store, uint64_t sequence);

/* ---- pieces ---- */

/* Bytes that tell their place: those of stream `seed` from `offset` on. */
void pattern_fill(char *to, size_t length, uint64_t seed, uint64_t offset);
bool pattern_matches(const char *data, size_t length, uint64_t seed, uint64_t offset);

/* Writes one chunk, waiting where it must. */
enum store_result write_chunk(struct stage *stage, struct bytes chunk,
                              struct blocking_waiter *blocking);
/* Stages the first `length` bytes of stream `seed`, in chunks of at most chunk_max (random sizes),
 * and finishes. *ret_stage is open also when the result is not STORE_OK. */
enum store_result stage_pattern(struct store *store, uint64_t length, uint64_t seed,
                                size_t chunk_max, struct stage **ret_stage);
/* Stages a stream and commits it as the record `key` (LISTED, value "seed"); must succeed. */
uint64_t put_stream(struct store *store, struct partition partition, const char *key,
                    uint64_t length, uint64_t seed);
/* Deletes a record with its pieces; must succeed. */
uint64_t delete_stream(struct store *store, struct partition partition, const char *key);
/* Reads all pieces of a record in full and compares. False: no such record, or any difference. */
bool stream_matches(struct store *store, struct read_view *snapshot, const char *key,
                    uint64_t length, uint64_t seed);
struct store_usage usage_now(struct store *store);

/* What may be left of file space when no piece is left: a begun extent, its header. */
#define EMPTY_ALLOCATED_MAX (256u << 10)
/* No piece is referred to, none waits to be freed, and the files hold nothing. */
void assert_all_given_back(struct store *store);

/* ---- chance ---- */

struct random {
    uint64_t state;
};
uint64_t random_next(struct random *random);
/* 0..below-1 */
uint64_t random_below(struct random *random, uint64_t below);

#endif
