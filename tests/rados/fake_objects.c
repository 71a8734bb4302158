#include "fake_objects.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"

/* Of an object's rows and the op together (osd_max_object_size is of the same order). */
#define OBJECT_BYTES_MAX (128u << 20)

static void free_row(struct port_row *row)
{
    xcopy_free(row->key);
    xcopy_free(row->value);
}

static void clear(struct fake_object *object)
{
    for (uint32_t i = 0; i < object->count; i++)
        free_row(&object->rows[i]);
    object->count = 0;
    object->row_bytes = 0;
    xcopy_free(object->data);
    xcopy_free(object->label);
    object->data = object->label = (struct bytes){ NULL, 0 };
}

void fake_objects_release(struct fake_objects *objects)
{
    for (unsigned i = 0; i < FAKE_BUCKETS; i++)
        while (objects->buckets[i]) {
            struct fake_object *object = objects->buckets[i];

            objects->buckets[i] = object->next;
            clear(object);
            free(object->rows);
            free(object->name);
            free(object);
        }
}

static unsigned bucket_of(const char *name)
{
    return crc32c(0, name, strlen(name)) % FAKE_BUCKETS;
}

struct fake_object *fake_objects_find(const struct fake_objects *objects, const char *name)
{
    struct fake_object *object = objects->buckets[bucket_of(name)];

    while (object && strcmp(object->name, name) != 0)
        object = object->next;
    return object;
}

static struct fake_object *find_or_make(struct fake_objects *objects, const char *name)
{
    struct fake_object *object = fake_objects_find(objects, name);

    if (object)
        return object;
    object = xcalloc(1, sizeof *object);
    object->name = xstrdup(name);
    object->next = objects->buckets[bucket_of(name)];
    objects->buckets[bucket_of(name)] = object;
    return object;
}

/* The index of the first row whose key is not less. */
static uint32_t place_of(const struct fake_object *object, struct bytes key)
{
    uint32_t low = 0, high = object->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (bytes_compare(object->rows[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct port_row *fake_object_row(const struct fake_object *object, struct bytes key)
{
    uint32_t place = place_of(object, key);

    return place < object->count && bytes_equal(object->rows[place].key, key) ? &object->rows[place]
                                                                              : NULL;
}

/* ---- checking: before anything is changed ---- */

static enum port_result check_step(const struct fake_object *object, const struct port_step *step,
                                   bool is_full, bool *is_there)
{
    const struct port_row *row;

    switch (step->verb) {
    case PORT_CREATE:
        if (*is_there && step->is_exclusive)
            return PORT_EXISTS;
        *is_there = true;
        return PORT_OK;
    case PORT_SET:
        row = object && object->is_there ? fake_object_row(object, step->key) : NULL;
        if (is_full && (!row || step->value.len > row->value.len))
            return PORT_FULL;
        *is_there = true;
        return PORT_OK;
    case PORT_COMPARE:
        if (!*is_there)
            return PORT_ABSENT;
        row = object && object->is_there ? fake_object_row(object, step->key) : NULL;
        return bytes_equal(row ? row->value : (struct bytes){ NULL, 0 }, step->value)
                   ? PORT_OK
                   : PORT_REFUSED;
    case PORT_DELETE_OBJECT:
        if (!*is_there)
            return PORT_ABSENT;
        *is_there = false;
        return PORT_OK;
    case PORT_COMPARE_LABEL:
        if (!*is_there)
            return PORT_ABSENT;
        return object && bytes_equal(object->label, step->value) ? PORT_OK : PORT_REFUSED;
    case PORT_WRITE:
    case PORT_SET_LABEL:
        if (is_full)
            return PORT_FULL;
        *is_there = true;
        return PORT_OK;
    case PORT_REMOVE:
    case PORT_REMOVE_RANGE:
    case PORT_GET:
    case PORT_LIST:
    case PORT_READ:
    case PORT_GET_LABEL:
        break;
    }
    return *is_there ? PORT_OK : PORT_ABSENT;
}

static enum port_result check(const struct fake_object *object, const struct port_op *op,
                              bool is_full)
{
    bool is_there = object && object->is_there;
    size_t bytes = op->bytes;

    if (op->bytes > PORT_OP_BYTES_MAX)
        return PORT_TOO_LARGE;
    if (is_there)
        bytes += object->row_bytes;
    if (op->is_write && bytes > OBJECT_BYTES_MAX)
        return PORT_TOO_LARGE;
    for (const struct port_step *step = op->first; step; step = step->next) {
        enum port_result result = check_step(object, step, is_full, &is_there);

        if (result)
            return result;
    }
    return PORT_OK;
}

/* ---- applying ---- */

static void set(struct fake_object *object, struct bytes key, struct bytes value)
{
    uint32_t place = place_of(object, key);
    struct port_row row = { xcopy(key), xcopy(value) };

    object->row_bytes += key.len + value.len;
    if (place < object->count && bytes_equal(object->rows[place].key, key)) {
        object->row_bytes -= object->rows[place].key.len + object->rows[place].value.len;
        free_row(&object->rows[place]);
        object->rows[place] = row;
        return;
    }
    if (object->count == object->capacity) {
        object->capacity = object->capacity ? object->capacity * 2 : 16;
        object->rows = xrealloc(object->rows, object->capacity * sizeof object->rows[0]);
    }
    memmove(&object->rows[place + 1], &object->rows[place],
            (object->count - place) * sizeof object->rows[0]);
    object->rows[place] = row;
    object->count++;
}

/* Rows from one place up to another. */
static void cut(struct fake_object *object, uint32_t from, uint32_t to)
{
    if (from >= to)
        return;
    for (uint32_t i = from; i < to; i++) {
        object->row_bytes -= object->rows[i].key.len + object->rows[i].value.len;
        free_row(&object->rows[i]);
    }
    memmove(&object->rows[from], &object->rows[to], (object->count - to) * sizeof object->rows[0]);
    object->count -= to - from;
}

static void answer(const struct fake_object *object, struct port_op *op, struct port_step *step,
                   uint32_t from)
{
    uint32_t end = from;

    while (end < object->count && end - from < step->max &&
           bytes_has_prefix(object->rows[end].key, step->value))
        end++;
    step->row_count = end - from;
    step->rows = arena_array(op->arena, step->row_count, sizeof step->rows[0]);
    for (uint32_t i = 0; i < step->row_count; i++)
        step->rows[i] = (struct port_row){ arena_copy(op->arena, object->rows[from + i].key),
                                           arena_copy(op->arena, object->rows[from + i].value) };
    step->is_cut = end < object->count && bytes_has_prefix(object->rows[end].key, step->value);
}

static void list(const struct fake_object *object, struct port_op *op, struct port_step *step)
{
    struct bytes from = bytes_compare(step->key, step->value) < 0 ? step->value : step->key;
    uint32_t place = place_of(object, from);

    /* After the key, which may be the prefix itself. */
    if (place < object->count && bytes_equal(object->rows[place].key, step->key))
        place++;
    answer(object, op, step, place);
}

static void get(const struct fake_object *object, struct port_op *op, struct port_step *step)
{
    const struct port_row *row = fake_object_row(object, step->key);

    step->row_count = row ? 1 : 0;
    if (!row)
        return;
    step->rows = arena_array(op->arena, 1, sizeof step->rows[0]);
    step->rows[0] = (struct port_row){ step->key, arena_copy(op->arena, row->value) };
}

static void read_data(const struct fake_object *object, struct port_op *op, struct port_step *step)
{
    struct bytes rest = bytes_from(object->data, step->offset);

    if (rest.len > step->max)
        rest.len = step->max;
    step->rows = arena_array(op->arena, 1, sizeof step->rows[0]);
    step->rows[0] = (struct port_row){ .value = arena_copy(op->arena, rest) };
    step->row_count = 1;
}

static void get_label(const struct fake_object *object, struct port_op *op, struct port_step *step)
{
    step->row_count = object->label.len > 0 ? 1 : 0;
    step->rows = arena_array(op->arena, 1, sizeof step->rows[0]);
    step->rows[0] = (struct port_row){ .value = arena_copy(op->arena, object->label) };
}

static void apply_step(struct fake_object *object, struct port_op *op, struct port_step *step)
{
    uint32_t place = 0;

    if (step->key.len > 0)
        place = place_of(object, step->key);
    switch (step->verb) {
    case PORT_CREATE:
        object->is_there = true;
        break;
    case PORT_SET:
        object->is_there = true;
        set(object, step->key, step->value);
        break;
    case PORT_REMOVE:
        if (place < object->count && bytes_equal(object->rows[place].key, step->key))
            cut(object, place, place + 1);
        break;
    case PORT_REMOVE_RANGE:
        cut(object, place, place_of(object, step->value));
        break;
    case PORT_DELETE_OBJECT:
        clear(object);
        object->is_there = false;
        break;
    case PORT_GET:
        get(object, op, step);
        break;
    case PORT_LIST:
        list(object, op, step);
        break;
    case PORT_WRITE:
        object->is_there = true;
        xcopy_free(object->data);
        object->data = xcopy(step->value);
        break;
    case PORT_READ:
        read_data(object, op, step);
        break;
    case PORT_SET_LABEL:
        object->is_there = true;
        xcopy_free(object->label);
        object->label = xcopy(step->value);
        break;
    case PORT_GET_LABEL:
        get_label(object, op, step);
        break;
    case PORT_COMPARE:
    case PORT_COMPARE_LABEL:
        break;
    }
}

enum port_result fake_objects_apply(struct fake_objects *objects, const char *name,
                                    struct port_op *op, bool is_full)
{
    enum port_result result = check(fake_objects_find(objects, name), op, is_full);
    struct fake_object *object;

    if (result)
        return result;
    object = find_or_make(objects, name);
    for (struct port_step *step = op->first; step; step = step->next)
        apply_step(object, op, step);
    return PORT_OK;
}

void fake_objects_each(const struct fake_objects *objects,
                       void (*found)(void *context, const char *object), void *context)
{
    for (unsigned i = 0; i < FAKE_BUCKETS; i++)
        for (const struct fake_object *o = objects->buckets[i]; o; o = o->next)
            if (o->is_there)
                found(context, o->name);
}
