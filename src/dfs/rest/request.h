/* Request parameters and response headers common to several operations. Internal to dfs/rest/. */
#ifndef LAGRA_DFS_REST_REQUEST_H
#define LAGRA_DFS_REST_REQUEST_H

#include "dfs/dfs.h"
#include "dfs/path_operations.h"
#include "properties/metadata_acl.h"
#include "service/answer.h"
#include "service/http_headers.h"
#include "service/customer_key.h"

/* Reads "/filesystem/path" into a struct blob_resource. A path has no leading, trailing or double
 * slashes; its slashes may be percent-encoded. A request for the root directory, which has no name,
 * is one for the filesystem with an action. */
enum error dfs_read_resource(struct call *call, struct bytes path, struct resource *ret_resource);
/* For a rename whose URL path omits the account, returns the account named in the source; ptr NULL
 * for other requests, and in a front end that only forwards requests. rename_path.c; decision: 1346 */
struct bytes dfs_rename_account(const struct call *call);
/* Checks names like blob_check_names(), and accepts the root. */
enum error dfs_check_names(const struct resource *resource);

/* Reads such a path from a URL or a header. */
enum error dfs_read_path(struct arena *arena, struct bytes path, struct blob_resource *resource);

/* Kinds of requests, for dfs_refuse_unbuilt(). */
enum dfs_request_kind {
    DFS_READ = 1,
    DFS_CREATE = 2,
    DFS_UPDATE = 4, /* append, flush, set properties */
    DFS_DELETE = 8,
    DFS_RENAME = 16,
    DFS_CREATE_DIRECTORY = 32,
    DFS_LEASE = 64,
    DFS_SET_PROPERTIES = 128, /* in addition to DFS_UPDATE */
};
/* Refuses headers and parameters without effect (E_UnsupportedHeader,
 * E_UnsupportedQueryParameter), instead of ignoring them. kinds: of dfs_request_kind */
enum error dfs_refuse_unbuilt(struct call *call, unsigned kinds);
/* Reads a customer-provided key, and then refuses the rest like dfs_refuse_unbuilt(). */
enum error dfs_read_key(struct call *call, unsigned kinds, enum key_use use);
/* Adds x-ms-request-server-encrypted, and the hash of the request's key. */
void dfs_answer_encrypted(struct answer *a, bool is_encrypted);

/* Checks the mode of Path Create. */
enum error dfs_check_mode(struct call *call);
/* Reads a query parameter that is true or false; false if it is absent or empty. */
enum error dfs_query_flag(struct call *call, const char *name, bool *ret_flag);
/* Reads a required number. Returns OK, E_MissingRequiredQueryParameter,
 * E_InvalidQueryParameterValue. */
enum error dfs_query_number(struct call *call, const char *name, uint64_t *ret_number);

/* Reads the headers of a lease to acquire, which must have an id because the response does not
 * contain one. Returns OK, E_MissingRequiredHeader, E_InvalidHeaderValue. */
enum error dfs_read_lease(struct call *call, struct lease_request *ret_request);

/* Reads x-ms-properties: "name=base64,..". Returns OK, E_InvalidPropertyName,
 * E_InvalidHeaderValue, E_MetadataTooLarge. */
enum error dfs_read_properties(struct call *call, bool *ret_has, struct bytes *ret_metadata);
/* Adds x-ms-properties, if there are any. */
void dfs_answer_properties(struct answer *a, struct bytes metadata);

/* Makes the text the body, as JSON. */
void dfs_answer_json(struct answer *a, const struct text *json);
/* Members of struct service. */
bool dfs_is_for_blob(const struct request *request);
enum error dfs_error_of(enum error e);
bool dfs_answer_error(struct answer *a, enum error e, const struct problem *problem);

/* Returns the first name of the list that a continuation created by Hadoop's driver starts; ptr NULL
 * if it is not such a continuation, or for another directory. is_tree: the account has a
 * hierarchical namespace. prefix: the directory with a '/', or empty for the root */
struct bytes dfs_read_start_token(struct arena *arena, struct bytes text, bool is_tree,
                                  struct bytes prefix);

/* Returns 100 ns ticks since 1601, as in creationTime. */
uint64_t dfs_filetime(instant t);

OPERATION_DECLARE_AS(list_filesystems, list_containers);
OPERATION_DECLARE_AS(create_filesystem, create_container);
OPERATION_DECLARE_AS(get_filesystem_properties, get_container_properties);
OPERATION_DECLARE_AS(delete_filesystem, delete_container);
OPERATION_DECLARE_AS(read_path, get_blob);
OPERATION_DECLARE_AS(get_path_properties, get_blob_properties);
OPERATION_DECLARE_AS(lease_path, lease_blob);

OPERATION_DECLARE_AS(set_filesystem_properties, set_metadata);

#endif
