/* The objects of the fake, and what one op does to one of them. */
#ifndef LAGRA_TESTS_RADOS_FAKE_OBJECTS_H
#define LAGRA_TESTS_RADOS_FAKE_OBJECTS_H

#include "store/rados/port.h"

/* Rows lie in order of their keys. */
struct fake_object {
    struct fake_object *next;
    char *name;
    bool is_there;
    struct port_row *rows; /* keys and values on the heap */
    uint32_t count, capacity;
    size_t row_bytes;
    struct bytes data, label; /* on the heap */
};

#define FAKE_BUCKETS 4096u
struct fake_objects {
    struct fake_object *buckets[FAKE_BUCKETS]; /* by name */
};

void fake_objects_release(struct fake_objects *objects);
/* NULL: there never was one. */
struct fake_object *fake_objects_find(const struct fake_objects *objects, const char *name);
/* Checks all steps, then applies all or none; answers go into the arena of the op. */
enum port_result fake_objects_apply(struct fake_objects *objects, const char *name,
                                    struct port_op *op, bool is_full);
/* As port_each_object(). */
void fake_objects_each(const struct fake_objects *objects,
                       void (*found)(void *context, const char *object), void *context);
/* The row, or NULL. */
const struct port_row *fake_object_row(const struct fake_object *object, struct bytes key);

#endif
