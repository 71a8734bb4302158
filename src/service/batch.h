/* Batches of operations: a request whose body contains several independent operations (Blob Batch).
 *
 * The service has a row OP for the batch, with functions created by OPERATION_BATCH(OP):
 *
 *   OP_check(call, parameters)                   checks the request's headers
 *   OP_parse(call, parameters)                   splits the body into parts, each of them a request
 *   OP_admit(call, parameters, part)             checks that the batch may contain this part
 *   OP_render(arena, parameters, answer)         renders the response to a part
 *   OP_answer(answer, parameters, result)        combines the responses to all parts
 *
 * It also marks the rows that may be parts (struct operation, `listed`). The rest is generic
 * (request/batch.c). All parts are routed and admitted before any is executed. Then the parts are
 * authenticated, permitted, checked, decided and committed in turn, like separate requests. A part
 * that conflicts with another writer is decided again without the others. A part that is refused
 * gets its own error, and the others continue. Parts with different partitions share a commit
 * (COMMIT_PARTS_MAX); each is still decided only on its own partition, sees the changes of the
 * preceding parts there, and gets its own response. Finally the batch waits once until everything
 * that its parts have read and changed is durable. After a crash, each part has been executed
 * completely or not at all.
 *
 * Errors of OP_parse and OP_admit apply to the entire batch: nothing is executed, and OP_render
 * renders the error as the only part.
 *
 * Memory: the headers of the parts, about 4 KiB each, and their responses are retained until the
 * end. The memory of a part's decision is freed after its commit.
 *
 * An all-or-nothing batch in one partition (an entity group transaction) is created by
 * OPERATION_TRANSACTION(OP) (request/transaction.c). Its parts may have bodies, which are parsed
 * before the parts are admitted. The caller of the batch is also the caller of its parts. All parts
 * are decided in order on one snapshot, independently of each other; OP_admit ensures that no two
 * parts use the same record. Their changes go into one commit. After a conflict, all parts are
 * decided again. The first part that is refused causes the entire batch to be refused; its
 * response, rendered by OP_render, is then the only one, and answer.part is its index. Errors of
 * OP_parse are reported as errors of the request. */
#ifndef LAGRA_SERVICE_BATCH_H
#define LAGRA_SERVICE_BATCH_H

#include "service/call.h"

struct batch_part {
    struct bytes id;        /* id for the response; ptr NULL if it has none */
    struct request request; /* method, target, headers; no body */
    struct bytes text;      /* the request as received; not set in transactions */
    struct bytes body;      /* for parts of transactions; ptr NULL if none */
};

/* First member of the parameters of a batch. */
struct batch_parameters {
    struct parameters base;
    struct bytes content_type; /* of the request; set by batch_check() */
    struct bytes boundary;     /* of the response; set by batch_check() */
    struct batch_part *parts;  /* set by OP_parse */
    size_t count;
};

/* A response to render. */
struct batch_answer {
    struct bytes id;
    const struct call *part;         /* the part; NULL for the complete batch */
    const struct response *response; /* complete, with its body in memory; valid during the call */
    struct bytes reason;             /* for the status line */
};

struct batch_result {
    struct result base;
    const struct bytes *answers; /* results of OP_render(), in the order of the parts */
    size_t count;
};

struct batch_functions {
    /* call: the batch; part: routed, with `operation` set to its row, or NULL if none exists. In
     * a transaction the part is also checked and parsed, and a refusal sets the problem of the
     * batch's call. */
    enum error (*admit)(struct call *call, struct batch_parameters *parameters,
                        const struct call *part);
    struct bytes (*render)(struct arena *arena, const struct batch_parameters *parameters,
                           const struct batch_answer *answer);
    bool whole; /* all or nothing */
};

/* OP_check of a batch with a multipart/mixed body. Returns OK, E_MissingRequiredHeader. */
enum error batch_check(struct call *call, struct batch_parameters *parameters);
/* Sets the body of the batch's response to the responses of its parts. */
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
