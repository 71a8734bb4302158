/* How many bytes a share has: the lengths of its files, holes too, as its quota counts them and Get
 * Share Stats shows them. A length that changes changes one of a few sums, in the same commit: so they
 * are exact after a crash, and files of one share do not all meet in one record.
 *
 *   share space
 *     partition "u0".."u7"   INNER "b": bytes of the files whose ids fall to it
 *
 * A change that grows a file reads all of them. If the total is above half of the quota, they and the share are
 * guards of the commit, so that the quota holds. Below that they are only read: to pass the quota, commits of the
 * same moment would have to add the other half, or set a quota of less than half. decision: 301 */
#ifndef LAGRA_FILE_SHARE_USAGE_H
#define LAGRA_FILE_SHARE_USAGE_H

#include "file/file.h"

#define SHARE_USAGE_PARTS 8u

/* The length of a file, by its id; 0: one that is not there. */
struct length_change {
    uint64_t file;
    uint64_t was, is;
};
/* Counts the changes of all files whose length a decision changes, at most two. At most once in a decision.
 * share: as the decision read it, with share->at where a file grows.
 * returns  OK, E_ShareSizeLimitReached, as decision_fail_store() */
enum error share_usage_change(struct decision *d, const struct share *share,
                              const struct length_change *files, size_t count);

enum error share_usage_read(struct decision *d, struct guid space, uint64_t *ret_bytes);

/* ---- the sums themselves, for `lagra check` ---- */

/* The number of the sum that a file counts to: below SHARE_USAGE_PARTS. */
unsigned share_usage_part(uint64_t file);
struct partition share_usage_partition(struct arena *arena, struct guid space, unsigned part);
/* before: of that partition. returns STORE_OK, as small_record_read() */
enum store_result share_usage_sum(struct snapshot *before, struct arena *arena,
                                  uint64_t *ret_bytes);
void share_usage_put(struct changes *changes, struct arena *arena, uint64_t bytes);

#endif
