/* Index tags of a blob: up to ten name-value pairs. Encoded form in records: (bytes name, bytes
 * value)*, in the order sent (base/codec.h); empty if there are no tags. Pure functions.
 * rest: Set-Blob-Tags "Remarks" */
#ifndef LAGRA_CONCURRENCY_TAGS_H
#define LAGRA_CONCURRENCY_TAGS_H

#include "base/codec.h"
#include "base/errors.h"

#define TAGS_MAX      10
#define TAG_NAME_MAX  128
#define TAG_VALUE_MAX 256

struct tag {
    struct bytes name, value;
};
struct tags {
    struct tag items[TAGS_MAX];
    size_t count;
};

/* Returns true if tag names and values may contain the character. */
bool tags_may_have(char c);
/* Adds a tag from a request, without copying it.
 * Returns  OK
 *          E_EmptyTagName
 *          E_TagsTooLarge       more than TAGS_MAX, or longer than the limits
 *          E_InvalidTag         a character that is neither a letter, a digit nor in " +-./:=_"
 *          E_DuplicateTagNames. */
enum error tags_add(struct tags *tags, struct bytes name, struct bytes value);
/* Parses tags in a header: "name=value&name=value", percent-encoded, '+' for a space. Returns OK,
 * E_InvalidTag (malformed), or an error of tags_add(). rest: Put-Blob "x-ms-tags" */
enum error tags_from_query(struct arena *arena, struct bytes text, struct tags *ret_tags);

/* Returns ptr NULL if there are no tags. */
struct bytes tags_encode(struct arena *arena, const struct tags *tags);
/* Decodes tags that point into `encoded`. Returns false if it is malformed. */
bool tags_decode(struct bytes encoded, struct tags *ret_tags);
/* Returns the value of the named tag, or ptr NULL. */
struct bytes tags_value(struct bytes encoded, struct bytes name);
/* Sorts by name in bytewise order, in which the service returns tags (recorded). */
void tags_sort(struct tags *tags);
/* Returns the number of tags in a valid encoded value. */
size_t tags_count(struct bytes encoded);

#endif
