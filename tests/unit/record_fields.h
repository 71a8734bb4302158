/* Round trips of records of which every field has a value of its own.
 *
 * A record is written from two samples that differ in every field, and from each mixture that has one field of the other
 * sample. What is read must have the same values. So a field that is left out, or changed with another one, is found
 * whichever two they are. The list of fields must cover the structure, so a new member fails the test until it is added. */
#ifndef LAGRA_TESTS_RECORD_FIELDS_H
#define LAGRA_TESTS_RECORD_FIELDS_H

#include "base/arena.h"
#include "base/bytes.h"

enum field_kind {
    FIELD_VALUE,   /* compared byte by byte */
    FIELD_BYTES,   /* struct bytes: compared by what it points to */
    FIELD_SKIPPED, /* not part of the record */
};
struct field {
    const char *name;
    size_t at, size;
    enum field_kind kind;
};
#define FIELD_OF(type, member, how)                                                                \
    {                                                                                              \
#member, offsetof(struct type, member), sizeof(((struct type *)0)->member), how            \
    }
#define VALUE(type, member)   FIELD_OF(type, member, FIELD_VALUE)
#define TEXT(type, member)    FIELD_OF(type, member, FIELD_BYTES)
#define SKIPPED(type, member) FIELD_OF(type, member, FIELD_SKIPPED)

/* A lease, a content and the like are part of several records. */
#define LEASE_FIELDS(type, lease)                                                                  \
    VALUE(type, lease.id), VALUE(type, lease.kind), VALUE(type, lease.duration_s),                 \
        VALUE(type, lease.ends)
#define CONTENT_FIELDS(type, content)                                                              \
    VALUE(type, content.id), VALUE(type, content.length), VALUE(type, content.block_count),        \
        VALUE(type, content.is_alone), VALUE(type, content.without_pieces),                        \
        VALUE(type, content.has_runs), VALUE(type, content.in_chain),                              \
        VALUE(type, content.is_appended), VALUE(type, content.form),                               \
        VALUE(type, content.has_units), VALUE(type, content.has_holes),                            \
        VALUE(type, content.without_pages), VALUE(type, content.epoch),                            \
        VALUE(type, content.last_retained), VALUE(type, content.stamp),                            \
        VALUE(type, content.sealed_at)
#define HTTP_FIELDS(type, http)                                                                    \
    TEXT(type, http.content_type), TEXT(type, http.content_encoding),                              \
        TEXT(type, http.content_language), TEXT(type, http.content_disposition),                   \
        TEXT(type, http.cache_control), VALUE(type, http.has_md5), VALUE(type, http.md5_size),     \
        VALUE(type, http.md5)
#define COPY_FIELDS(type, copy)                                                                    \
    VALUE(type, copy.status), VALUE(type, copy.id), TEXT(type, copy.source),                       \
        VALUE(type, copy.copied), VALUE(type, copy.total), VALUE(type, copy.completed),            \
        TEXT(type, copy.description)

/* Writes *from and reads it into *to, zeroed before; what it points to may be in the arena. */
typedef void round_trip_fn(struct arena *arena, const void *from, void *to);

struct record_form {
    const char *name;
    size_t size;
    const struct field *fields;
    size_t count;
    round_trip_fn *round_trip;
};
#define RECORD_FORM(type, of, trip)                                                                \
    {                                                                                              \
#type, sizeof(struct type), of, sizeof of / sizeof of[0], trip                             \
    }

/* Fields that both samples have in common are only covered: they depend on each other, as those of a kind of blob do. */
void fields_survive(const struct record_form *form, const void *one, const void *other);
/* Fails for each field of the form in which no pair of samples so far differed. */
void fields_all_differed(const struct record_form *form, const void *const samples[], size_t count);

/* Commits the changes to an empty partition of a store in memory, and opens it. written_end() closes both. */
struct changes;
struct store;
struct read_view;
struct written {
    struct store *store;
    struct read_view *snapshot;
};
struct written written_begin(const struct changes *changes);
void written_end(struct written *written);
/* The value of a record of the changes. family: enum record_family */
struct bytes written_record(struct arena *arena, const struct changes *changes, int family,
                            struct bytes key);
/* The value of a record of the index. */
struct bytes written_index(struct arena *arena, const struct changes *changes, struct bytes key);

#endif
