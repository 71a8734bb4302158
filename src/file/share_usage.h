/* Bytes used by a share: the sum of the lengths of its files, including holes. The quota limits
 * this sum, and Get Share Stats returns it. A change of a length updates one of several counters in
 * the same commit, so the counters are exact after a crash, and changes to one share do not all
 * contend for one record.
 *
 *   share space
 *     partition "u0".."u7"   INNER "b": bytes of the files that this counter counts, by id
 *
 * A change that grows a file reads all counters. If the total exceeds half of the quota, the
 * counters and the share become guards of the commit, so that the quota cannot be exceeded. Below
 * that they are only read, because concurrent commits would have to add the other half of the
 * quota, or lower the quota by more than half, to exceed it. decision: 301 */
#ifndef LAGRA_FILE_SHARE_USAGE_H
#define LAGRA_FILE_SHARE_USAGE_H

#include "file/file.h"

#define SHARE_USAGE_PARTS 8u

/* Change of a file's length, by file id; 0 if it does not exist. */
struct length_change {
    uint64_t file;
    uint64_t was, is;
};
/* Counts the length changes of at most two files in a decision. Call at most once per decision.
 * share: as read by the decision, with share->at if a file grows
 * returns OK, E_ShareSizeLimitReached, as decision_fail_store() */
enum error share_usage_change(struct decision *d, const struct share *share,
                              const struct length_change *files, size_t count);

enum error share_usage_read(struct decision *d, struct guid space, uint64_t *ret_bytes);

/* ---- the counters, for `lagra check` ---- */

/* Returns the number of a file's counter, below SHARE_USAGE_PARTS. */
unsigned share_usage_part(uint64_t file);
struct partition share_usage_partition(struct arena *arena, struct guid space, unsigned part);
/* Reads a counter. before: of its partition. Returns STORE_OK, as small_record_read(). */
enum store_result share_usage_sum(struct read_view *before, struct arena *arena,
                                  uint64_t *ret_bytes);
void share_usage_put(struct changes *changes, struct arena *arena, uint64_t bytes);

#endif
