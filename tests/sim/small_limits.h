/* Included before files that check limits, which are compiled once more for the simulator: see sim_limits.h. */
#ifndef LAGRA_SIM_SMALL_LIMITS_H
#define LAGRA_SIM_SMALL_LIMITS_H

#include "blob/blob.h"
#include "blob/uncommitted.h"
#include "file/file.h"
#include "opens/open_record.h"
#include "request/request_private.h"
#include "sim_limits.h"

#undef OPENS_MAX
#undef BYTE_LOCKS_MAX
#undef SHARE_SNAPSHOTS_MAX
#undef UNCOMMITTED_BLOCKS_MAX
#undef APPENDED_BLOCKS_MAX
#define OPENS_MAX              limit_of(LIMIT_OPENS, 2000)
#define BYTE_LOCKS_MAX         limit_of(LIMIT_LOCKS, 2000)
#define SHARE_SNAPSHOTS_MAX    limit_of(LIMIT_SNAPSHOTS, 200)
#define UNCOMMITTED_BLOCKS_MAX limit_of(LIMIT_STAGED, 100000)
#define APPENDED_BLOCKS_MAX    limit_of(LIMIT_APPENDED, 50000)

#undef SMALL_BODY_MAX
#define SMALL_BODY_MAX limit_small_body()

/* Of retention; protect.h, whose names differ from those of the server. */
uint64_t protect_day(void);
#undef TICKS_PER_DAY
#define TICKS_PER_DAY protect_day()

#endif
