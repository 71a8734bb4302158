/* The operations on directories and files: their parameters and results. The functions: create_file.c,
 * file_operations.c, rename.c, and the files of these names in rest/. Metadata and deletion are the same for
 * both kinds. */
#ifndef LAGRA_FILE_FILE_OPERATIONS_H
#define LAGRA_FILE_FILE_OPERATIONS_H

#include "file/file.h"
#include "file/smb_properties.h"
#include "service/request_body.h"
#include "service/listing.h"

/* A directory or file, as answers show it. */
struct file_shown {
    struct file file;
    uint64_t id, parent;
    bool is_of_snapshot; /* of its share: has no lease */
};
/* Of the node that the subject found. */
struct file_shown file_show(const struct file_state *state);
/* returns OK, E_ReadOnlyAttribute: of a file that has the attribute. semantics 8.1 */
enum error file_refuse_read_only(const struct file *file);

/* Deletes a file or an empty directory, with its contents, and what the share counts of them. place: of
 * TREE_TO_CHANGE. returns OK, E_DirectoryNotEmpty, as decision_fail_store() */
enum error file_remove(struct decision *d, const struct tree_place *place, const struct file *file);

/* Gives the node at `from` the name of state->place, and deletes what has that name, which state->file is:
 * state->place, ->part and ->file are then of the node that was moved.
 * returns OK, E_ResourceAlreadyExists, E_ResourceTypeMismatch, E_DirectoryNotEmpty; E_InvalidHeaderValue: to
 *         below itself, or the root; as decision_fail_store() */
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
    bool has_content; /* the body is what it begins with */
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
    struct guid space; /* of its share */
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
    struct http_properties http; /* all of them: one that was not sent is cleared */
    bool has_length;
    bool keeps_http;    /* none of them was sent, only the length */
    bool resize_writes; /* another length moves the last write time */
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

/* The parameters of both renames: rename.c. */
struct rename {
    struct bytes source; /* a path, as in struct file_resource */
    bool source_trailing_dots;
    bool replaces; /* a node that has the name already */
    bool ignores_read_only;
    const struct guid *source_lease, *destination_lease; /* NULL: none was sent */
    struct smb_given smb;
    bool has_metadata;
    struct bytes metadata;
    struct bytes content_type; /* of a file; ptr NULL: as it is */
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

/* Where List Directories and Files puts what it finds: as the sinks of service/listing.h. */
struct file_sink {
    bool full;
    void (*begin)(struct file_sink *sink);
    /* file: gone after the call; NULL of a directory, unless its properties are asked for */
    void (*add)(struct file_sink *sink, const struct tree_entry *entry, const struct file *file);
};
struct list_files_parameters {
    struct parameters base;
    struct listing listing;
    bool properties;   /* are shown of directories too */
    struct bytes from; /* a name; ptr NULL: from the beginning */
    struct file_sink *sink;
};
struct list_files_result {
    struct result base;
    uint64_t id;       /* of the directory */
    struct bytes next; /* the first name of the next page; ptr NULL: none */
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
    struct guid id; /* of the lease */
};
OPERATION_DECLARE(lease_file);

/* Create Hard Link, Create Symbolic Link, Get Symbolic Link: of shares for NFS. decision: 615 */
struct link_parameters {
    struct parameters base;
    struct bytes restype;
};
OPERATION_NO_RESULT(link);
OPERATION_DECLARE(link);

#endif
