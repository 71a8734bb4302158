/* Index tags as XML and as a header. Inside the blob room only. */
#ifndef LAGRA_BLOB_REST_TAGS_XML_H
#define LAGRA_BLOB_REST_TAGS_XML_H

#include "base/xml.h"
#include "concurrency/tag_expression.h"
#include "service/call.h"

/* <Tags><TagSet>..</TagSet></Tags> of an encoded run. */
void tags_xml(struct text *out, struct bytes tags);
/* As tags_xml(), of the tags alone that the expression names. */
void tags_xml_named(struct text *out, struct bytes tags, const struct tag_expression *where);
/* The document of Set Blob Tags.
 * returns OK, E_InvalidXmlDocument, as tags_add() */
enum error tags_read(struct call *call, const struct xml_node *root, struct bytes *ret_tags);
/* The request reads or writes tags beside what its row is about: who asks needs the right to. */
void tags_demand(struct call *call, enum action action);
/* x-ms-tags; *ret_tags.ptr NULL without it.
 * returns OK, as tags_from_query() */
enum error tags_from_header(struct call *call, struct bytes *ret_tags);

/* As tags_from_header(), of a copy: with x-ms-copy-source-tag-option.
 * returns also E_InvalidHeaderValue, E_BothUserTagsAndSourceTagsCopyPresentException */
enum error tags_of_copy(struct call *call, struct bytes *ret_tags, bool *ret_copies);

#endif
