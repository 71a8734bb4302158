/* The Table service as the reference describes it: what a request must be answered, and what it
 * changes. It shares no code with src/. States are kept as versions, one for each commit
 * (model.h). */
#ifndef LAGRA_SIM_TABLE_MODEL_H
#define LAGRA_SIM_TABLE_MODEL_H

#include "request.h"

struct entity_version {
    struct entity_version *older;
    uint64_t since;       /* the commit that made it */
    uint64_t incarnation; /* of the table it is in */
    bool exists;
    unsigned values[TABLE_PROPERTIES];
    uint64_t etag;    /* ticks; 0: not known yet */
    uint64_t above;   /* an ETag that this one must be above */
    bool is_returned; /* made by a return to a saved state: of an older ETag than the one before */
};

struct table_version {
    struct table_version *older;
    uint64_t since;
    bool exists;
    uint64_t incarnation;
    unsigned policies[TABLE_POLICIES]; /* letters of each; 0: there is none */
};

struct table_expected {
    int status;
    const char *code; /* NULL: success */
    int part;         /* of a transaction, that refused it; -1: none */
    bool changes;
};

void table_model_begin(void);
bool table_exists(unsigned table, uint64_t commit);
const unsigned *table_policies(unsigned table, uint64_t commit);
/* NULL: there is none. Only `etag` may be changed. */
struct entity_version *table_entity_at(unsigned table, unsigned place, uint64_t commit);
/* The newest commit in (from, to] that changed what the ask is about; 0: none. */
uint64_t table_changed_before(const struct table_ask *ask, uint64_t from, uint64_t to);
/* What the ask is answered in the state right after the commit, when the table's policies were
 * looked at after `looked`, which may be before it. */
struct table_expected table_expect(const struct table_ask *ask, uint64_t commit, uint64_t looked);
/* Makes it the newest state. */
void table_apply(const struct table_ask *ask, uint64_t commit);
/* An answer tells it. NULL, or what is wrong with it. */
const char *table_fill(unsigned table, unsigned place, struct entity_version *version,
                       uint64_t etag);
/* Forgets what nobody can ask for any more. */
void table_prune(uint64_t oldest_commit);
/* A crash: what came after the commit did not happen. */
/* Returns the newest commit in (from, to] that created or deleted a table, or 0. */
uint64_t table_list_changed(unsigned table, uint64_t from, uint64_t to);
/* Returns the cell of the table, or 0 if it does not exist. */
unsigned table_cell_of(unsigned table);
/* Returns whether the newest table of the name is in the cell of the calling process (commits.h). */
bool table_is_here(unsigned table);
/* Returns whether it is there after a crash that leaves the commits up to `survivor`. */
bool table_is_here_at(unsigned table, uint64_t survivor);
void table_roll_back(uint64_t commit);
/* The commit returns to the state of an older one: of all tables, or of one. */
void table_return_to(uint64_t older, uint64_t commit, unsigned table);
/* An ETag that the entity had before the one that it has now; 0: not known. */
uint64_t table_old_etag(unsigned table, unsigned place);

/* Does the signature open the place? */
bool table_sas_opens(const struct table_sas *sas, unsigned place);
bool table_filter_holds(const struct table_query *query, unsigned place,
                        const struct entity_version *version);

#endif
