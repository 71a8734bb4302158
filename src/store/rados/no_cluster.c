/* store/cluster.h of builds without librados. */
#include "store/cluster.h"

static enum store_result refuse(const char **ret_problem)
{
    *ret_problem = "this build has no store on RADOS (it takes -Drados=true)";
    return STORE_IO;
}

enum store_result store_open_cluster(const char *where, void (*failed)(void),
                                     struct store **ret_store, const char **ret_problem)
{
    (void)where;
    (void)failed;
    (void)ret_store;
    return refuse(ret_problem);
}

enum store_result store_init_cluster(const char *where, bool is_unsafe,
                                     void (*say)(const char *sentence), const char **ret_problem)
{
    (void)where;
    (void)is_unsafe;
    (void)say;
    return refuse(ret_problem);
}

enum store_result store_raise_cluster(const char *where, unsigned *ret_format,
                                      const char **ret_problem)
{
    (void)where;
    (void)ret_format;
    return refuse(ret_problem);
}
