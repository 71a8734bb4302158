/* ETags. An ETag is the modification time in 100 ns ticks, in Azure's form "0x8D6D418B56CFF5B"
 * (upper-case hex, in quotes). ETags of an object are unique and increasing, even across deletion
 * and re-creation, without tombstones: the clock never repeats a tick, and the instant of a
 * decision is read after its state was opened, so it is greater than that of every commit to the
 * partition, deletions included (service/deciding.c, store.h read_view_instant()). Pure. semantics
 * 0.3 */
#ifndef LAGRA_CONCURRENCY_ETAG_H
#define LAGRA_CONCURRENCY_ETAG_H

#include "base/clock.h"

struct etag {
    instant v; /* 0 if none */
};

/* Returns the ETag of a change at `now` to an object with ETag `before` (0 if new). */
struct etag etag_after(struct etag before, instant now);

#define ETAG_TEXT_SIZE 24
/* Writes `"0x8D..."`, quotes and NUL included. */
void etag_format(struct etag etag, char buffer[ETAG_TEXT_SIZE]);
/* Parses one entity tag of a header: quoted or bare (since 2011-08-18); W/ is accepted and never
 * matches. Returns false if the text is not a tag. A well-formed tag of another form than ours sets
 * v = 0, which matches nothing. */
bool etag_parse(struct bytes text, struct etag *ret_etag);

/* The form of ETags that a service uses. */
enum etag_form {
    ETAG_TICKS, /* "0x8D..." */
    /* W/"datetime'2017-01-05T03%3A24%3A39.6596665Z'": Table entities */
    ETAG_TIMESTAMP,
};
/* Like etag_parse(), for the tag of an entity, which must be quoted and weak. decision: 141 */
bool etag_parse_timestamp(struct bytes text, struct etag *ret_etag);

#endif
