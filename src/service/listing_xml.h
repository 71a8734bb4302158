/* Requests and XML of List Containers, List Queues and List Blobs. */
#ifndef LAGRA_SERVICE_LISTING_XML_H
#define LAGRA_SERVICE_LISTING_XML_H

#include "base/xml.h"
#include "service/answer.h"
#include "service/listing.h"

/* A page whose XML has grown to this size ends early, with a NextMarker. */
#define LISTING_PAGE_BYTES (6u << 20)

/* Reads prefix, marker, maxresults and include. names: allowed values of include, ended by NULL
 * returns  OK, E_OutOfRangeQueryParameterValue (maxresults 0 or negative),
 * E_InvalidQueryParameterValue */
enum error listing_read(struct call *call, const char *const *include_names,
                        struct listing *ret_listing);
/* Reads maxresults. The default, and the maximum used for larger values, is page_max. rest:
 * List-Blobs, List-Containers2, List-Queues1, Get-Page-Ranges
 * returns  OK, E_OutOfRangeQueryParameterValue (0 or negative), E_InvalidQueryParameterValue */
enum error listing_read_max(struct call *call, uint32_t page_max, bool *ret_given,
                            uint32_t *ret_max);
/* Returns a query parameter; ptr NULL if it is absent or empty. */
struct bytes listing_query(const struct call *call, const char *name);

/* Writes <EnumerationResults ..> and echoes prefix, marker and maxresults. container: ptr NULL in a
 * list of containers or queues */
void listing_begin(struct text *out, const struct call *call, struct bytes container,
                   const struct listing *listing);
/* Writes <Url> of a container or queue (blob.ptr NULL) or of a blob, in versions before 2013-08-15.
 * rest: Version-2013-08-15 */
void listing_url(struct text *out, const struct call *call, struct bytes container,
                 struct bytes blob);
/* Echoes prefix, marker and maxresults, after a root element written by the caller. */
void listing_echo(struct text *out, const struct listing *listing);
/* Writes <NextMarker> (empty if marker.ptr is NULL) and the end of the document. */
void listing_end(struct text *out, struct bytes next_marker);

/* Writes <element>name</element>. A name with characters that XML 1.0 cannot contain is
 * percent-encoded and has the attribute Encoded="true". rest: List-Blobs, "Blob names ...
 * Encoded" */
void listing_name(struct text *out, const char *element, struct bytes name);

/* ---- lists of containers or queues, rendered as XML entry by entry ---- */

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
    /* See struct listing_sink. */
    bool (*shows)(const struct listing_page *page, const struct space_record *at);
    /* Writes an entry to page->out. Returns false if the record is damaged. */
    bool (*add)(struct listing_page *page, const struct space_record *at);
    /* mark() returns the text that follows the name in the marker of a page starting with this
     * record; ptr NULL if none. read_mark() is the inverse, and returns false if the text is
     * malformed. Both are NULL if a name has only one record. */
    struct bytes (*mark)(struct listing_page *page, struct bytes record_key);
    bool (*read_mark)(struct arena *arena, struct bytes mark, struct bytes *ret_record_key);
};

/* Reads the parameters of such a list, including its marker, and creates the sink of its page.
 * Returns  like listing_read(). */
enum error listing_page_begin(struct call *call, const struct listing_form *form,
                              struct listing *ret_listing, struct listing_place *ret_from,
                              struct listing_sink **ret_sink);
/* Sets the response. next: start of the next page; name.ptr NULL if none exists. */
void listing_page_answer(struct answer *a, struct listing_sink *sink,
                         const struct listing_place *next);

#endif
