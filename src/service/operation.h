/* Operation table: its rows and the functions that use them.
 *
 * A service is a table of rows. Everything generic is a column: routing, permission, accepted
 * conditions, lease rule, ETag, body. Each operation OP also has functions with its own types
 * (service/decision.h):
 *
 *   OP_check(call, parameters)                checks the headers and fills the parameters
 *   OP_gather(gathering, parameters)          optional; fetches data that the request refers to;
 *                                             may block
 *   OP_parse(call, parameters)                optional; parses the complete body (for example XML)
 *   OP_decide(decision, parameters, result)   pure; runs again on a newer state after a conflict
 *   OP_answer(answer, parameters, result)     renders the result as headers and body, with the
 *                                             status if it is not the row's first; the ETag is
 *                                             added according to its column
 *
 * A batch of operations has other functions instead of decide; see service/batch.h.
 *
 * OPERATION(OP), in the file with the table, defines struct operation_functions OP_functions. Small
 * adapters convert between the service's function types and OP's own, so the compiler ensures that
 * the functions of a row match. Check, parse and answer functions are in the rest/ folder of their
 * module, separate from the decide functions. The table is also used by the documentation, the
 * reply check and tests. */
#ifndef LAGRA_SERVICE_OPERATION_H
#define LAGRA_SERVICE_OPERATION_H

#include "service/answer.h"
#include "service/deferred_tasks.h"
#include "service/batch.h"
#include "service/restore.h"
#include "service/source_facts.h"
#include "service/usage.h"

/* Rows for all levels, and for any comp and restype. */
#define LEVEL_ANY    UINT32_MAX
#define SELECTOR_ANY "*"

/* Meaning of x-ms-lease-id for the operation. */
enum lease_rule {
    LEASE_RULE_IGNORED,
    LEASE_RULE_OPTIONAL,    /* checked if an id is sent */
    LEASE_RULE_WHEN_LEASED, /* an id is required while there is a lease */
    LEASE_RULE_ACTION,      /* lease operation; its decide checks the id */
};

enum etag_rule {
    ETAG_NONE, /* not in the response */
    ETAG_RETURNED,
    ETAG_CHANGED, /* returned, and newer than before */
};

enum body_rule {
    BODY_REFUSED, /* must be empty. decision: 875 */
    BODY_IGNORED, /* read and discarded */
    BODY_MEMORY,  /* collected in memory, at most body_max bytes */
    BODY_STAGED,  /* in memory if small, otherwise streamed to pieces; at most body_max bytes */
};

/* Loads the subject of the request into d->subject and d->lease. Fails if the container is missing.
 * If the blob is missing, sets subject.exists to false, or fails if the operation needs it.
 * Pure. */
typedef enum error subject_fn(struct decision *d);

struct gathering;

/* Matching functions of an operation. Always defined by OPERATION(). */
struct operation_functions {
    size_t parameters_size, result_size;
    enum error (*check)(struct call *call, struct parameters *parameters);
    /* NULL if nothing is gathered */
    enum error (*gather)(struct gathering *g, struct parameters *parameters);
    /* NULL if the body is not parsed */
    enum error (*parse)(struct call *call, struct parameters *parameters);
    enum error (*decide)(struct decision *d, const struct parameters *parameters,
                         struct result *result);
    void (*answer)(struct answer *a, const struct parameters *parameters,
                   const struct result *result);
    const struct batch_functions *batch; /* NULL for a single operation; a batch has no decide */
    /* For a list that is merged over all cells of a cluster (other_cells.h), its path below the
     * account; else NULL. */
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
/* An operation whose body is empty or not parsed. */
#define OPERATION(op)                                                                              \
    OPERATION_ADAPTERS_(op)                                                                        \
    OPERATION_FUNCTIONS_(op, op, NULL, NULL)
/* A list of an account, merged over all cells, with this path below the account. */
#define OPERATION_MERGED(op, path)                                                                 \
    OPERATION_ADAPTERS_(op)                                                                        \
    OPERATION_MERGED_FUNCTIONS_(op, op, NULL, NULL, path)
/* An operation with OP_parse. */
#define OPERATION_WITH_PARSE(op)                                                                   \
    OPERATION_ADAPTERS_(op)                                                                        \
    OPERATION_PARSE_(op)                                                                           \
    OPERATION_FUNCTIONS_(op, op, NULL, op##_parse_any)
/* An operation with OP_gather. */
#define OPERATION_WITH_GATHER(op)                                                                  \
    OPERATION_ADAPTERS_(op)                                                                        \
    OPERATION_GATHER_(op, op)                                                                      \
    OPERATION_FUNCTIONS_(op, op, op##_gather_any, NULL)
/* An operation with only OP_check and OP_gather of its own. Must follow OPERATION(as). */
#define OPERATION_GATHERED(op, as)                                                                 \
    OPERATION_CHECK_(op, as)                                                                       \
    OPERATION_GATHER_(op, as)                                                                      \
    OPERATION_FUNCTIONS_(op, as, op##_gather_any, NULL)
/* An operation that is decided as `as`, with OP_check and OP_answer of its own. */
#define OPERATION_AS(op, as) OPERATION_MERGED_AS(op, as, NULL)
#define OPERATION_MERGED_AS(op, as, merged_path_)                                                  \
    OPERATION_CHECK_(op, as)                                                                       \
    static enum error op##_decide_any(struct decision *d, const struct parameters *parameters,     \
                                      struct result *result)                                       \
    {                                                                                              \
        return as##_decide(d, (const struct as##_parameters *)(const void *)parameters,            \
                           (struct as##_result *)(void *)result);                                  \
    }                                                                                              \
    static void op##_answer_any(struct answer *a, const struct parameters *parameters,             \
                                const struct result *result)                                       \
    {                                                                                              \
        op##_answer(a, (const struct as##_parameters *)(const void *)parameters,                   \
                    (const struct as##_result *)(const void *)result);                             \
    }                                                                                              \
    static const struct operation_functions op##_functions = {                                     \
        .parameters_size = sizeof(struct as##_parameters),                                         \
        .result_size = sizeof(struct as##_result),                                                 \
        .check = op##_check_any,                                                                   \
        .decide = op##_decide_any,                                                                 \
        .answer = op##_answer_any,                                                                 \
        .merged_path = merged_path_,                                                               \
    }
/* A batch of operations: OP_check, OP_parse, OP_admit, OP_render, OP_answer (service/batch.h). */
#define OPERATION_BATCH(op)       OPERATION_BATCH_(op, false)
/* An all-or-nothing batch. */
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
    const char *name; /* name of the page in the REST reference */
    unsigned methods; /* METHOD_ bits */
    uint32_t level;   /* level of the resource, or LEVEL_ANY */
    /* required comp and restype: "comp=metadata&restype=container"; "" if none; or SELECTOR_ANY */
    const char *selector;
    /* Header that selects the row: "x-ms-blob-type=BlockBlob"; "x-ms-copy-source" with any value;
     * several joined by '&'; "?peekonly=true" for a query parameter; NULL if none */
    const char *variant;
    struct rights rights;
    const char *since;   /* earliest x-ms-version */
    unsigned conditions; /* accepted conditional headers (IF_ bits) */
    enum condition_class condition_class;
    enum lease_rule lease;
    enum etag_rule etag;
    enum body_rule body;
    uint64_t body_max;
    int ok[2];       /* success statuses, ended by 0; if empty, decide refuses all requests */
    unsigned passes; /* value defined by the service for its enter(); 0 if none */
    /* creates a container, queue, table or share, which counts towards the account's limit */
    bool adds_container;
    bool listed; /* may be part of a batch */
    /* name in Storage Analytics logs; NULL for the operation's name without spaces */
    const char *logged_as;
    bool types_304; /* its 304 responses have a Content-Type before 2020-10-02. decision: 861 */
    subject_fn *subject;                         /* NULL if there are no lease and no conditions */
    const struct operation_functions *functions; /* NULL if not implemented: 501 NotImplemented */
};

/* A service: its operation table and the other differences between services. */
struct service {
    const char *name; /* "blob" */
    /* Name of the service whose data it serves, with the same accounts, permissions and tasks, in
     * another protocol. NULL for data of its own. */
    const char *data_of;
    const struct operation *operations;
    size_t operation_count;
    /* Operations that only the operator can request (input.by_operator) and clients cannot find: in
     * Azure, they belong to the management API. May be NULL. */
    const struct operation *operator_operations;
    size_t operator_operation_count;
    const struct task_handler *task_handlers; /* for its kinds of deferred tasks */
    size_t task_handler_count;
    /* bits of properties/service_properties.h, for features that only some services have */
    unsigned sections;
    /* Parameter whose value may contain control characters because signatures do not cover it. NULL
     * if none. */
    const char *unsigned_parameter;
    /* responses to successful GETs and HEADs forbid caching, as in the real service */
    bool reads_are_not_cached;
    /* Path of a resource of each level, for display: "/container"; indexed by resource.level. */
    const char *const *levels;
    enum etag_form etags; /* format of the ETags it returns */
    /* Adds the ETag headers. NULL if no row has an ETag. */
    void (*answer_etag)(struct answer *a, struct etag etag, instant modified);
    /* Returns the account of a request that has it neither in the host nor in the path; ptr NULL
     * for other requests. NULL if the service has no such requests. */
    struct bytes (*account_elsewhere)(const struct call *call);
    size_t resource_size; /* size of its type derived from struct resource */
    /* Size of its type derived from struct subject_state, for services with transactions, whose
     * locate() fills one. It contains plain values and is copied between parts. */
    size_t state_size;
    /* Reads the names in a request.
     *
     * path         raw path after the account's name and a '/'
     * ret_resource resource_size zeroed bytes, to be filled
     * returns      OK, E_InvalidUri, E_InvalidQueryParameterValue
     * This and all following members are NULL if the service is not implemented. */
    enum error (*read_resource)(struct call *call, struct bytes path,
                                struct resource *ret_resource);
    /* Returns the names in the form that a SAS signs; ptr NULL if none. */
    void (*names)(const struct resource *resource, struct bytes *ret_container,
                  struct bytes *ret_object);
    /* Checks that the names are well formed.
     * Returns OK, E_InvalidResourceName, E_InvalidUri, E_OutOfRangeName. */
    enum error (*check_names)(const struct resource *resource);
    /* Finds the partition of the input's resource. May read other partitions, and then calls
     * decision_saw().
     * Returns OK, or the error for a missing parent (ContainerNotFound). */
    enum error (*locate)(struct decision *d, struct partition *ret_partition);
    /* Finds facts for the permission check in the state found by locate() and subject(): public
     * access and stored policies. ret_facts is zeroed except for `known` and `exists`. Pure. NULL
     * if none exist.
     * Returns  OK, like decision_fail_store(), or an error that overrides other permissions. */
    enum error (*permit_facts)(struct decision *d, struct permit_facts *ret_facts);
    /* the facts may contain results of ACL checks, for rows with `passes` */
    bool has_access_control;
    /* Functions for resources as copy sources. NULL if the service has no copy sources. */
    const struct source_functions *source;
    /* Common work of the service's operations: enter() runs between operation_check() and decide,
     * leave() after a successful decide. Pure; return like decide functions. NULL if none. */
    enum error (*enter)(struct decision *d);
    enum error (*leave)(struct decision *d);
    const struct container_type *container;  /* properties/metadata_acl.h */
    const struct restore_functions *restore; /* service/restore.h */
    const struct usage_functions
        *usage; /* usage for operators; service/usage.h. NULL if not counted */
    const struct part_functions
        *parts; /* service/space_parts.h. NULL if each container has a space of its own */
    /* Returns true for a request in the protocol of the service that has the data, which then
     * serves it. NULL if data_of is NULL. */
    bool (*is_for_data_of)(const struct request *request);
    /* Returns the service's own code for an error of the service whose data it serves. NULL if the
     * codes are the same. */
    enum error (*error_of)(enum error e);
    /* Renders an error in the service's own format, with all its headers. Returns false for the XML
     * format common to all services. NULL if errors are always XML. */
    bool (*answer_error)(struct answer *a, enum error e, const struct problem *problem);
};

/* Returns the name of the service that has the data. */
static inline const char *service_data_name(const struct service *service)
{
    return service->data_of ? service->data_of : service->name;
}

/* Checks subject, permission, lease and conditions. Used to refuse requests before the body is
 * read, and again with decide. Pure. */
enum error operation_check(struct decision *d);
/* Returns the response error for an error of locate(). A caller without the right does not learn
 * what is missing. */
enum error operation_missing(struct decision *d, enum error e);
/* Runs operation_check(), reports the error of OP_parse, then decides. Asserts the rules of the
 * row. Pure: may run again on a newer state. */
enum error operation_decide(struct decision *d, const struct parameters *parameters,
                            struct result *result);
/* Renders a result. Asserts the rules of the row. */
void operation_answer(struct answer *a, const struct parameters *parameters,
                      const struct result *result);
/* Returns the row for method, level and selectors. If it returns NULL, *ret_error is the reason
 * (405 UnsupportedHttpVerb, 400 InvalidQueryParameterValue etc.). */
const struct operation *operation_find(const struct service *service, const struct call *call,
                                       enum error *ret_error);

#endif
