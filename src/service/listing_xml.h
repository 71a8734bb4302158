/* Lists as requests and as XML: List Containers, List Queues, List Blobs. */
#ifndef LAGRA_SERVICE_LISTING_XML_H
#define LAGRA_SERVICE_LISTING_XML_H

#include "base/xml.h"
#include "service/answer.h"
#include "service/listing.h"

/* A page ends early, with a NextMarker, once its XML has grown to this. */
#define LISTING_PAGE_BYTES (6u << 20)

/* Reads prefix, marker, maxresults and include; names: what include may hold, NULL ends.
 * returns  OK, E_OutOfRangeQueryParameterValue (maxresults 0 or negative),
 *          E_InvalidQueryParameterValue */
enum error listing_read(struct call *call, const char *const *include_names,
                        struct listing *ret_listing);
/* maxresults: 1 and more; more than a page holds, or none, gives a full page. rest: List-Blobs,
 * List-Containers2, List-Queues1, Get-Page-Ranges
 * returns  OK, E_OutOfRangeQueryParameterValue (0 or negative), E_InvalidQueryParameterValue */
enum error listing_read_max(struct call *call, uint32_t page_max, bool *ret_given,
                            uint32_t *ret_max);
/* A query parameter; ptr NULL also for an empty one. */
struct bytes listing_query(const struct call *call, const char *name);

/* <EnumerationResults ..> and the echo of prefix, marker and maxresults. container: ptr NULL in a
 * list of containers or queues. */
void listing_begin(struct text *out, const struct call *call, struct bytes container,
                   const struct listing *listing);
/* <Url> of an entry, which versions before 2013-08-15 have: of a container or queue (blob.ptr NULL),
 * or of a blob. rest: Version-2013-08-15 */
void listing_url(struct text *out, const struct call *call, struct bytes container,
                 struct bytes blob);
/* That echo alone, behind a root element of the caller's. */
void listing_echo(struct text *out, const struct listing *listing);
/* <NextMarker> (empty when marker.ptr is NULL) and the end of the document. */
void listing_end(struct text *out, struct bytes next_marker);

/* <element>name</element>. A name with characters that XML 1.0 cannot hold goes percent-encoded,
 * with the attribute Encoded="true". rest: List-Blobs, "Blob names ... Encoded" */
void listing_name(struct text *out, const char *element, struct bytes name);

/* ---- a list of containers or of queues, as XML while its entries come in ---- */

struct listing_page {
    struct listing_sink sink;
    const struct listing_form *form;
    const struct call *call;
    const struct listing *listing;
    instant now;
    struct text out;
    bool has_entry;
};
struct listing_form {
    const char *const *include_names;
    const char *list; /* element around all entries */
    /* As of struct listing_sink. */
    bool (*shows)(const struct listing_page *page, const struct space_record *at);
    /* Writes an entry to page->out. False: the record is damaged. */
    bool (*add)(struct listing_page *page, const struct space_record *at);
    /* What follows the name in the marker of a page that begins with this record; ptr NULL: nothing. And back; false:
     * malformed. Both NULL: a name has one record alone. */
    struct bytes (*mark)(struct listing_page *page, struct bytes record_key);
    bool (*read_mark)(struct arena *arena, struct bytes mark, struct bytes *ret_record_key);
};

/* Reads what is asked of such a list, its marker too, and makes the sink of its page.
 * returns  as listing_read() */
enum error listing_page_begin(struct call *call, const struct listing_form *form,
                              struct listing *ret_listing, struct listing_place *ret_from,
                              struct listing_sink **ret_sink);
/* next: where the next page begins; name.ptr NULL: none. */
void listing_page_answer(struct answer *a, struct listing_sink *sink,
                         const struct listing_place *next);

#endif
