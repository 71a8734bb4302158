/* The words of the table of who may do what: what an operation needs of who asks. Each row of an
 * operation table has one struct rights; auth/permit.h judges by it. Plain values.
 *
 * rest: Create-account-SAS "Account SAS permissions by operation", Create-service-SAS,
 * Authorize-with-Azure-Active-Directory "Permissions for calling data operations", Configure
 * anonymous public read access for containers and blobs. */
#ifndef LAGRA_AUTH_RIGHTS_H
#define LAGRA_AUTH_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

enum effect {
    READS,  /* decides without changes */
    WRITES, /* may change what it is about */
};

/* What a container is opened to. */
enum public_access { ACCESS_PRIVATE, ACCESS_BLOB, ACCESS_CONTAINER };

/* Data actions of Azure's access control, as bits; rights_action_name() has their names. A
 * container is also a queue, a table or a share: what somebody may do in one service says nothing of
 * another. */
enum action {
    ACTION_ANY = 0, /* who was authenticated may */
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
    ACTION_MESSAGE_ADD = 1 << 19,     /* who may write messages may add them */
    ACTION_MESSAGE_PROCESS = 1 << 20, /* who may read and delete messages may get them */
    ACTION_ENTITY_READ = 1 << 21,
    ACTION_ENTITY_DELETE = 1 << 22,
    ACTION_ENTITY_ADD = 1 << 23, /* who may write entities may add and update them */
    ACTION_ENTITY_UPDATE = 1 << 24,
    ACTION_ENTITY_UPSERT = ACTION_ENTITY_ADD | ACTION_ENTITY_UPDATE,
    ACTION_FILE_READ = 1 << 25,
    ACTION_FILE_WRITE = 1 << 26,
    ACTION_FILE_DELETE = 1 << 27,
    ACTION_FILE_PERMISSIONS = 1 << 28,
    ACTIONS_ALL = (1 << 29) - 1,
    ACTION_NONE = 1 << 30, /* no token gives it */
};
/* "containers/blobs/read"; NULL for what is no single action of the service ('b', 'q', 't', 'f').
 * Static. */
const char *rights_action_name(char service, enum action action);

/* Any permission letter, or any resource type. */
#define RIGHTS_ANY "*"

struct rights {
    enum effect effect;
    /* An account SAS needs this signed resource type: "s", "c" or "o", or RIGHTS_ANY. */
    const char *type;
    const char *account; /* permission letters of an account SAS, any of which allows it */
    const char *service; /* the same of a service or user delegation SAS; "": none allows it */
    /* Letters of all kinds that allow it as long as what it is about does not exist. */
    const char *create;
    bool all_letters;             /* all of them are needed, not any */
    enum action action;           /* that a bearer token's owner needs; all, of several */
    enum public_access anonymous; /* the least that a container is opened to for anybody to do
                                       it; ACCESS_PRIVATE: nobody may without authorization */
    bool of_anybody;              /* needs no identity: preflight requests, never signed */
};

/* What a request needs beyond its row, found by its check: zeroed when there is nothing. */
struct demands {
    const char *letters; /* of a SAS, all of which it must have: "t" for x-ms-tags; NULL: none */
    unsigned actions;    /* of a bearer token's owner, all of which he must have */
    bool not_public;     /* not to be done anonymously, whatever the row says */
};

#endif
