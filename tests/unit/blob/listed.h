/* Reading the XML of listings in tests: as a tree (so that it is seen to be well-formed), in
 * short. */
#ifndef LAGRA_TESTS_UNIT_BLOB_LISTED_H
#define LAGRA_TESTS_UNIT_BLOB_LISTED_H

#include "fixture.h"

#include "base/xml.h"

/* The document of an answer 200; its root has this name. */
const struct xml_node *document(struct fixture *f, struct reply answer, const char *root);
/* The entries of a listing in order, with blanks between: a blob or container as its name, a
 * snapshot as "name@", a prefix as "[name]"; then "..." when there is a NextMarker. */
const char *listed(struct fixture *f, struct reply answer);
/* NextMarker, ready for a URL; ptr "" when there is none. */
const char *next_marker(struct fixture *f, struct reply answer);
/* Text of the first element of this name anywhere, in document order; NULL when there is none. */
const char *first_text(struct fixture *f, struct reply answer, const char *element);
/* The body with each date as D, each ETag as E (quotes kept) and each snapshot as S. */
const char *normal(struct fixture *f, struct reply answer);

#endif
