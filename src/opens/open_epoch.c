#include "opens/open_epoch.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/codec.h"
#include "base/log.h"
#include "opens/open_record.h"
#include "service/driver.h"
#include "service/names.h"
#include "service/small_record.h"

#define RECORD_VERSION 1
#define ARENA_MAX      ((size_t)1 << 20)

static const struct bytes starts_key = BYTES("s");

struct start {
    instant at;
    uint64_t
        lasted; /* ticks until the next start, at most HANDLE_TIMEOUT_TICKS_MAX; 0 for the newest */
};

/* Starts, ascending, without those whose process ran no longer than a later one. */
struct starts {
    struct start of[STARTS_MAX];
    size_t count;
};

/* Later than all instants in the store (clock invariant 2) */
static _Atomic uint64_t epoch;
/* This start and earlier ones; unchanged after the services have started */
static struct starts starts;

uint64_t open_epoch(void)
{
    return atomic_load(&epoch);
}

void open_epoch_begin(void)
{
    starts.count = 0;
    atomic_store(&epoch, clock_now());
}

instant open_epoch_end_of(uint64_t of, uint64_t ticks)
{
    for (size_t i = 0; i < starts.count; i++)
        if (starts.of[i].at > of && starts.of[i].lasted >= ticks && starts.of[i].lasted > 0)
            return starts.of[i].at + ticks;
    return open_epoch() + ticks;
}

/* ---- the list ---- */

static void remove_start(struct starts *all, size_t i)
{
    all->count--;
    memmove(&all->of[i], &all->of[i + 1], (all->count - i) * sizeof all->of[0]);
}

/* Sets the run time of the newest start's process, which ended at `now`. */
static void end_newest(struct starts *all, instant now)
{
    struct start *newest = &all->of[all->count - 1];
    uint64_t lasted = now - newest->at;

    newest->lasted = lasted < HANDLE_TIMEOUT_TICKS_MAX ? lasted : HANDLE_TIMEOUT_TICKS_MAX;
    while (all->count > 1 && all->of[all->count - 2].lasted <= all->of[all->count - 1].lasted)
        remove_start(all, all->count - 2);
}

/* Adds a start. If the list is full, merges the two oldest ones. This has two effects: a handle may
 * expire early; and a handle from before both starts, although expired, becomes valid again if all
 * processes since the second start ran for less than its timeout in total. */
static void add_start(struct starts *all, instant now)
{
    if (all->count > 0)
        end_newest(all, now);
    if (all->count == STARTS_MAX) {
        all->of[1].lasted = all->of[0].lasted;
        remove_start(all, 0);
    }
    all->of[all->count++] = (struct start){ .at = now };
}

/* ---- the record ---- */

static struct partition partition_of_starts(void)
{
    return (struct partition){ .space = account_space("starts", bytes_from_string("")),
                               .key = BYTES("") };
}

static bool decode(struct bytes value, struct starts *ret_starts)
{
    struct decoder in;
    uint64_t count;

    decoder_init(&in, value);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    count = decode_u64(&in);
    if (in.bad || count == 0 || count > STARTS_MAX)
        return false;
    ret_starts->count = count;
    for (size_t i = 0; i < count; i++) {
        struct start *start = &ret_starts->of[i];

        start->at = decode_u64(&in);
        start->lasted = decode_u64(&in);
        if (start->lasted > HANDLE_TIMEOUT_TICKS_MAX || (start->lasted == 0) != (i == count - 1) ||
            start->at > INSTANT_MAX - HANDLE_TIMEOUT_TICKS_MAX)
            return false;
        if (i > 0 && (start->at <= start[-1].at || start->lasted >= start[-1].lasted))
            return false;
    }
    return decoder_ok(&in);
}

static struct bytes encode(struct arena *arena, const struct starts *from)
{
    struct text out;

    text_init(&out, arena, 2 + from->count * 2 * VARINT_BYTES_MAX);
    encode_u8(&out, RECORD_VERSION);
    encode_u64(&out, from->count);
    for (size_t i = 0; i < from->count; i++) {
        encode_u64(&out, from->of[i].at);
        encode_u64(&out, from->of[i].lasted);
    }
    return text_bytes(&out);
}

struct recording {
    bool opens;
    struct starts starts;
};

static enum error record_attempt(struct decision *d, void *of)
{
    struct recording *recording = of;
    struct starts *all = &recording->starts;
    struct record record;
    enum store_result result;

    all->count = 0;
    decision_open_subject(d, partition_of_starts());
    decision_read_clock(d);
    result = read_view_get(d->before, RECORD_INNER, starts_key, d->arena, &record);
    if (!result && !decode(record.value, all))
        result = record_is_unknown("the record of the starts of the server", record.value);
    if (result && result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    if (result == STORE_NOT_FOUND && !recording->opens)
        return OK;
    /* Already recorded, because the same process has reopened the store. */
    if (all->count > 0 && all->of[all->count - 1].at >= open_epoch())
        return OK;
    add_start(all, open_epoch());
    changes_put(d->changes, RECORD_INNER, starts_key, encode(d->arena, all), NULL, 0);
    return OK;
}

bool open_epoch_record(struct store *store, bool opens)
{
    struct recording recording = { .opens = opens };
    struct arena *arena = arena_new(ARENA_MAX);
    enum error e;

    open_epoch_begin();
    e = deciding_run_in(store, NULL, arena, record_attempt, &recording);
    arena_free(arena);
    if (e)
        log_line(LOG_WARN,
                 "the start of the server was not recorded (%s): expired persistent SMB handles "
                 "may be held open again for up to 300 s",
                 error_code(e));
    else
        starts = recording.starts;
    return !e;
}

enum start_record_kind start_record_inspect(const struct partition *at, struct bytes key,
                                            struct bytes value)
{
    const struct partition own = partition_of_starts();
    struct starts found;

    if (!guid_equal(&at->space, &own.space))
        return NO_START_RECORD;
    return bytes_equal(key, starts_key) && decode(value, &found) ? START_RECORD
                                                                 : START_RECORD_DAMAGED;
}
