/* Internal to file/rest/: request parts common to several operations. */
#ifndef LAGRA_FILE_REST_REQUEST_H
#define LAGRA_FILE_REST_REQUEST_H

#include "file/share_operations.h"
#include "service/answer.h"

/* Parses the resource in a request's path. Requests for directories and files with a bearer
 * token must have an intent.
 * Returns OK, E_InvalidUri, E_InvalidQueryParameterValue, E_MissingRequiredHeader,
 *         E_InvalidHeaderValue
 * rest: Authorize-with-Azure-Active-Directory, x-ms-file-request-intent */
enum error file_read_resource(struct call *call, struct bytes path, struct resource *ret_resource);

/* For a rename whose URL path omits the account, returns the account named in the source's path;
 * ptr NULL for other requests. rename.c; decision: 690 */
struct bytes rename_account(const struct call *call);

/* Reads a header that must be "true" or "false", default false. Returns OK,
 * E_InvalidHeaderValue. */
enum error file_read_flag(struct call *call, const char *name, bool *ret_flag);

/* Rejects a share snapshot in operations that change the share.
 * Returns OK, E_ShareSnapshotOperationNotSupported. */
enum error refuse_share_snapshot(const struct call *call);

/* Encode and decode the marker of List Directories and Files for a page that starts at this
 * name. Decoding a malformed marker returns ptr NULL. list_files.c */
struct bytes file_marker(struct arena *arena, struct bytes name);
struct bytes file_marker_name(struct arena *arena, struct bytes marker);

extern const struct container_type share_container; /* share_operations.c */

#endif
