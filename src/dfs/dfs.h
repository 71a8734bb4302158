/* The Data Lake Storage endpoint (dfs): the containers and blobs of the Blob service as filesystems
 * and paths. It has no data of its own: its functions call those of blob/, on the same partitions,
 * so both endpoints always show the same state. The files in this folder contain the decisions;
 * those in rest/ read requests and render responses.
 *
 * rest: datalakestoragegen2; decisions: 1200, 1201 */
#ifndef LAGRA_DFS_DFS_H
#define LAGRA_DFS_DFS_H

struct service;

extern const struct service dfs_service;

#endif
