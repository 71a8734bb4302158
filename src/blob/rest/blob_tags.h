/* Index tags as XML and as a header. Internal to blob/. */
#ifndef LAGRA_BLOB_REST_BLOB_TAGS_H
#define LAGRA_BLOB_REST_BLOB_TAGS_H

#include "base/xml.h"
#include "concurrency/tag_expression.h"
#include "service/call.h"

/* Writes encoded tags as <Tags><TagSet>..</TagSet></Tags>. */
void tags_xml(struct text *out, struct bytes tags);
/* Like tags_xml(), but only the tags that the expression names. */
void tags_xml_named(struct text *out, struct bytes tags, const struct tag_expression *where);
/* Parses the document of Set Blob Tags.
 *
 * Returns OK, E_InvalidXmlDocument, or an error of tags_add(). */
enum error tags_read(struct call *call, const struct xml_node *root, struct bytes *ret_tags);
/* Adds a permission on tags to those that the request requires. */
void tags_demand(struct call *call, enum action action);
/* Parses x-ms-tags; *ret_tags.ptr is NULL if it is absent.
 *
 * Returns the results of tags_from_query(). */
enum error tags_from_header(struct call *call, struct bytes *ret_tags);

/* Like tags_from_header(), for a copy: also parses x-ms-copy-source-tag-option.
 *
 * Also returns E_InvalidHeaderValue, E_BothUserTagsAndSourceTagsCopyPresentException. */
enum error tags_of_copy(struct call *call, struct bytes *ret_tags, bool *ret_copies);

#endif
