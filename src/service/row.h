/* Macros for the operation tables of the services: a ROW per operation. Only for the files with the
 * tables (blob/rest/operations.c etc.).
 *
 *   methods     bits; GH: GET and HEAD
 *   selector    the exact comp and restype of the request
 *   variant     a header, or header=value, or several with '&', that selects the row among
 *               those with the same selector; the first matching row is used
 *   effect      READS, WRITES
 *   MAY         permissions, by kind of credential
 *   if_, class_ accepted conditional headers, and the responses if they fail
 *   lease, etag, body and its maximum size, success statuses (0 if every request is refused):
 *               see struct operation
 *   the last two: subject; the operation's functions, or NULL if it is not implemented (501);
 *               ADDS: creates a container, queue, table or share;
 *               LISTED: may be part of a batch; TYPES_304: its 304 has a Content-Type */
#ifndef LAGRA_SERVICE_ROW_H
#define LAGRA_SERVICE_ROW_H

#include "service/operation.h"

#define GET          METHOD_GET
#define PUT          METHOD_PUT
#define POST         METHOD_POST
#define DELETE       METHOD_DELETE
#define GH           (METHOD_GET | METHOD_HEAD)

#define NO_IF        0

/* Maximum size of policies and service properties. */
#define XML_BODY_MAX (UINT64_C(256) << 10)

/* Permissions (see auth/rights.h): resource type and letters of an account SAS; letters of a
 * service SAS; letters that only permit creating; action that a token's owner needs; lowest public
 * access level of a container that allows anonymous reads. */
#define ANY          RIGHTS_ANY
#define MAY(type_, account_, service_, create_, action_, anonymous_)                               \
    .type = type_, .account = account_, .service = service_, .create = create_,                    \
    .action = ACTION_##action_, .anonymous = ACCESS_##anonymous_

/* All of these letters are required of a SAS, for an object. */
#define MAY_WITH_ALL(letters_, action_, anonymous_)                                                \
    MAY("o", letters_, letters_, "", action_, anonymous_), .all_letters = true

/* A SAS needs all of the letters, for any resource type. */
#define ALL_LETTERS(may_)                 may_, .all_letters = true

#define LISTED(functions_)                functions_, .listed = true

/* Creates a container, queue, table or share. */
#define ADDS(functions_)                  functions_, .adds_container = true

#define TYPES_304(functions_)             functions_, .types_304 = true

/* Name in Storage Analytics logs. rest: Storage-Analytics-Logged-Operations-and-Status-Messages;
 * decision: 512 */
#define LOGGED_AS(logged_as_, functions_) functions_, .logged_as = logged_as_

#define ROW(name_, methods_, level_, selector_, variant_, effect_, may_, since_, if_, class_,      \
            lease_, etag_, body_, max_, ok_, also_, subject_, functions_)                          \
    {                                                                                              \
        .name = name_, .methods = methods_, .level = LEVEL_##level_, .selector = selector_,        \
        .variant = variant_,                                                                       \
        .rights = { .effect = effect_, may_, .of_anybody = ((methods_)&METHOD_OPTIONS) != 0 },     \
        .since = since_, .conditions = if_, .condition_class = CONDITIONS_OF_##class_,             \
        .lease = LEASE_RULE_##lease_, .etag = ETAG_##etag_, .body = BODY_##body_,                  \
        .body_max = max_, .ok = { ok_, also_ }, .subject = subject_, .functions = functions_       \
    }

#endif
