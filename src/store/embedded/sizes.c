/* See sizes.h. */
#include "store/embedded/sizes.h"

#include <stdlib.h>

#define MEMTABLES_IN_RESERVE 40
#define LOG_BUFFER_MAX       (1u << 20)
#define MANIFEST_MAX         (4u << 20)

/* A test build may make all files smaller, so that few records create many files. */
static uint64_t memtable_bytes(uint64_t reserve)
{
#ifdef LAGRA_GATES
    const char *asked = getenv("LAGRA_WRITE_BUFFER_BYTES");

    if (asked)
        return strtoull(asked, NULL, 10);
#endif
    if (reserve < SIZES_RESERVE_LEAST)
        reserve = SIZES_RESERVE_LEAST;
    if (reserve > SIZES_RESERVE_USEFUL)
        reserve = SIZES_RESERVE_USEFUL;
    return reserve / MEMTABLES_IN_RESERVE;
}

struct sizes sizes_of(uint64_t reserve, bool is_roomy)
{
    size_t memtable = (size_t)memtable_bytes(reserve);

    return (struct sizes){
        .memtable = memtable,
        .level0_compact = is_roomy ? 8 : 4,
        .level0_stop = is_roomy ? 16 : 12,
        .level1 = (is_roomy ? 16 : 4) * memtable,
        .table = memtable,
        .compaction = 8 * memtable,
        .log_buffer = memtable < LOG_BUFFER_MAX ? memtable : LOG_BUFFER_MAX,
        .manifest = memtable / 4 < MANIFEST_MAX ? memtable / 4 : MANIFEST_MAX,
    };
}
