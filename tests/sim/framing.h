/* How the body of a request goes over a socket: by its length, announced with Expect, or in chunks, up to
 * each of their limits and one byte beyond; and what the server owes to each way, whatever is asked.
 * rfc: 9110 10.1.1, 9112 7.1; decision: 38, 48, 233, 270, 272 */
#ifndef LAGRA_SIM_FRAMING_H
#define LAGRA_SIM_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ask;
struct draws;
struct reply;

enum expectation {
    EXPECTS_NOTHING,
    AWAITS_CONTINUE,     /* sends its body when it is told to */
    EXPECTS_IMPATIENTLY, /* sends it at once, as a client may */
    EXPECTS_ELSE,        /* what no server knows */
};

enum chunk_form {
    NOT_CHUNKED,
    WELL_CHUNKED,
    LINE_AT_LIMIT,
    TRAILER_AT_LIMIT,
    /* From here on not to be taken for a body. */
    LINE_BEYOND,
    TRAILER_BEYOND,
    SIZE_BEYOND,
    NO_SIZE,
    BLANK_BEHIND_SIZE,
    CONTROL_IN_EXTENSION,
    BARE_LF,
    BYTE_BEHIND_DATA,
    NAMELESS_TRAILER,
    CUT_SHORT, /* and the client sends no more, or is gone */
    STALLS,    /* for longer than the server waits */
    CHUNK_FORMS
};

struct framing {
    /* Drawn. */
    enum expectation expectation;
    enum chunk_form form;
    uint64_t seed;
    /* Of the request. */
    bool has_body, is_put;
    size_t size; /* of the body with its framing */
    /* What came. */
    unsigned continues; /* answers 100 */
    bool stays;         /* the server would take another request */
};

/* Of a request by the wire. Takes nothing of what else is drawn. */
void framing_draw(const struct draws *draws, struct framing *ret_framing);
/* What of it can be for a request with such a body. */
struct framing framing_of(const struct framing *drawn, bool is_put, bool is_post, size_t length);

/* The body as it goes out; `size` is its. malloc; NULL: as it is */
unsigned char *framing_write(struct framing *framing, const unsigned char *body, size_t length);
/* In pieces of so many bytes, where the client sends slowly. */
size_t framing_piece(const struct framing *framing, uint64_t pause_ns);

/* Is the body one, with its end? */
bool framing_is_whole(const struct framing *framing);
/* Does the server look at what is asked before it takes the body? */
bool framing_asks_early(const struct framing *framing);
/* The client's request may commit from now on, or may not, because its body cannot be whole. */
void framing_begin(unsigned slot, bool may_commit);
/* It has. */
void framing_committed(unsigned slot);
/* Of the answer. One that the framing alone decides is not for the judge of the service: `came` is
 * false then. */
void framing_judge(const struct framing *framing, const struct ask *ask, struct reply *answer);

#endif
