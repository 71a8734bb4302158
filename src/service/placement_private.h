/* Internal to service/placement*.c: records of placements and moves that several of these files
 * write. */
#ifndef LAGRA_SERVICE_PLACEMENT_PRIVATE_H
#define LAGRA_SERVICE_PLACEMENT_PRIVATE_H

#include "service/placement_move.h"

extern const struct bytes placement_own_key; /* key "o" of placement.h */
extern const struct bytes move_sealed_key, move_cancelled_key, move_incoming_key;

/* Writes the row of a name and counts it. Called in the root. */
void placement_write(struct changes *changes, struct arena *arena, struct placement row);
/* Records that every claim on the name by incarnations up to this one has been released, unless it
 * is already released up to a later one. */
enum store_result placement_write_released(struct decision *d, uint64_t incarnation);

/* Determines whether the partition has anything that a list could show: a container, snapshots of a
 * share, or a retained deleted container. */
enum store_result placement_is_used(struct read_view *of, bool *ret_is_used);
/* Sends a task's request to the owner of another cell. Does not wait for a new owner, because that
 * would delay other tasks. Returns the response's status, or 0 on failure. */
int placement_ask(const struct endpoint *endpoint, uint32_t cell, const char *path,
                  struct bytes body, struct arena *arena);

/* Reads the record "v" of a move; name and account are not stored in it. Returns STORE_NOT_FOUND
 * if the name is not sealed. */
enum store_result move_read_sealed(struct read_view *of, struct arena *arena,
                                   struct move *ret_move);
void move_count_finished(struct changes *changes);
void move_count_switch(struct changes *changes);

#endif
