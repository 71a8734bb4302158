/* The store as it was a while ago: what a view that lags shows is what there was, within a sixteenth of the lag, whatever the
 * steps of the clock; with its pieces, counters and spaces. store/states.h; decisions: 535, 830 */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store/states.h"

#define MINUTE (60 * TICKS_PER_SECOND)
#define HOUR   (60 * MINUTE)
#define SLACK  MINUTE /* that the machine takes for a step at most */

enum { STEPS = 160, STREAM_BYTES = 40000 };

/* The states that there were: before the first commit nothing. */
struct history {
    instant begun[STEPS + 1];
    uint64_t seed[STEPS + 1]; /* of the stream that is there; 0: none */
    int64_t count[STEPS + 1];
    unsigned newest;
};

/* The late store of the tests has no such view. */
static struct store *open_view(struct fixture *f)
{
    if (strcmp(f->engine->name, "memory") != 0 && strcmp(f->engine->name, "embedded") != 0)
        return NULL;
    return store_open_lagging(f->store, HOUR);
}

static void begin(struct history *history, uint64_t seed, int64_t count)
{
    unsigned at = ++history->newest;

    assert_true(at <= STEPS);
    history->begun[at] = clock_now();
    history->seed[at] = seed;
    history->count[at] = count;
}

/* The space is the partition's own, and has one record. */
static void replace(struct fixture *f, struct history *history, uint64_t seed)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    const struct piece *pieces;
    struct changes *changes = changes_new(f->arena);
    struct stage *stage;
    struct record record;
    uint64_t sequence;
    size_t count;

    assert_int_equal(stage_pattern(f->store, STREAM_BYTES, seed, STREAM_BYTES, &stage), STORE_OK);
    pieces = stage_pieces(stage, &count);
    if (read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record) ==
        STORE_OK)
        changes_release(changes, record.pieces, record.piece_count);
    changes_put(changes, RECORD_LISTED, bytes_from_string("s"), bytes_from_string("v"), pieces,
                count);
    changes_count(changes, bytes_from_string("n"), 1);
    begin(history, seed, history->count[history->newest] + 1);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    assert_int_equal(store_await(f->store, sequence), STORE_OK);
    read_view_close(snapshot);
    stage_close(stage);
}

static bool shows(struct fixture *f, struct store *view, const struct history *history, unsigned at)
{
    struct read_view *snapshot = read_view_open(view, f->partition, STORE_MAY_BLOCK);
    struct record record;
    enum store_result result =
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record);
    bool is_shown = history->seed[at] == 0
                        ? result == STORE_NOT_FOUND
                        : stream_matches(view, snapshot, "s", STREAM_BYTES, history->seed[at]);

    read_view_close(snapshot);
    return is_shown;
}

/* ret_place: of the piece; 0: there is none */
static instant shown_at(struct fixture *f, struct store *view, uint64_t *ret_place)
{
    struct read_view *snapshot = read_view_open(view, f->partition, STORE_MAY_BLOCK);
    instant newest = read_view_instant(snapshot);
    struct record record;

    *ret_place = 0;
    if (read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record) ==
        STORE_OK)
        *ret_place = record.pieces[0].offset + ((uint64_t)record.pieces[0].extent << 40) + 1;
    read_view_close(snapshot);
    return newest;
}

/* The state that is shown is one that may be; the counter and the iterator show one that may be, too. */
static void expect_shown(struct fixture *f, struct store *view, const struct history *history)
{
    instant now = clock_now(), until = store_shows_until(view, now);
    unsigned oldest = 0, newest = 0;
    uint64_t sequence;
    bool is_one = false;
    int64_t sum;

    for (unsigned i = 1; i <= history->newest; i++) {
        if (history->begun[i] + HOUR + HOUR / 16 + SLACK < now)
            oldest = i;
        if (history->begun[i] + HOUR <= now + SLACK)
            newest = i;
    }
    assert_true(until <= clock_now() - HOUR);
    for (unsigned i = oldest; i <= newest && !is_one; i++)
        is_one = shows(f, view, history, i);
    assert_true(is_one);
    assert_int_equal(store_count(view, f->partition.space, bytes_from_string("n"), STORE_MAY_BLOCK,
                                 &sum, &sequence),
                     STORE_OK);
    assert_in_range(sum, history->count[oldest], history->count[newest]);
}

/* Rule: at each moment a state is shown that there was the lag ago, or up to a sixteenth more; one that is open stays. */
static void a_state_of_then(void **state)
{
    static const uint64_t steps[] = { 0, 1, 30, 200, 240, 1000, 3600, 8000 };
    struct fixture *f = *state;
    struct store *view = open_view(f);
    struct random random = { 5 };
    struct history *history = calloc(1, sizeof *history);
    struct read_view *held = NULL;
    unsigned held_at = 0;
    instant before, after;
    uint64_t was, is;

    for (unsigned i = 0; view && i < STEPS; i++) {
        if (random_below(&random, 3) > 0)
            replace(f, history, i + 1);
        before = shown_at(f, view, &was);
        clock_advance(steps[random_below(&random, sizeof steps / sizeof steps[0])] *
                      TICKS_PER_SECOND);
        expect_shown(f, view, history);
        /* Who looks again sees by the instant that it is another state. */
        after = shown_at(f, view, &is);
        assert_true(was == is || before != after);
        if (i % 40 == 20) {
            held = read_view_open(view, f->partition, STORE_MAY_BLOCK);
            for (held_at = history->newest; !shows(f, view, history, held_at); held_at--)
                assert_true(held_at > 0);
        }
        if (held && i % 40 == 39) { /* others have been shown and given up since */
            (void)usage_now(f->store);
            if (history->seed[held_at] > 0)
                assert_true(stream_matches(view, held, "s", STREAM_BYTES, history->seed[held_at]));
            read_view_close(held);
            held = NULL;
        }
    }
    if (view) {
        delete_stream(f->store, f->partition, "s");
        store_close(view);
        assert_all_given_back(f->store);
    }
    free(history);
}

static const char *listed(struct fixture *f, struct store *view)
{
    const struct bytes none = { NULL, 0 };
    struct space_iterator *iterator =
        space_iterator_open(view, f->partition.space, none, none, STORE_MAY_BLOCK);
    const char *text = space_text(iterator, f->arena);

    space_iterator_close(iterator);
    return text;
}

/* Rule: a space that is dropped is shown with all that it had until the lag is over, and a return to a state comes as late. */
static void dropped_and_gone_back(void **state)
{
    struct fixture *f = *state;
    const struct partition other = partition_of(guid_new(), "other");
    struct changes *drop = changes_new(f->arena);
    struct store *view = open_view(f);
    struct store_state *kept;
    uint64_t sequence;

    if (!view)
        return;
    kept = store_keep_state(f->store);
    put_stream(f->store, f->partition, "s", STREAM_BYTES, 1);
    assert_string_equal(listed(f, view), "");
    clock_advance(2 * HOUR);
    assert_true(strlen(listed(f, view)) > 0);
    changes_drop_space(drop, f->partition.space);
    assert_int_equal(commit_new(f->store, other, drop, NULL), STORE_OK);
    (void)usage_now(f->store); /* nothing of it is left but for the state */
    assert_string_equal(listed(f, f->store), "");
    assert_true(strlen(listed(f, view)) > 0);
    assert_true(shows(f, view, &(struct history){ .seed = { 1 } }, 0));
    clock_advance(HOUR + MINUTE);
    assert_string_equal(listed(f, view), "");
    assert_int_equal(store_return_to(f->store, kept, NULL, &sequence), STORE_OK);
    put_text(f->store, f->partition, "a", "1");
    assert_string_equal(listed(f, view), "");
    clock_advance(HOUR + MINUTE);
    assert_true(strlen(listed(f, view)) > 0);
    store_drop_state(f->store, kept);
    store_close(view);
    assert_all_given_back(f->store);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(a_state_of_then, EVERY_STORE),
        TEST(dropped_and_gone_back, EVERY_STORE),
    };

    return conformance_run("lag", tests, sizeof tests / sizeof tests[0]);
}
