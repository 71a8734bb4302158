/* Batches of operations: a request whose body asks for several (Blob Batch), each of them independent of
 * the others.
 *
 * The service brings a row OP for the batch, whose functions are made by OPERATION_BATCH(OP):
 *
 *   OP_check(call, parameters)                   the head of the request
 *   OP_parse(call, parameters)                   the body into parts, each a request of its own
 *   OP_admit(call, parameters, part)             may this be a part of this batch?
 *   OP_render(arena, parameters, answer)         the answer to one part, as bytes
 *   OP_answer(answer, parameters, result)        the answers of all as one
 *
 * and marks the rows that may be parts (struct operation, `listed`). The rest is generic
 * (request/batch.c): all parts are routed and admitted before anything is done. Then, one after another,
 * each is authenticated, permitted, checked, decided and committed as if it had come alone; one that
 * meets another writer is decided again without the others; one that is refused is answered so, and
 * the others go on. Several parts about
 * different partitions go into one commit (COMMIT_PARTS_MAX); each is still decided on its own partition alone, sees what
 * the parts before it have done there, and gets an answer of its own. At the end there is one wait until
 * everything that all of them saw and did is durable. A crash in between leaves each part done or not
 * done.
 *
 * What OP_parse or OP_admit refuse is about the batch as a whole: nothing is done, and OP_render renders
 * that error as the only part.
 *
 * Memory: the parts' heads, some 4 KiB each, and their answers are kept until the end. What a part
 * needs while it is decided goes with its commit.
 *
 * A batch that is done whole or not at all, in one partition (an entity group transaction), is made by
 * OPERATION_TRANSACTION(OP) (request/transaction.c). Its parts may have bodies, which are parsed before they
 * are admitted; the caller of the batch is that of its parts. All parts are decided in their order on one
 * snapshot, as if each were alone: the service sees to it by OP_admit that no two are about the same
 * record. Their changes go into one commit; a conflict decides all of them again. The first part that
 * is refused refuses the batch, and its answer, rendered by OP_render, is the only one; it says by
 * answer.part which one it was. What OP_parse refuses is answered as an error of the request. */
#ifndef LAGRA_SERVICE_LIST_H
#define LAGRA_SERVICE_LIST_H

#include "service/call.h"

struct batch_part {
    struct bytes id;        /* as its answer names it; ptr NULL: it has none */
    struct request request; /* method, target, headers; no body */
    struct bytes body;      /* of a part of a transaction; ptr NULL: none */
};

/* What the parameters of a batch begin with. */
struct batch_parameters {
    struct parameters base;
    struct bytes content_type; /* of the request, by batch_check() */
    struct bytes boundary;     /* of the answer, by batch_check() */
    struct batch_part *parts;  /* by OP_parse */
    size_t count;
};

/* An answer that is to be rendered. */
struct batch_answer {
    struct bytes id;
    const struct call *part;         /* that is answered; NULL: the batch as a whole */
    const struct response *response; /* complete, its body in memory; valid during the call */
    struct bytes reason;             /* of the status line */
};

struct batch_result {
    struct result base;
    const struct bytes *answers; /* as OP_render() made them, in the order of the parts */
    size_t count;
};

struct batch_functions {
    /* call: of the batch; part: routed, its `operation` the row that it asks for, NULL: none.
     * Of a transaction: checked and parsed, too; a refusal sets the problem of the batch's call. */
    enum error (*admit)(struct call *call, struct batch_parameters *parameters,
                        const struct call *part);
    struct bytes (*render)(struct arena *arena, const struct batch_parameters *parameters,
                           const struct batch_answer *answer);
    bool whole; /* all parts or none */
};

/* OP_check of a batch whose body is multipart/mixed. returns OK, E_MissingRequiredHeader */
enum error batch_check(struct call *call, struct batch_parameters *parameters);
/* The answers as the body of OP_answer's answer. */
void batch_answer_body(struct answer *a, const struct batch_parameters *parameters,
                       const struct text *body);

#define OPERATION_DECLARE_BATCH(op)                                                                \
    enum error op##_check(struct call *call, struct op##_parameters *parameters);                  \
    enum error op##_parse(struct call *call, struct op##_parameters *parameters);                  \
    enum error op##_admit(struct call *call, struct op##_parameters *parameters,                   \
                          const struct call *part);                                                \
    struct bytes op##_render(struct arena *arena, const struct op##_parameters *parameters,        \
                             const struct batch_answer *answer);                                   \
    void op##_answer(struct answer *a, const struct op##_parameters *parameters,                   \
                     const struct batch_result *result)

#endif
