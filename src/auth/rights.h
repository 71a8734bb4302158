/* The rights that an operation requires of its caller. Each row of an operation table has one
 * struct rights, which auth/permit.h checks. Plain values.
 *
 * rest: Create-account-SAS "Account SAS permissions by operation", Create-service-SAS,
 * Authorize-with-Azure-Active-Directory "Permissions for calling data operations", Configure
 * anonymous public read access for containers and blobs. */
#ifndef LAGRA_AUTH_RIGHTS_H
#define LAGRA_AUTH_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

enum effect {
    READS,  /* makes no changes */
    WRITES, /* may change the resource */
};

/* The public access level of a container. */
enum public_access { ACCESS_PRIVATE, ACCESS_BLOB, ACCESS_CONTAINER };

/* Data actions of Azure's access control, as bits; rights_action_name() has their names.
 * "Container" also means a queue, a table or a share. An action in one service implies nothing in
 * another. */
enum action {
    ACTION_ANY = 0, /* any authenticated caller */
    ACTION_SERVICE_READ = 1 << 0,
    ACTION_SERVICE_WRITE = 1 << 1,
    ACTION_DELEGATION_KEY = 1 << 2,
    ACTION_CONTAINER_READ = 1 << 3,
    ACTION_CONTAINER_WRITE = 1 << 4,
    ACTION_CONTAINER_DELETE = 1 << 5,
    ACTION_CONTAINER_GET_ACL = 1 << 6,
    ACTION_CONTAINER_SET_ACL = 1 << 7,
    ACTION_BLOB_READ = 1 << 8,
    ACTION_BLOB_WRITE = 1 << 9,
    ACTION_BLOB_DELETE = 1 << 10,
    ACTION_BLOB_FILTER = 1 << 11,
    ACTION_BLOB_TAGS_READ = 1 << 12,
    ACTION_BLOB_TAGS_WRITE = 1 << 13,
    ACTION_BLOB_DELETE_VERSION = 1 << 14,
    ACTION_BLOB_SUPER_USER = 1 << 15,
    ACTION_MESSAGE_READ = 1 << 16,
    ACTION_MESSAGE_WRITE = 1 << 17,
    ACTION_MESSAGE_DELETE = 1 << 18,
    ACTION_MESSAGE_ADD = 1 << 19,     /* roles with MESSAGE_WRITE have it too */
    ACTION_MESSAGE_PROCESS = 1 << 20, /* roles with MESSAGE_READ and MESSAGE_DELETE have it too */
    ACTION_ENTITY_READ = 1 << 21,
    ACTION_ENTITY_DELETE = 1 << 22,
    ACTION_ENTITY_ADD = 1 << 23, /* roles that write entities have it, and ENTITY_UPDATE */
    ACTION_ENTITY_UPDATE = 1 << 24,
    ACTION_ENTITY_UPSERT = ACTION_ENTITY_ADD | ACTION_ENTITY_UPDATE,
    ACTION_FILE_READ = 1 << 25,
    ACTION_FILE_WRITE = 1 << 26,
    ACTION_FILE_DELETE = 1 << 27,
    ACTION_FILE_PERMISSIONS = 1 << 28,
    ACTION_BLOB_PERMANENT_DELETE = 1 << 29,
    ACTIONS_ALL = (1 << 30) - 1,
    ACTION_NONE = 1 << 30, /* granted by no token */
};
/* The name of an action, such as "containers/blobs/read"; NULL unless it is a single action of the
 * service ('b', 'q', 't', 'f'). Static. */
const char *rights_action_name(char service, enum action action);

/* Any permission letter, or any resource type. */
#define RIGHTS_ANY "*"

struct rights {
    enum effect effect;
    /* The signed resource type that an account SAS needs: "s", "c" or "o", or RIGHTS_ANY. */
    const char *type;
    const char *account; /* permission letters of an account SAS, one of which is required */
    const char *service; /* the same for a service or user delegation SAS; "": never permitted */
    /* Letters of any kind of SAS that suffice while the resource does not exist. */
    const char *create;
    bool all_letters;             /* all of the letters are required, not one */
    enum action action;           /* required of a bearer token's owner; all, if several */
    enum public_access anonymous; /* the least public access level at which an anonymous caller is
                                   * permitted; ACCESS_PRIVATE: never */
    bool of_anybody; /* needs no identity: preflight requests, which are never signed */
};

/* What a request requires beyond its row, as found by its check. Zeroed: nothing. */
struct demands {
    const char *letters; /* that a SAS must have, all of them: "t" for x-ms-tags; NULL: none */
    unsigned actions;    /* that a bearer token's owner must have, all of them */
    bool not_public;     /* never permitted to an anonymous caller, whatever the row says */
};

#endif
