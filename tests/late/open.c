/* lagra-late is the server with a slow store between it and its own: the linker turns its calls to
 * open a store into these. Percentages by the environment:
 *
 *   LAGRA_LATE_READS    reads before a hold that lose their state      default 10
 *   LAGRA_LATE_COMMITS  commits that turn out never to have come to be default 20
 *   LAGRA_LATE_UNKNOWN  commits whose outcome cannot be learned        default 0
 *
 * LAGRA_LATE_TOGETHER: no fetch ends before so many wait for one. */
#include <stdlib.h>

#include "../unit/store/late.h"

/* Far below those of the local engines; what a store on other machines may ask for. */
#define INLINE_BYTES (4u << 10)
#define RECORD_BYTES (INLINE_BYTES + STORE_RECORD_BYTES_LEAST)
#define COMMIT_BYTES (4u << 20)
#define GROUP_PARTS  3

enum store_result __real_store_open_embedded(const struct store_options *options,
                                             struct store **ret_store, const char **ret_problem);
struct store *__real_store_open_memory(void);
enum store_result __wrap_store_open_embedded(const struct store_options *options,
                                             struct store **ret_store, const char **ret_problem);
struct store *__wrap_store_open_memory(void);

static unsigned number(const char *name, unsigned otherwise)
{
    const char *value = getenv(name);

    return value ? (unsigned)strtoul(value, NULL, 10) : otherwise;
}

static struct store *slow(struct store *inner)
{
    return store_open_late(inner, (struct late_options){
                                      .lost_reads = number("LAGRA_LATE_READS", 10),
                                      .lost_commits = number("LAGRA_LATE_COMMITS", 20),
                                      .unknown_commits = number("LAGRA_LATE_UNKNOWN", 0),
                                      .fetches = 30,
                                      .together = number("LAGRA_LATE_TOGETHER", 0),
                                      .limits = { .inline_bytes = INLINE_BYTES,
                                                  .record_bytes = RECORD_BYTES,
                                                  .commit_bytes = COMMIT_BYTES,
                                                  .group_parts = GROUP_PARTS },
                                  });
}

enum store_result __wrap_store_open_embedded(const struct store_options *options,
                                             struct store **ret_store, const char **ret_problem)
{
    enum store_result result = __real_store_open_embedded(options, ret_store, ret_problem);

    if (!result)
        *ret_store = slow(*ret_store);
    return result;
}

struct store *__wrap_store_open_memory(void)
{
    return slow(__real_store_open_memory());
}
