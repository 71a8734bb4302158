/* Between a commit and what was decided on the state that it will leave: whoever rests on it learns by this what
 * became of it. Counted; any thread. */
#ifndef LAGRA_STORE_RADOS_SHARD_LINK_H
#define LAGRA_STORE_RADOS_SHARD_LINK_H

#include <stdbool.h>

#include "store/store.h"

struct shard_link;
struct shard_link *shard_link_new(void);
/* Both accept NULL. */
struct shard_link *shard_link_hold(struct shard_link *link);
void shard_link_release(struct shard_link *link);
/* Of the shard, before anybody else learns what became of the commit. Later calls change nothing: one that was not
 * applied and is tried again has nobody who rests on it. */
void shard_link_tell(struct shard_link *link, bool was_applied);
/* Of the shard: an op that has the commit is about to be sent. */
void shard_link_send(struct shard_link *link);
/* One may have been applied already. */
bool shard_link_is_sent(const struct shard_link *link);
/* returns STORE_WAIT      it is not known yet
 *         STORE_OK        the commit was applied
 *         STORE_CONFLICT  it was not, or that cannot be learned */
enum store_result shard_link_result(const struct shard_link *link);

#endif
