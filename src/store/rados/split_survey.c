#include "store/rados/split_survey.h"

#include <stdlib.h>

#include "base/log.h"
#include "store/rados/blocking.h"

#define SURVEY_ARENA_MAX (64u << 20)

/* Where the survey is in rows of one kind. */
struct at {
    struct bytes partition; /* on the heap */
    bool has_partition;
    struct split_size begun;  /* before the partition */
    struct split_size marked; /* before the last mark */
};

struct surveying {
    struct split_survey *survey;
    struct split_size step;
    struct at at[2];
    struct bytes first;  /* on the heap: partition; each has rows of the second kind */
    struct bytes bounds; /* on the heap: the row, as it was at first */
    struct bytes after;  /* on the heap: the row that was read last */
    bool is_over;
};

static void replace(struct bytes *copy, struct bytes with)
{
    xcopy_free(*copy);
    *copy = xcopy(with);
}

static void add_mark(struct split_marks *marks, struct bytes key, struct split_size before)
{
    if (marks->count == marks->capacity) {
        marks->capacity = marks->capacity > 0 ? 2 * marks->capacity : 64;
        marks->all = xrealloc(marks->all, marks->capacity * sizeof marks->all[0]);
    }
    marks->all[marks->count++] = (struct split_mark){ xcopy(key), before };
}

static void add_size(struct split_size *size, const struct port_row *row)
{
    size->rows++;
    size->bytes += row->key.len + row->value.len;
}

/* Is there so much between two places? */
static bool is_step(const struct surveying *s, struct split_size from, struct split_size to)
{
    return to.rows - from.rows >= s->step.rows || to.bytes - from.bytes >= s->step.bytes;
}

/* Who begins there would leave nothing behind. */
static void drop_first(struct split_marks *marks, struct bytes first)
{
    if (marks->count == 0 || bytes_compare(marks->all[0].key, first) > 0)
        return;
    xcopy_free(marks->all[0].key);
    memmove(marks->all, marks->all + 1, --marks->count * sizeof marks->all[0]);
}

static void note_size(struct split_survey *survey, unsigned kind, struct bytes partition,
                      struct split_size size)
{
    if (size.rows + size.bytes / SPLIT_ROW_BYTES <=
        survey->largest_size.rows + survey->largest_size.bytes / SPLIT_ROW_BYTES)
        return;
    survey->kind = kind == 0 ? 'L' : 'P';
    survey->largest_size = size;
    replace(&survey->largest, partition);
}

/* Before a large partition there is a mark, so that it can be parted from the small ones. */
static void end_partition(struct surveying *s, unsigned kind)
{
    struct split_marks *marks = &s->survey->marks[kind];
    const struct split_size total = marks->total;
    struct at *at = &s->at[kind];
    bool is_marked = marks->count > 0 && at->begun.rows == at->marked.rows;

    if (at->has_partition)
        note_size(
            s->survey, kind, at->partition,
            (struct split_size){ total.rows - at->begun.rows, total.bytes - at->begun.bytes });
    if (!at->has_partition || is_marked || !is_step(s, at->begun, marks->total))
        return;
    add_mark(marks, at->partition, at->begun);
    at->marked = at->begun;
}

static void take_partition(struct surveying *s, unsigned kind, struct bytes partition)
{
    struct split_marks *marks = &s->survey->marks[kind];
    struct at *at = &s->at[kind];

    if (at->has_partition && bytes_equal(at->partition, partition))
        return;
    end_partition(s, kind);
    if (at->has_partition && is_step(s, at->marked, marks->total)) {
        add_mark(marks, partition, marks->total);
        at->marked = marks->total;
    }
    if (kind == 1 && !at->has_partition)
        s->first = xcopy(partition);
    at->begun = marks->total;
    at->has_partition = true;
    replace(&at->partition, partition);
}

static void take_row(struct surveying *s, const struct port_row *row, struct arena *arena)
{
    char kind = row->key.ptr[0];
    struct row_name name;

    if (kind == 'I' || kind == 'T' || kind == 'L' || kind == 'P')
        add_size(&s->survey->total, row);
    if ((kind != 'L' && kind != 'P') || !row_key_read(row->key, arena, &name))
        return;
    if (name.kind == ROW_LIMB && s->survey->limb_count < SPLIT_LIMBS_MAX)
        s->survey->limbs[s->survey->limb_count++] =
            (struct port_row){ xcopy(row->key), xcopy(row->value) };
    take_partition(s, kind == 'P', name.partition_key);
    add_size(&s->survey->marks[kind == 'P'].total, row);
}

static bool take_bounds(struct surveying *s, struct bytes row)
{
    struct shard_bounds bounds;

    if (s->bounds.len > 0)
        return bytes_equal(s->bounds, row);
    if (shard_bounds_read(row, &bounds) || bounds.state != SHARD_LIVE || bounds.is_moving ||
        bounds.is_empty)
        return false;
    s->bounds = xcopy(row);
    s->survey->hi = xcopy(bounds.hi);
    return true;
}

static bool take_page(struct surveying *s, struct shards *shards, const char *object)
{
    struct arena *arena = arena_new(SURVEY_ARENA_MAX);
    struct arena_mark empty = arena_mark(arena);
    struct port_op *op = arrival_op();
    struct port_step *bounds = port_get(op, row_key_bounds());
    struct port_step *list = port_list(op, s->after, (struct bytes){ NULL, 0 }, PORT_ROWS_MAX);
    struct arrival *arrival = send_block(shards_port(shards), object, op);
    bool is_read = op->result == PORT_OK && take_bounds(s, port_value(bounds));

    for (uint32_t i = 0; is_read && i < list->row_count; i++) {
        take_row(s, &list->rows[i], arena);
        arena_rewind(arena, empty);
    }
    s->is_over = is_read && !list->is_cut;
    if (is_read && list->row_count > 0)
        replace(&s->after, list->rows[list->row_count - 1].key);
    arrival_drop(arrival);
    arena_free(arena);
    return is_read;
}

bool split_survey(struct shards *shards, const char *object, struct split_size step,
                  struct split_survey *ret_survey)
{
    struct surveying s = { .survey = ret_survey, .step = step };
    bool is_read = true;

    *ret_survey = (struct split_survey){ .hi = { NULL, 0 } };
    while (is_read && !s.is_over)
        is_read = take_page(&s, shards, object);
    for (unsigned i = 0; i < 2; i++) {
        end_partition(&s, i);
        drop_first(&ret_survey->marks[i], s.first);
        xcopy_free(s.at[i].partition);
    }
    xcopy_free(s.first);
    xcopy_free(s.bounds);
    xcopy_free(s.after);
    return is_read;
}

void split_survey_release(struct split_survey *survey)
{
    for (unsigned i = 0; i < 2; i++) {
        for (size_t k = 0; k < survey->marks[i].count; k++)
            xcopy_free(survey->marks[i].all[k].key);
        free(survey->marks[i].all);
    }
    for (unsigned i = 0; i < survey->limb_count; i++) {
        xcopy_free(survey->limbs[i].key);
        xcopy_free(survey->limbs[i].value);
    }
    xcopy_free(survey->largest);
    xcopy_free(survey->hi);
}

static bool is_below(struct bytes key, struct bytes hi)
{
    return hi.len == 0 || bytes_compare(key, hi) < 0;
}

/* How many marks of a kind are below. */
static size_t count_below(const struct split_marks *marks, struct bytes hi)
{
    size_t low = 0, high = marks->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (is_below(marks->all[middle].key, hi))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct split_mark *split_mark_below(const struct split_survey *survey, struct bytes hi)
{
    const struct split_mark *greatest = NULL;

    for (unsigned i = 0; i < 2; i++) {
        size_t count = count_below(&survey->marks[i], hi);
        const struct split_mark *mark = count > 0 ? &survey->marks[i].all[count - 1] : NULL;

        if (mark && (!greatest || bytes_compare(mark->key, greatest->key) > 0))
            greatest = mark;
    }
    return greatest;
}

/* Of one kind: what is before the last mark at or below `lo`, and before the first at or above `hi`. */
static struct split_size size_of_kind(const struct split_marks *marks, struct bytes lo,
                                      struct bytes hi)
{
    size_t first = count_below(marks, lo), last = count_below(marks, hi);
    struct split_size before = { 0, 0 }, up_to = marks->total;

    if (first < marks->count && bytes_equal(marks->all[first].key, lo))
        before = marks->all[first].before;
    else if (first > 0)
        before = marks->all[first - 1].before;
    if (last < marks->count)
        up_to = marks->all[last].before;
    return (struct split_size){ up_to.rows - before.rows, up_to.bytes - before.bytes };
}

struct split_size split_size_between(const struct split_survey *survey, struct bytes lo,
                                     struct bytes hi)
{
    struct split_size listed = size_of_kind(&survey->marks[0], lo, hi),
                      others = size_of_kind(&survey->marks[1], lo, hi);

    return (struct split_size){ listed.rows + others.rows, listed.bytes + others.bytes };
}
