/* Operations on directories and files: parameters and results. Directories and files share the
 * operations for metadata and deletion. */
#ifndef LAGRA_FILE_FILE_OPERATIONS_H
#define LAGRA_FILE_FILE_OPERATIONS_H

#include "file/file.h"
#include "file/smb_properties.h"
#include "service/listing.h"
#include "service/request_body.h"

/* A directory or file as shown in responses. */
struct file_shown {
    struct file file;
    uint64_t id, parent;
    bool is_of_snapshot; /* is in a share snapshot, and therefore has no lease */
};
/* Returns the node that the subject function found. */
struct file_shown file_show(const struct file_state *state);
/* Fails if the file has the read-only attribute. Returns OK, E_ReadOnlyAttribute. semantics 8.1 */
enum error file_refuse_read_only(const struct file *file);

/* Deletes a file or an empty directory, with its contents, and subtracts its length from the
 * share's usage. place: found for TREE_TO_CHANGE. Returns OK, E_DirectoryNotEmpty, as
 * decision_fail_store(). */
enum error file_remove(struct decision *d, const struct tree_place *place, const struct file *file);

/* Renames the node at `from` to the name of state->place and deletes state->file, which has that
 * name. Afterwards state->place, ->part and ->file are those of the renamed node.
 * Returns OK, E_ResourceAlreadyExists, E_ResourceTypeMismatch, E_DirectoryNotEmpty;
 *         E_InvalidHeaderValue: `from` is the root or contains the new name;
 *         as decision_fail_store(). */
enum error file_move(struct decision *d, const struct tree_place *from, const struct file *source,
                     enum tree_over over);

struct create_directory_parameters {
    struct parameters base;
    struct smb_given smb;
    struct bytes metadata;
};
struct create_directory_result {
    struct result base;
    struct file_shown shown;
};
OPERATION_DECLARE(create_directory);

struct create_file_parameters {
    struct parameters base;
    struct smb_given smb;
    struct bytes metadata;
    struct http_properties http;
    uint64_t length;  /* at most FILE_LENGTH_MAX */
    bool has_content; /* the request body is the initial data */
    struct body_sums sums;
};
struct create_file_result {
    struct result base;
    struct file_shown shown;
};
OPERATION_DECLARE(create_file);

OPERATION_NO_PARAMETERS(get_file_properties);
struct get_file_properties_result {
    struct result base;
    struct file_shown shown;
    struct guid space; /* space of its share */
    /* permission of a file in another cell; ptr NULL if it is in `space` or there is none */
    struct bytes descriptor;
};
OPERATION_DECLARE(get_file_properties);

OPERATION_NO_PARAMETERS(get_file_metadata);
struct get_file_metadata_result {
    struct result base;
    struct bytes metadata;
};
OPERATION_DECLARE(get_file_metadata);

struct set_file_metadata_parameters {
    struct parameters base;
    struct bytes metadata;
};
OPERATION_NO_RESULT(set_file_metadata);
OPERATION_DECLARE(set_file_metadata);

struct set_file_properties_parameters {
    struct parameters base;
    struct smb_given smb;
    struct http_properties http; /* replaces all HTTP properties; those not sent are cleared */
    bool has_length;
    bool keeps_http;    /* no HTTP header was sent, only the length */
    bool resize_writes; /* a new length updates the last write time */
    uint64_t length;    /* at most FILE_LENGTH_MAX */
};
struct set_file_properties_result {
    struct result base;
    struct file_shown shown;
};
OPERATION_DECLARE(set_file_properties);

struct set_directory_properties_parameters {
    struct parameters base;
    struct smb_given smb;
};
struct set_directory_properties_result {
    struct result base;
    struct file_shown shown;
};
OPERATION_DECLARE(set_directory_properties);

/* Parameters of both renames: rename.c. */
struct rename {
    struct bytes source; /* path, as in struct file_resource */
    bool source_trailing_dots;
    bool replaces; /* whether to replace an existing node of that name */
    bool ignores_read_only;
    const struct guid *source_lease, *destination_lease; /* NULL if not sent */
    struct smb_given smb;
    bool has_metadata;
    struct bytes metadata;
    struct bytes content_type; /* files only; ptr NULL means unchanged */
};
struct rename_file_parameters {
    struct parameters base;
    struct rename rename;
};
struct rename_file_result {
    struct result base;
    struct file_shown shown;
};
OPERATION_DECLARE(rename_file);

struct rename_directory_parameters {
    struct parameters base;
    struct rename rename;
};
struct rename_directory_result {
    struct result base;
    struct file_shown shown;
};
OPERATION_DECLARE(rename_directory);

OPERATION_NO_PARAMETERS(delete_file);
OPERATION_NO_RESULT(delete_file);
OPERATION_DECLARE(delete_file);

/* Receives the entries of List Directories and Files, like the sinks of service/listing.h. */
struct file_sink {
    bool full;
    void (*begin)(struct file_sink *sink);
    /* file: valid during the call; NULL for a directory, unless its properties are requested */
    void (*add)(struct file_sink *sink, const struct tree_entry *entry, const struct file *file);
};
struct list_files_parameters {
    struct parameters base;
    struct listing listing;
    bool properties;   /* properties of directories are requested */
    struct bytes from; /* first name; ptr NULL means from the beginning */
    struct file_sink *sink;
};
struct list_files_result {
    struct result base;
    uint64_t id;       /* id of the directory */
    struct bytes next; /* first name of the next page; ptr NULL if none */
};
OPERATION_DECLARE(list_files);

/* rest: Lease-File */
struct lease_file_parameters {
    struct parameters base;
    struct lease_request request;
};
struct lease_file_result {
    struct result base;
    struct lease_result lease;
    struct guid id; /* lease id */
};
OPERATION_DECLARE(lease_file);

/* Create Hard Link, Create Symbolic Link, Get Symbolic Link: NFS shares only. decision: 615 */
struct link_parameters {
    struct parameters base;
    struct bytes restype;
};
OPERATION_NO_RESULT(link);
OPERATION_DECLARE(link);

/* Internal to file/: creation of a file, for Create File and Copy File. */

enum over_read_only { OVER_READ_ONLY_REFUSED, OVER_READ_ONLY };

/* Creates the node of a new file of this length. Deletes an existing file of the name with its
 * contents, but its lease passes to the new file. *file: `kind` must be set; its content becomes a
 * hole.
 * Returns OK, E_ReadOnlyAttribute, E_ResourceTypeMismatch, E_FileLockConflict,
 * E_ShareSizeLimitReached. */
enum error new_file_open(struct decision *d, enum over_read_only rule, uint64_t length,
                         struct file *file, struct decision_part **ret_part);
/* Writes the record of the new node, with the default properties of its kind. */
enum error new_file_write(struct decision *d, struct decision_part *part,
                          const struct smb_given *smb, struct file *file);

#endif
