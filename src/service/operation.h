/* The operation table's row, and the one reader of it.
 *
 * A service is a table of rows; everything generic (routing, permission, which conditions are
 * accepted, lease rule, ETag, body) is a column. What is particular to an operation OP are some
 * functions over types of its own (service/decision.h):
 *
 *   OP_check(call, parameters)            the head of the request, before its body, into parameters
 *   OP_gather(gathering, parameters)      gets what the request names elsewhere; may wait; few have
 *                                         it
 *   OP_parse(call, parameters)            the body, once, when all of it is there (XML..); few have
 *                                         it
 *   OP_decide(decision, parameters, result)   pure; again on a newer state if another writer was
 *                                             faster
 *   OP_answer(answer, parameters, result)     the result as headers and body, and a status that is
 *                                             not the row's first; the ETag is added by its column
 *
 * An operation that is a batch of others has others in the place of decide: service/batch.h.
 *
 * OPERATION(OP), in the file with the table, makes struct operation_functions OP_functions of them:
 * small adapters between the service's function types and OP's own. So a row cannot hold functions
 * that do not fit together; the compiler says so. Check, parse and answer lie in the folder rest/
 * of their room, apart from what decides.
 * Docs, reply check and tests read the table. */
#ifndef LAGRA_SERVICE_OPERATION_H
#define LAGRA_SERVICE_OPERATION_H

#include "service/answer.h"
#include "service/deferred_tasks.h"
#include "service/batch.h"
#include "service/restore.h"
#include "service/source_facts.h"
#include "service/usage.h"

/* A row of every level, and one of every comp and restype. */
#define LEVEL_ANY    UINT32_MAX
#define SELECTOR_ANY "*"

/* What x-ms-lease-id means for the operation. */
enum lease_rule {
    LEASE_RULE_IGNORED,
    LEASE_RULE_OPTIONAL,    /* checked if an id is sent */
    LEASE_RULE_WHEN_LEASED, /* an id is needed while leased */
    LEASE_RULE_ACTION,      /* the operation is the lease's own; its decide looks */
};

enum etag_rule {
    ETAG_NONE, /* not in the answer */
    ETAG_RETURNED,
    ETAG_CHANGED, /* returned, and newer than before */
};

enum body_rule {
    BODY_REFUSED, /* must be empty. decision: 875 */
    BODY_IGNORED, /* read and thrown away */
    BODY_MEMORY,  /* collected, at most body_max bytes */
    BODY_STAGED,  /* small ones in memory, others streamed to pieces; at most body_max */
};

/* Loads what the request is about: fills d->subject and d->lease. A missing container is the error
 * here; a missing blob is subject.exists = false, or the error when the operation needs one.
 * Pure. */
typedef enum error subject_fn(struct decision *d);

struct gathering;

/* Functions that fit together: made by OPERATION(), never by hand. */
struct operation_functions {
    size_t parameters_size, result_size;
    enum error (*check)(struct call *call, struct parameters *parameters);
    /* NULL: nothing is gathered */
    enum error (*gather)(struct gathering *g, struct parameters *parameters);
    enum error (*parse)(struct call *call, struct parameters *parameters); /* NULL: no body */
    enum error (*decide)(struct decision *d, const struct parameters *parameters,
                         struct result *result);
    void (*answer)(struct answer *a, const struct parameters *parameters,
                   const struct result *result);
    const struct batch_functions *batch; /* NULL: one operation; else it has no decide */
    /* Of a list over all cells of a cluster, which is merged (other_cells.h): its path below the account. NULL: it is not. */
    const char *merged_path;
};

#define OPERATION_CHECK_(op, as)                                                                   \
    static enum error op##_check_any(struct call *call, struct parameters *parameters)             \
    {                                                                                              \
        return op##_check(call, (struct as##_parameters *)(void *)parameters);                     \
    }
#define OPERATION_GATHER_(op, as)                                                                  \
    static enum error op##_gather_any(struct gathering *g, struct parameters *parameters)          \
    {                                                                                              \
        return op##_gather(g, (struct as##_parameters *)(void *)parameters);                       \
    }
#define OPERATION_PARSE_(op)                                                                       \
    static enum error op##_parse_any(struct call *call, struct parameters *parameters)             \
    {                                                                                              \
        return op##_parse(call, (struct op##_parameters *)(void *)parameters);                     \
    }
#define OPERATION_ADAPTERS_HEAD_(op)                                                               \
    _Static_assert(offsetof(struct op##_parameters, base) == 0, "begins with its base");           \
    OPERATION_CHECK_(op, op)
#define OPERATION_ADAPTERS_(op)                                                                    \
    OPERATION_ADAPTERS_HEAD_(op)                                                                   \
    _Static_assert(offsetof(struct op##_result, base) == 0, "begins with its base");               \
    static enum error op##_decide_any(struct decision *d, const struct parameters *parameters,     \
                                      struct result *result)                                       \
    {                                                                                              \
        return op##_decide(d, (const struct op##_parameters *)(const void *)parameters,            \
                           (struct op##_result *)(void *)result);                                  \
    }                                                                                              \
    static void op##_answer_any(struct answer *a, const struct parameters *parameters,             \
                                const struct result *result)                                       \
    {                                                                                              \
        op##_answer(a, (const struct op##_parameters *)(const void *)parameters,                   \
                    (const struct op##_result *)(const void *)result);                             \
    }
#define OPERATION_FUNCTIONS_(op, as, gather_, parse_)                                              \
    OPERATION_MERGED_FUNCTIONS_(op, as, gather_, parse_, NULL)
#define OPERATION_MERGED_FUNCTIONS_(op, as, gather_, parse_, merged_path_)                         \
    static const struct operation_functions op##_functions = {                                     \
        .parameters_size = sizeof(struct as##_parameters),                                         \
        .result_size = sizeof(struct as##_result),                                                 \
        .check = op##_check_any,                                                                   \
        .gather = gather_,                                                                         \
        .parse = parse_,                                                                           \
        .decide = as##_decide_any,                                                                 \
        .answer = as##_answer_any,                                                                 \
        .merged_path = merged_path_,                                                               \
    }
/* An operation whose request has no body, or one that nobody parses. */
#define OPERATION(op)                                                                              \
    OPERATION_ADAPTERS_(op)                                                                        \
    OPERATION_FUNCTIONS_(op, op, NULL, NULL)
/* A list over all cells: of an account, with this path below it. */
#define OPERATION_MERGED(op, path)                                                                 \
    OPERATION_ADAPTERS_(op)                                                                        \
    OPERATION_MERGED_FUNCTIONS_(op, op, NULL, NULL, path)
/* One with OP_parse. */
#define OPERATION_WITH_PARSE(op)                                                                   \
    OPERATION_ADAPTERS_(op)                                                                        \
    OPERATION_PARSE_(op)                                                                           \
    OPERATION_FUNCTIONS_(op, op, NULL, op##_parse_any)
/* One with OP_gather. */
#define OPERATION_WITH_GATHER(op)                                                                  \
    OPERATION_ADAPTERS_(op)                                                                        \
    OPERATION_GATHER_(op, op)                                                                      \
    OPERATION_FUNCTIONS_(op, op, op##_gather_any, NULL)
/* One with OP_check and OP_gather alone: behind OPERATION(as). */
#define OPERATION_GATHERED(op, as)                                                                 \
    OPERATION_CHECK_(op, as)                                                                       \
    OPERATION_GATHER_(op, as)                                                                      \
    OPERATION_FUNCTIONS_(op, as, op##_gather_any, NULL)
/* A batch of operations: OP_check, OP_parse, OP_admit, OP_render, OP_answer (service/batch.h). */
#define OPERATION_BATCH(op)       OPERATION_BATCH_(op, false)
/* One that is done whole or not at all. */
#define OPERATION_TRANSACTION(op) OPERATION_BATCH_(op, true)
#define OPERATION_BATCH_(op, whole_)                                                               \
    OPERATION_ADAPTERS_HEAD_(op)                                                                   \
    OPERATION_PARSE_(op)                                                                           \
    static enum error op##_admit_any(struct call *call, struct batch_parameters *parameters,       \
                                     const struct call *part)                                      \
    {                                                                                              \
        return op##_admit(call, (struct op##_parameters *)(void *)parameters, part);               \
    }                                                                                              \
    static struct bytes op##_render_any(struct arena *arena,                                       \
                                        const struct batch_parameters *parameters,                 \
                                        const struct batch_answer *answer)                         \
    {                                                                                              \
        return op##_render(arena, (const struct op##_parameters *)(const void *)parameters,        \
                           answer);                                                                \
    }                                                                                              \
    static void op##_answer_any(struct answer *a, const struct parameters *parameters,             \
                                const struct result *result)                                       \
    {                                                                                              \
        op##_answer(a, (const struct op##_parameters *)(const void *)parameters,                   \
                    (const struct batch_result *)(const void *)result);                            \
    }                                                                                              \
    static const struct batch_functions op##_batch = { .admit = op##_admit_any,                    \
                                                       .render = op##_render_any,                  \
                                                       .whole = whole_ };                          \
    static const struct operation_functions op##_functions = {                                     \
        .parameters_size = sizeof(struct op##_parameters),                                         \
        .result_size = sizeof(struct batch_result),                                                \
        .check = op##_check_any,                                                                   \
        .parse = op##_parse_any,                                                                   \
        .answer = op##_answer_any,                                                                 \
        .batch = &op##_batch,                                                                      \
    }

struct operation {
    const char *name; /* as the REST reference's page has it */
    unsigned methods; /* METHOD_ bits */
    uint32_t level;   /* of the resource, or LEVEL_ANY */
    /* "comp=metadata&restype=container": exactly these comp/restype; "": none; or SELECTOR_ANY */
    const char *selector;
    /* The header that picks the row: "x-ms-blob-type=BlockBlob"; "x-ms-copy-source": with any
     * value; several of them with '&' between; "?peekonly=true": the same of a query parameter;
     * NULL: none */
    const char *variant;
    struct rights rights;
    const char *since;   /* earliest x-ms-version */
    unsigned conditions; /* accepted IF_ bits */
    enum condition_class condition_class;
    enum lease_rule lease;
    enum etag_rule etag;
    enum body_rule body;
    uint64_t body_max;
    int ok[2];           /* success statuses; 0 ends; none: its decide refuses all */
    unsigned passes;     /* for struct service, enter: a number of the service's; 0: nothing */
    bool adds_container; /* makes a container, queue, table or share: an account may have so many */
    bool listed;         /* may be a part of its service's batch of operations */
    const char
        *logged_as; /* by Storage Analytics, where that is not its name without the spaces; NULL */
    bool types_304; /* its 304 has a Content-Type before 2020-10-02. decision: 861 */
    subject_fn *subject; /* may be NULL: no lease, no conditions */
    const struct operation_functions
        *functions; /* NULL: known, not built yet: 501 NotImplemented */
};

/* One service: its table and what differs between services. */
struct service {
    const char *name; /* "blob" */
    const struct operation *operations;
    size_t operation_count;
    const struct task_handler *task_handlers; /* of the kinds of deferred tasks that it adds */
    size_t task_handler_count;
    unsigned sections; /* bits of properties/service_properties.h: what only some services have */
    /* The parameter whose value may have control characters: no signature is over it. NULL: none. */
    const char *unsigned_parameter;
    bool reads_are_not_cached; /* a GET or HEAD that succeeds says so, as recorded */
    /* Where a resource of each level is found, for print: "/container"; by resource.level. */
    const char *const *levels;
    enum etag_form etags; /* that it gives out */
    /* The headers of an ETag. NULL: no row has one. */
    void (*answer_etag)(struct answer *a, struct etag etag, instant modified);
    /* The account of a request that is known to name it neither in its host nor in its path, but elsewhere; ptr NULL: of any
     * other. NULL in a service without such ones. */
    struct bytes (*account_elsewhere)(const struct call *call);
    size_t resource_size; /* of its own type that begins with struct resource */
    /* The same of struct subject_state: of a service with transactions, whose locate()
     * fills one; plain values, copied from part to part. */
    size_t state_size;
    /* What a request names.
     *
     * path         raw: what follows the account's name and a '/'
     * ret_resource resource_size zeroed bytes, to be filled
     * returns      OK, E_InvalidUri, E_InvalidQueryParameterValue
     * NULL in a service that is not built yet, as all that follows */
    enum error (*read_resource)(struct call *call, struct bytes path,
                                struct resource *ret_resource);
    /* The names in it as a SAS signs them: ptr NULL: none. */
    void (*names)(const struct resource *resource, struct bytes *ret_container,
                  struct bytes *ret_object);
    /* Are the names well formed?
     * returns OK, E_InvalidResourceName, E_InvalidUri, E_OutOfRangeInput */
    enum error (*check_names)(const struct resource *resource);
    /* The partition that the input's resource lies in. May read other partitions (call
     * decision_saw()).
     * returns OK, or the error of what is missing above it (ContainerNotFound) */
    enum error (*locate)(struct decision *d, struct partition *ret_partition);
    /* What of the state that locate() and subject() found bears on who may: public access and
     * stored policies. ret_facts is zeroed, but for `known` and `exists`. Pure. NULL: nothing does.
     * returns  OK, or as decision_fail_store(), or what refuses it whatever else is permitted */
    enum error (*permit_facts)(struct decision *d, struct permit_facts *ret_facts);
    /* Resources as sources of copies; NULL: there are none. */
    const struct source_functions *source;
    /* Behind operation_check() and before decide, and behind a decide that succeeded: what the service's
     * operations have in common beside these. Pure; return as decide functions. NULL: nothing. */
    enum error (*enter)(struct decision *d);
    enum error (*leave)(struct decision *d);
    const struct container_type *container;  /* properties/metadata_acl.h */
    const struct restore_functions *restore; /* service/restore.h */
    const struct usage_functions
        *usage; /* what is in it, for operators: service/usage.h. NULL: nothing */
    /* The answer to an error in the form of the service, with all its headers. False: it is XML, as
     * in all services. NULL: XML always. */
    bool (*answer_error)(struct answer *a, enum error e, const struct problem *problem);
};

/* Subject, permission, lease and conditions: what may be refused before a body is read, and is
 * checked again with decide. Pure. */
enum error operation_check(struct decision *d);
/* What locate() failed with, as it is answered: a caller without the right does not learn what is
 * missing. */
enum error operation_missing(struct decision *d, enum error e);
/* operation_check(), then what OP_parse refused, then decide; asserts what the row promises. Pure:
 * may be run again on a newer state. */
enum error operation_decide(struct decision *d, const struct parameters *parameters,
                            struct result *result);
/* Renders a result; asserts what the row promises. */
void operation_answer(struct answer *a, const struct parameters *parameters,
                      const struct result *result);
/* Row for method, level and selectors; NULL: *ret_error says why (405 UnsupportedHttpVerb, 400
 * InvalidQueryParameterValue..). */
const struct operation *operation_find(const struct service *service, const struct call *call,
                                       enum error *ret_error);

#endif
