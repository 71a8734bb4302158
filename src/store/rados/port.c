/* Ops are built here, whatever the port. */
#include "store/rados/port.h"

#include <assert.h>
#include <stdlib.h>

/* Far above what the store puts into one op, and into one answer. */
#define OP_ARENA_MAX (2u * PORT_OP_BYTES_MAX)

const char *port_result_text(enum port_result result)
{
    static const char *const texts[] = {
        [PORT_OK] = "ok",
        [PORT_REFUSED] = "a compare failed",
        [PORT_ABSENT] = "no object",
        [PORT_EXISTS] = "the object exists",
        [PORT_FULL] = "pool full",
        [PORT_TOO_LARGE] = "too large",
        [PORT_FAILED] = "failed",
    };

    assert((size_t)result < sizeof texts / sizeof texts[0]);
    return texts[result];
}

struct port_op *port_op_new(void (*done)(struct port_op *op), void *context)
{
    struct port_op *op = xcalloc(1, sizeof *op);

    op->arena = arena_new(OP_ARENA_MAX);
    op->end = &op->first;
    op->done = done;
    op->context = context;
    return op;
}

void port_op_free(struct port_op *op)
{
    arena_free(op->arena);
    free(op);
}

static bool is_writing(enum port_verb verb)
{
    return verb != PORT_COMPARE && verb != PORT_GET && verb != PORT_LIST && verb != PORT_READ &&
           verb != PORT_GET_LABEL;
}

static void assert_key(struct bytes key)
{
    assert(key.len > 0 && !memchr(key.ptr, '\0', key.len));
}

static struct port_step *add(struct port_op *op, enum port_verb verb, struct bytes key,
                             struct bytes value)
{
    struct port_step *step = arena_alloc(op->arena, sizeof *step);

    if (verb != PORT_COMPARE) {
        for (const struct port_step *s = op->first; s; s = s->next)
            if (s->verb != PORT_COMPARE) {
                assert(is_writing(s->verb) == is_writing(verb));
                break;
            }
        op->is_write = is_writing(verb);
    }
    *step = (struct port_step){
        .verb = verb,
        .key = arena_copy(op->arena, key),
        .value = arena_copy(op->arena, value),
    };
    op->bytes += key.len + value.len;
    *op->end = step;
    op->end = &step->next;
    return step;
}

static const struct bytes nothing;

void port_create(struct port_op *op, bool is_exclusive)
{
    add(op, PORT_CREATE, nothing, nothing)->is_exclusive = is_exclusive;
}

void port_compare(struct port_op *op, struct bytes key, struct bytes value)
{
    assert_key(key);
    add(op, PORT_COMPARE, key, value);
}

void port_set(struct port_op *op, struct bytes key, struct bytes value)
{
    assert_key(key);
    add(op, PORT_SET, key, value);
}

void port_remove(struct port_op *op, struct bytes key)
{
    assert_key(key);
    add(op, PORT_REMOVE, key, nothing);
}

void port_remove_range(struct port_op *op, struct bytes from, struct bytes to)
{
    assert_key(from);
    assert_key(to);
    add(op, PORT_REMOVE_RANGE, from, to);
}

void port_delete_object(struct port_op *op)
{
    add(op, PORT_DELETE_OBJECT, nothing, nothing);
}

struct port_step *port_get(struct port_op *op, struct bytes key)
{
    assert_key(key);
    return add(op, PORT_GET, key, nothing);
}

struct port_step *port_list(struct port_op *op, struct bytes after, struct bytes prefix,
                            uint32_t max)
{
    struct port_step *step;

    assert(after.len == 0 || !memchr(after.ptr, '\0', after.len));
    assert(prefix.len == 0 || !memchr(prefix.ptr, '\0', prefix.len));
    assert(max > 0 && max <= PORT_ROWS_MAX);
    step = add(op, PORT_LIST, after, prefix);
    step->max = max;
    return step;
}

void port_write(struct port_op *op, struct bytes bytes)
{
    add(op, PORT_WRITE, nothing, bytes);
}

struct port_step *port_read(struct port_op *op, uint64_t offset, uint32_t length)
{
    struct port_step *step = add(op, PORT_READ, nothing, nothing);

    step->offset = offset;
    step->max = length;
    return step;
}

void port_set_label(struct port_op *op, struct bytes label)
{
    assert(label.len > 0);
    add(op, PORT_SET_LABEL, nothing, label);
}

void port_compare_label(struct port_op *op, struct bytes label)
{
    assert(label.len > 0);
    add(op, PORT_COMPARE_LABEL, nothing, label);
}

struct port_step *port_get_label(struct port_op *op)
{
    return add(op, PORT_GET_LABEL, nothing, nothing);
}

void port_send(struct port *port, const char *object, struct port_op *op)
{
    assert(op->first && op->done);
    op->object = arena_string(op->arena, bytes_from_string(object));
    port->send(port, object, op);
}

void port_pause(struct port *port, unsigned ms, struct waiter *waiter)
{
    assert(ms > 0 && waiter);
    port->pause(port, ms, waiter);
}

bool port_each_object(struct port *port, void (*found)(void *context, const char *object),
                      void *context)
{
    return port->each_object(port, found, context);
}
