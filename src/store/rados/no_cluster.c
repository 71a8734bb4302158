/* store_open_cluster() of builds without librados. */
#include "store/store.h"

enum store_result store_open_cluster(const char *where, struct store **ret_store,
                                     const char **ret_problem)
{
    (void)where;
    (void)ret_store;
    *ret_problem = "this build has no store on RADOS (it takes -Drados=true)";
    return STORE_IO;
}
