/* Every answer is held against the model, at the request's place in the order of commits: a
 * commit's place is known, since the record engine's write is seen; what changed nothing must fit a
 * state that there was while it was under way. After a crash the state must be one that there was:
 * with all that was acknowledged or shown, and with a beginning of the rest. */
#ifndef LAGRA_SIM_JUDGE_H
#define LAGRA_SIM_JUDGE_H

#include "request.h"

#define SLOTS_MAX CLIENTS_MAX

/* This is the judge of blobs; those of other services: services.h. */
void judge_begin_life(void);
/* Around request_send(), by the client. */
void judge_asked(unsigned slot, const struct ask *ask);
/* May an answer say that the store cannot now? */
void judge_answered(unsigned slot, const struct reply *answer, bool may_fail);
void judge_committed(unsigned slot);
bool judge_has_committed(unsigned slot);
/* Of the batch that the slot asks. */
unsigned judge_parts(unsigned slot);
/* The next commit of the slot's batch is of these of its parts. */
void judge_commits_parts(unsigned slot, const unsigned *numbers, unsigned count);
/* Which that are; how many. */
unsigned judge_committing(unsigned slot, unsigned ret_numbers[PARTS_MAX]);
/* All of its parts are done. */
void judge_list_ends(unsigned slot);
/* Its parts for other cells are executed, and some may be decided again. */
void judge_list_goes_on(unsigned slot);

/* After a start: reads everything, finds the state that the crash left, goes on from it.
 * False: the store has failed meanwhile. */
bool judge_take_stock(struct server *server, bool may_fail);

/* Of any service: the answer says that the store cannot now. */
bool judge_says_cannot(const struct reply *answer);
/* Of any service, after a start: damage was found, so that the store cannot answer. */
bool judge_reports_damage(const struct reply *answer);
/* Of any service, in verbose runs: prints a commit, or an answer, of a client. */
void judge_say_commit(const struct ask *ask, uint64_t commit, unsigned slot);
void judge_say_answer(const struct ask *ask, const struct reply *answer, unsigned slot);
/* Is it refused because the clock was set since it was signed? wall_steps: as of then. */
bool judge_clock_may_refuse(uint64_t wall_steps, const struct reply *answer);
/* Of any service: asks by the last slot again and again until the store can. may_fail: the first
 * answer may be that it cannot. False: it has failed meanwhile; there is no answer. */
bool judge_ask_until_told(struct server *server, const struct ask *ask, bool may_fail,
                          struct reply *ret_answer);

/* For scripts: what a client may know. */
/* Was the container deleted so recently that its name may not be in another cell yet? */
bool judge_rests(unsigned container);
uint64_t judge_known_etag(unsigned container, unsigned blob);
unsigned judge_known_snapshots(unsigned container, unsigned blob);
/* Bits of the blocks, committed or not, that a list may name. */
unsigned judge_known_blocks(unsigned container, unsigned blob);
/* Last-Modified of the ask's blob or container in Unix seconds; 0: not known. */
int64_t judge_known_date(const struct ask *ask);
/* The page behind the last one that the client was shown; `max` is 0 when there is none. */
const struct page_ask *judge_next_page(unsigned client, enum op op);
/* The one of that number, or the last, which may be a version; empty: there is none. */
const char *judge_known_snapshot(unsigned container, unsigned blob, unsigned number);
/* Is the state of that time a version? */
bool judge_is_version(unsigned container, unsigned blob, const char *time);
/* The id of the current version; empty: there is none. */
const char *judge_current_version(unsigned container, unsigned blob);
/* Draws the version of a deleted container of that name which is retained. Returns false if there is none. */
bool judge_draw_deleted(unsigned container, unsigned random, char to[DELETED_SIZE]);
/* Returns the number of deleted containers of that name. */
unsigned judge_known_deleted(unsigned container);
/* The last one that was deleted; empty: none was. */
const char *judge_gone_snapshot(unsigned container, unsigned blob);
/* Puts a blob in the ask, drawn, that exists and is of the kind, with its lease; else changes
 * nothing. */
void judge_aim(struct ask *ask, enum blob_kind kind, unsigned random);
/* Is it archived, and on its way back? */
bool judge_comes_back(unsigned container, unsigned blob);
/* The same of one that a copy to is pending, with its id. */
void judge_aim_pending(struct ask *ask, unsigned random);
uint32_t judge_known_length(unsigned container, unsigned blob);

#endif
