/* How the operation tables of the services are written: a ROW for each operation. For the files
 * with the tables alone (blob/rest/operations.c..).
 *
 *   methods     bits; GH: GET and HEAD
 *   selector    the comp and restype that the request has, no more and no fewer
 *   variant     a header, or header=value, or several with '&', that picks the row among those of
 *               one selector; the first row that fits is taken
 *   effect      READS, WRITES
 *   MAY         permissions, by kind of credential
 *   if_, class_ which conditional headers are accepted, and how they are answered
 *   lease, etag, body and the most bytes that it may have, success statuses (0: there is none, every request is
 *               refused): struct operation
 *   the last two: subject; the operation's functions, NULL: known, not built yet, 501;
 *               ADDS: makes a container, queue, table or share;
 *               LISTED: may be a part of its service's list of operations; TYPES_304: its 304 has a
 *               Content-Type */
#ifndef LAGRA_SERVICE_ROW_H
#define LAGRA_SERVICE_ROW_H

#include "service/operation.h"

#define GET          METHOD_GET
#define PUT          METHOD_PUT
#define POST         METHOD_POST
#define DELETE       METHOD_DELETE
#define GH           (METHOD_GET | METHOD_HEAD)

#define NO_IF        0

/* Policies and service properties. */
#define XML_BODY_MAX (UINT64_C(256) << 10)

/* Permissions: of an account SAS the resource type and letters, of a service SAS the letters, the
 * letters that create only; what a token's owner needs; the least that a container is opened to for
 * anybody to read it. See auth/rights.h. */
#define ANY          RIGHTS_ANY
#define MAY(type_, account_, service_, create_, action_, anonymous_)                               \
    .type = type_, .account = account_, .service = service_, .create = create_,                    \
    .action = ACTION_##action_, .anonymous = ACCESS_##anonymous_

/* A SAS needs all of these letters, of its object. */
#define MAY_WITH_ALL(letters_, action_, anonymous_)                                                \
    MAY("o", letters_, letters_, "", action_, anonymous_), .all_letters = true

/* The same of any kind of resource. */
#define ALL_LETTERS(may_)                 may_, .all_letters = true

#define LISTED(functions_)                functions_, .listed = true

/* Makes a container, queue, table or share. */
#define ADDS(functions_)                  functions_, .adds_container = true

#define TYPES_304(functions_)             functions_, .types_304 = true

/* rest: Storage-Analytics-Logged-Operations-and-Status-Messages; decision: 512 */
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
