/* A store on a Ceph cluster, as its operator sees it (docs/cluster.md). Builds without -Drados=true have none: there
 * all of this fails, and says so. Start-up. */
#ifndef LAGRA_STORE_CLUSTER_H
#define LAGRA_STORE_CLUSTER_H

#include "store/store.h"

/* Before a place of a store on a cluster: "rados:CONF:POOL[:POOL]". */
#define CLUSTER_PREFIX "rados:"

/* Opens it; connects, and gives up after half a minute without an answer. Settings of the cluster that may lose data
 * are warned of in the log.
 * where: path of a ceph.conf, a colon, the name of a pool; perhaps a colon and that of another pool for pieces
 * failed: other front ends have taken this one for dead, and it is to end: called once, by a thread of the store; or NULL
 * *ret_problem: as store_open_embedded() */
enum store_result store_open_cluster(const char *where, void (*failed)(void),
                                     struct store **ret_store, const char **ret_problem);

/* Makes what is missing of the pools, in three replicas of which two must be there, and an empty store in them. A store
 * that is there already stays as it is.
 * is_unsafe  settings that may lose data are said, and not refused
 * say        each such setting, as a sentence
 * returns STORE_OK, STORE_IO: *ret_problem as above */
enum store_result store_init_cluster(const char *where, bool is_unsafe,
                                     void (*say)(const char *sentence), const char **ret_problem);

/* Raises the format of a store to the newest that this program knows, *ret_format, or leaves it, if it is that: while front ends
 * serve, all of which have to know it. Those that do not are logged.
 * returns STORE_OK, STORE_IO: *ret_problem as above */
enum store_result store_raise_cluster(const char *where, unsigned *ret_format,
                                      const char **ret_problem);

#endif
