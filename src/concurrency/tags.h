/* Index tags of a blob: up to ten names with a value each. Encoded, as a record keeps them: (bytes
 * name, bytes value)*, in the order sent (base/codec.h); no tags: nothing. Pure functions.
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

/* May a name or a value have this character? */
bool tags_may_have(char c);
/* Adds a tag that came from outside; it stays the caller's memory.
 * returns  OK
 *          E_EmptyTagName
 *          E_TagsTooLarge       more than TAGS_MAX, or longer than the limits
 *          E_InvalidTag         a character that is neither a letter, a digit nor in " +-./:=_"
 *          E_DuplicateTagNames */
enum error tags_add(struct tags *tags, struct bytes name, struct bytes value);
/* Tags as HTTP has them: "name=value&name=value", percent-encoded, '+' for a blank.
 * rest: Put-Blob "x-ms-tags"
 * returns  OK, E_InvalidTag (not of that form), as tags_add() */
enum error tags_from_query(struct arena *arena, struct bytes text, struct tags *ret_tags);

/* ptr NULL: none. */
struct bytes tags_encode(struct arena *arena, const struct tags *tags);
/* Points into `encoded`. False: not what tags_encode() made. */
bool tags_decode(struct bytes encoded, struct tags *ret_tags);
/* Value of the tag of that name; ptr NULL: none. */
struct bytes tags_value(struct bytes encoded, struct bytes name);
/* Sorts by name, in the order of bytes, as the service returns tags (recorded). */
void tags_sort(struct tags *tags);
/* How many; of an encoded run that tags_decode() takes. */
size_t tags_count(struct bytes encoded);

#endif
