/* Inside script*.c only: what a request of the Blob service is drawn from. */
#ifndef LAGRA_SIM_SCRIPT_PRIVATE_H
#define LAGRA_SIM_SCRIPT_PRIVATE_H

#include "draws.h"
#include "world.h"

/* ---- the kind of a run ---- */

/* Runs in which snapshots share blocks, and go in any order. There may be as many snapshots more than LAYERS as clients ask for one at once (SNAPSHOTS_MAX); and

 * of many clients and changes at once a judge has very many states to think of. */
#define LAYERS         5u
#define FEW_CLIENTS    8u
/* The same, where all of them may keep one more. */
#define KEPT_SNAPSHOTS 6u

static inline bool is_layered(void)
{
    return world->plan.seed % 8 == 5 && world->plan.clients <= FEW_CLIENTS;
}

/* Of runs in which policies come and go beside those who use them. */
static inline bool is_of_policies(void)
{
    return world->plan.seed % 4 == 2 && world->plan.clients <= 2 * FEW_CLIENTS;
}

/* ---- kinds of operations ---- */

static inline bool is_of_service(enum op op)
{
    return op == OP_SET_SERVICE || op == OP_GET_SERVICE;
}

static inline bool is_listing_op(enum op op)
{
    return op == OP_LIST_BLOBS || op == OP_LIST_CONTAINERS;
}

/* ---- what the clients ask, or asked last, in this life: script_drawn.c ---- */

void script_note_drawn(unsigned client, const struct ask *ask);
bool script_sets_tier(unsigned container, unsigned blob);
bool script_copies(unsigned container, unsigned blob);
bool script_sets_policies(unsigned container);
bool script_rests_on_policy(unsigned container);

/* ---- bytes, and where they go: script_contents.c ---- */

uint32_t script_length(struct draws *draws);
/* Of Put Block and Append Block it has a byte. */
void script_content(struct draws *draws, struct ask *ask);
void script_append(struct draws *draws, struct ask *ask);
void script_block_list(struct draws *draws, struct ask *ask);
void script_pages(struct draws *draws, struct ask *ask);
void script_page_ranges(struct draws *draws, struct ask *ask);
void script_put_blob(struct draws *draws, struct ask *ask);
void script_properties(struct draws *draws, struct ask *ask);
void script_copy(struct draws *draws, struct ask *ask);

/* ---- on what terms: script_terms.c ---- */

struct stored_policy script_policy(struct draws *draws);
void script_signature(struct draws *draws, struct ask *ask);
void script_conditions(struct draws *draws, struct ask *ask);
/* Who may not, and what is out of range. */
void script_offence(struct draws *draws, struct ask *ask);

#endif
