/* Lists of operations: a request whose body asks for several (Blob Batch), each of them independent of
 * the others.
 *
 * The service brings a row OP for the list, whose functions are made by OPERATION_LIST(OP):
 *
 *   OP_check(call, parameters)                   the head of the request
 *   OP_parse(call, parameters)                   the body into parts, each a request of its own
 *   OP_admit(call, parameters, part)             may this be a part of this list?
 *   OP_render(arena, parameters, answer)         the answer to one part, as bytes
 *   OP_answer(answer, parameters, result)        the answers of all as one
 *
 * and marks the rows that may be parts (struct operation, `listed`). The rest is generic
 * (service/list.c): all parts are routed and admitted before anything is done. Then, one after another,
 * each is authenticated, permitted, checked, decided and committed as if it had come alone; one that
 * meets another writer is decided again without the others; one that is refused is answered so, and
 * the others go on. At the end there is one wait until everything that all of them saw and did is
 * durable. A crash in between leaves each part done or not done.
 *
 * What OP_parse or OP_admit refuse is about the list as a whole: nothing is done, and OP_render renders
 * that error as the only part.
 *
 * Memory: the parts' heads, some 4 KiB each, and their answers are kept until the end. What a part
 * needs while it is decided goes when the next one begins.
 *
 * A list that is to be done whole or not at all, in one partition (an entity group transaction), is the
 * same up to the attempt: its parts are then decided on one snapshot, and their changes go into one
 * commit; a conflict decides all of them again. No service has one yet. */
#ifndef LAGRA_SERVICE_LIST_H
#define LAGRA_SERVICE_LIST_H

#include "service/call.h"

struct list_part {
    struct bytes id;        /* as its answer names it; ptr NULL: it has none */
    struct request request; /* method, target, headers; no body */
};

/* What the parameters of a list begin with. */
struct list_parameters {
    struct parameters base;
    struct list_part *parts; /* by OP_parse */
    size_t count;
};

/* An answer that is to be rendered. */
struct list_answer {
    struct bytes id;
    const struct response *response; /* complete, its body in memory; valid during the call */
    struct bytes reason;             /* of the status line */
};

struct list_result {
    struct result base;
    const struct bytes *answers; /* as OP_render() made them, in the order of the parts */
    size_t count;
};

struct list_functions {
    /* call: of the list; part: routed, its `operation` the row that it asks for, NULL: there is none. */
    enum error (*admit)(struct call *call, struct list_parameters *parameters,
                        const struct call *part);
    struct bytes (*render)(struct arena *arena, const struct list_parameters *parameters,
                           const struct list_answer *answer);
};

#define OPERATION_DECLARE_LIST(op)                                                                 \
    enum error op##_check(struct call *call, struct op##_parameters *parameters);                  \
    enum error op##_parse(struct call *call, struct op##_parameters *parameters);                  \
    enum error op##_admit(struct call *call, struct op##_parameters *parameters,                   \
                          const struct call *part);                                                \
    struct bytes op##_render(struct arena *arena, const struct op##_parameters *parameters,        \
                             const struct list_answer *answer);                                    \
    void op##_answer(struct answer *a, const struct op##_parameters *parameters,                   \
                     const struct list_result *result)

#endif
