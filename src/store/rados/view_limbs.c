/* What a view shows: rows of the partition itself, and of its limbs, by a view of each, which has to be of the version that is
 * listed. A limb has none. */
#include <assert.h>

#include "base/log.h"
#include "store/rados/view_private.h"
#include "store/record_value.h"

/* By the row that says where it ends. NULL: that is damaged. */
static struct view_limb *take_limb(struct view *view, const struct port_row *row,
                                   const struct row_name *name)
{
    struct view_limb *limb = view->limbs;
    struct partition partition;

    while (limb && (limb->family != name->family || !bytes_equal(limb->last, name->record_key)))
        limb = limb->next;
    if (limb)
        return limb;
    limb = arena_alloc(view->arena, sizeof *limb);
    if (!limb_row_read(row->value, &limb->row))
        return NULL;
    partition = (struct partition){ limb->row.space, view->partition.key };
    limb->family = name->family;
    limb->last = arena_copy(view->arena, name->record_key);
    limb->view = view_open(view->shards, &partition);
    limb->next = view->limbs;
    view->limbs = limb;
    return limb;
}

/* Of a call of a limb's view: what it is for the one of the partition. */
static enum store_result of_limb(struct view *view, struct view_limb *limb,
                                 enum store_result result)
{
    if (result == STORE_WAIT)
        view->waiting = limb->view;
    if (result == STORE_NOT_FOUND && view_is_gone(limb->view))
        result = STORE_CONFLICT; /* it was emptied since, or the space dropped */
    return result == STORE_OK || result == STORE_WAIT || result == STORE_NOT_FOUND ||
                   result == STORE_SHORTAGE
               ? result
               : view_end(view, result);
}

static enum store_result begin_limb(struct view *view, struct view_limb *limb)
{
    enum store_result result = of_limb(view, limb, view_begin(limb->view));

    if (result)
        return result;
    if (view_header(limb->view)->version > limb->row.version)
        return view_end(view, STORE_CONFLICT);
    if (view_header(limb->view)->version < limb->row.version)
        return view_damaged(view, "a limb");
    return STORE_OK;
}

static enum store_result row_of(struct view_limb *limb, enum record_family family,
                                struct bytes from, struct arena *arena, struct port_row *ret_row)
{
    enum store_result result = view_begin(limb->view);

    return result ? result : view_home_row(limb->view, family, from, false, arena, ret_row);
}

/* *ret_limb: the limb that ends at this row; NULL: it is a record. */
static enum store_result limb_of_row(struct view *view, const struct port_row *row,
                                     struct arena *arena, struct view_limb **ret_limb)
{
    struct row_name name;

    *ret_limb = NULL;
    if (!row_key_read(row->key, arena, &name))
        return view_damaged(view, "a record");
    if (name.kind != ROW_LIMB)
        return STORE_OK;
    *ret_limb = take_limb(view, row, &name);
    return *ret_limb ? begin_limb(view, *ret_limb) : view_damaged(view, "the list of limbs");
}

static enum store_result row_in_limbs(struct view *view, enum record_family family,
                                      struct bytes from, struct arena *arena,
                                      struct port_row *ret_row)
{
    for (;;) {
        struct view_limb *limb;
        struct port_row row;
        enum store_result result = view_home_row(view, family, from, false, arena, &row);

        if (!result)
            result = limb_of_row(view, &row, arena, &limb);
        if (!result && limb)
            result = of_limb(view, limb, row_of(limb, family, from, arena, &row));
        else if (result == STORE_NOT_FOUND)
            return result;
        if (!result)
            *ret_row = row;
        if (result != STORE_NOT_FOUND)
            return result;
        from = row_key_behind(arena, row.key);
    }
}

enum store_result view_limb(struct view *view, enum record_family family, struct bytes key,
                            struct arena *arena, struct view_limb **ret_limb)
{
    struct bytes from = row_key_record(arena, family, view->partition.key, key);
    struct row_name name;
    struct limb_row limb;
    struct port_row row;
    enum store_result result;

    *ret_limb = NULL;
    result = view_begin(view);
    if (result)
        return result;
    assert(view->header.has_limbs);
    result = view_home_row(view, family, from, true, arena, &row);
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    if (!row_key_read(row.key, arena, &name))
        return view_damaged(view, "a record");
    if (name.kind != ROW_LIMB)
        return STORE_OK;
    if (!limb_row_read(row.value, &limb))
        return view_damaged(view, "the list of limbs");
    return bytes_compare(key, limb.lo) < 0 ? STORE_OK : limb_of_row(view, &row, arena, ret_limb);
}

static enum store_result get_in_limbs(struct view *view, enum record_family family,
                                      struct bytes key, struct arena *arena, struct bytes *ret_row)
{
    struct bytes from = row_key_record(arena, family, view->partition.key, key);
    struct view_limb *limb;
    struct port_row row;
    enum store_result result = view_limb(view, family, key, arena, &limb);

    if (result)
        return result;
    if (limb)
        result = of_limb(view, limb, row_of(limb, family, from, arena, &row));
    else
        result = view_home_row(view, family, from, true, arena, &row);
    if (result)
        return result;
    *ret_row = row.value;
    return bytes_equal(row.key, from) ? STORE_OK : STORE_NOT_FOUND;
}

/* The first limb behind a row of the home, all of whose rows were read; NULL: none. */
static enum store_result next_limb(struct view *view, enum record_family family, struct bytes *from,
                                   struct arena *arena, struct view_limb **ret_limb)
{
    enum store_result result;
    struct port_row row;

    *ret_limb = NULL;
    while (!(result = view_home_row(view, family, *from, false, arena, &row))) {
        *from = row_key_behind(arena, row.key);
        result = limb_of_row(view, &row, arena, ret_limb);
        if (result || *ret_limb)
            return result;
    }
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum store_result read_family(struct view *view, enum record_family family,
                                     struct arena *arena, size_t *bytes)
{
    struct bytes from =
        row_key_record(arena, family, view->partition.key, (struct bytes){ NULL, 0 });
    struct view_limb *limb;
    enum store_result result;

    while (!(result = next_limb(view, family, &from, arena, &limb)) && limb) {
        result = of_limb(view, limb, view_home_read_all(limb->view));
        *bytes += arena_held(limb->view->arena);
        if (!result && *bytes > VIEW_ARENA_MAX / 2)
            result = STORE_SHORTAGE;
        if (result)
            break;
    }
    return result;
}

static enum store_result read_limbs(struct view *view)
{
    struct arena *arena = arena_new(VIEW_ARENA_MAX);
    size_t bytes = arena_held(view->arena);
    enum store_result result = read_family(view, RECORD_LISTED, arena, &bytes);

    if (!result)
        result = read_family(view, RECORD_INNER, arena, &bytes);
    arena_free(arena);
    return result;
}

/* ---- what there is ---- */

static bool is_record(struct view *view, struct bytes row, struct bytes *ret_value)
{
    if (row_value_read(row, ret_value))
        return true;
    (void)view_damaged(view, "a record");
    return false;
}

enum store_result view_get(struct view *view, enum record_family family, struct bytes key,
                           struct arena *arena, struct record *ret_record)
{
    enum store_result result = view_begin(view);
    struct bytes row_key, row, value;

    if (result)
        return result;
    row_key = row_key_record(arena, family, view->partition.key, key);
    result = view->header.has_limbs ? get_in_limbs(view, family, key, arena, &row)
                                    : view_home_get(view, family, row_key, &row);
    if (result)
        return result;
    if (!is_record(view, row, &value) || record_value_read(value, arena, ret_record))
        return view_damaged(view, "a record");
    return STORE_OK;
}

enum store_result view_row(struct view *view, enum record_family family, struct bytes from,
                           struct arena *arena, struct port_row *ret_row)
{
    enum store_result result = view_begin(view);

    if (result)
        return result;
    return view->header.has_limbs ? row_in_limbs(view, family, from, arena, ret_row)
                                  : view_home_row(view, family, from, false, arena, ret_row);
}

enum store_result view_next(struct view *view, enum record_family family, struct bytes key,
                            bool is_behind, struct arena *arena, struct bytes *ret_key,
                            struct bytes *ret_value)
{
    struct bytes from = row_key_record(arena, family, view->partition.key, key);
    enum store_result result;
    struct port_row row;
    struct row_name name;

    if (is_behind)
        from = row_key_behind(arena, from);
    result = view_row(view, family, from, arena, &row);
    if (result)
        return result;
    if (!row_key_read(row.key, arena, &name) || !is_record(view, row.value, ret_value))
        return view_damaged(view, "a record");
    *ret_key = name.record_key;
    return STORE_OK;
}

enum store_result view_read_all(struct view *view)
{
    enum store_result result = view_home_read_all(view);

    if (result || view_is_gone(view))
        return result;
    return view->header.has_limbs ? read_limbs(view) : STORE_OK;
}
