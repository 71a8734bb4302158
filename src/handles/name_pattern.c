/* Name patterns as nondeterministic automata. The states are the pattern's positions, so a set
 * of states is four 64-bit words. */
#include "handles/name_pattern.h"

#include <stdlib.h>

#include "tree/path.h"

_Static_assert(TREE_NAME_MAX < 64 * PATTERN_WORDS, "a position for each character, and the end");

static const char wildcards[] = "*?<>\"";

static size_t literal_length(struct bytes text)
{
    size_t length = 0;

    while (length < text.len && (text.ptr[length] == 0 || !strchr(wildcards, text.ptr[length])))
        length++;
    return length;
}

/* Returns the size of the character at `at`, or 1 if it is not UTF-8. */
static size_t character_size(struct bytes text, size_t at)
{
    size_t size = 1;

    while (at + size < text.len && ((unsigned char)text.ptr[at + size] & 0xC0) == 0x80)
        size++;
    return size;
}

/* Returns a code for a character, distinct for distinct characters: its bytes as a number. */
static uint64_t character_code(struct bytes text, size_t at, size_t size)
{
    uint64_t code = 0;

    for (size_t i = 0; i < size && i < sizeof code; i++)
        code = code << 8 | (unsigned char)text.ptr[at + i];
    return code;
}

/* ---- sets ---- */

static void set_add(struct pattern_set *set, size_t position)
{
    set->words[position / 64] |= 1ull << position % 64;
}

static bool sets_meet(const struct pattern_set *a, const struct pattern_set *b)
{
    uint64_t both = 0;

    for (size_t i = 0; i < PATTERN_WORDS; i++)
        both |= a->words[i] & b->words[i];
    return both != 0;
}

/* Adds the positions that are in both `at` and `of` to `to`. */
static void set_stay(struct pattern_set *to, const struct pattern_set *at,
                     const struct pattern_set *of)
{
    for (size_t i = 0; i < PATTERN_WORDS; i++)
        to->words[i] |= at->words[i] & of->words[i];
}

/* Like set_stay(), with each position advanced by one. */
static void set_advance(struct pattern_set *to, const struct pattern_set *at,
                        const struct pattern_set *of)
{
    uint64_t carry = 0;

    for (size_t i = 0; i < PATTERN_WORDS; i++) {
        uint64_t both = at->words[i] & of->words[i];

        to->words[i] |= both << 1 | carry;
        carry = both >> 63;
    }
}

/* Adds the positions that can be reached from `at` without consuming a character, that is, through
 * runs of positions in `skips`. Adding the lowest bit of `at` within a run makes the carry set the
 * rest of the run. */
static void set_skip(struct pattern_set *at, const struct pattern_set *skips)
{
    uint64_t carry = 0;

    for (size_t i = 0; i < PATTERN_WORDS; i++) {
        uint64_t run = skips->words[i], from = at->words[i] & run, sum = 0;
        bool overflows = __builtin_add_overflow(run, from, &sum);

        overflows |= __builtin_add_overflow(sum, carry, &sum);
        carry = overflows;
        at->words[i] |= (sum ^ run) | from;
    }
}

/* ---- the pattern ---- */

struct pattern_character {
    uint64_t code;
    struct pattern_set at;
};

static int compare_characters(const void *a, const void *b)
{
    uint64_t x = ((const struct pattern_character *)a)->code;
    uint64_t y = ((const struct pattern_character *)b)->code;

    return (x > y) - (x < y);
}

/* Returns the set of the wildcard's kind, or NULL for a literal character. */
static struct pattern_set *set_of(struct name_pattern *pattern, char c)
{
    switch (c) {
    case '*':
        return &pattern->stars;
    case '<':
        return &pattern->stars_to_dot;
    case '>':
        return &pattern->one_or_dot;
    case '?':
        return &pattern->ones;
    case '"':
        return &pattern->dots;
    default:
        return NULL;
    }
}

/* Sorts the literal characters and merges the positions of equal ones. */
static void merge_characters(struct name_pattern *pattern, struct pattern_character *all,
                             size_t count)
{
    size_t kept = 0;

    qsort(all, count, sizeof *all, compare_characters);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && all[kept - 1].code == all[i].code)
            set_stay(&all[kept - 1].at, &all[i].at, &all[i].at);
        else
            all[kept++] = all[i];
    }
    pattern->characters = all;
    pattern->character_count = kept;
}

/* Finds the positions followed only by wildcards that can match nothing. */
static void find_ends(struct name_pattern *pattern)
{
    set_add(&pattern->may_end, pattern->length);
    for (size_t i = pattern->length; i-- > 0;) {
        struct pattern_set here = { { 0 } };

        set_add(&here, i);
        if (!sets_meet(&here, &pattern->stars) && !sets_meet(&here, &pattern->stars_to_dot) &&
            !sets_meet(&here, &pattern->one_or_dot) && !sets_meet(&here, &pattern->dots))
            return;
        set_add(&pattern->may_end, i);
    }
}

/* Fills in the position sets. Returns false if the pattern is longer than any name. */
static bool compile(struct arena *arena, struct name_pattern *pattern)
{
    struct pattern_character *all = arena_array(arena, TREE_NAME_MAX, sizeof *all);
    struct bytes key = pattern->key;
    size_t literals = 0;

    for (size_t at = 0; at < key.len; pattern->length++) {
        size_t size = character_size(key, at);
        struct pattern_set *set = set_of(pattern, key.ptr[at]);

        if (pattern->length == TREE_NAME_MAX)
            return false;
        if (!set) {
            all[literals].code = character_code(key, at, size);
            set = &all[literals++].at;
        }
        set_add(set, pattern->length);
        at += size;
    }
    merge_characters(pattern, all, literals);
    find_ends(pattern);
    return true;
}

bool name_pattern_parse(struct arena *arena, struct bytes text, struct name_pattern *ret_pattern)
{
    struct tree_name name;
    size_t literal = literal_length(text);

    *ret_pattern = (struct name_pattern){ .matches_all = text.len == 0 || bytes_is(text, "*") };
    if (ret_pattern->matches_all)
        return true;
    if (bytes_is(text, ".") || bytes_is(text, "..")) {
        ret_pattern->is_name = true;
        ret_pattern->key = ret_pattern->prefix = text;
        return true;
    }
    if (tree_name_parse(arena, TREE_CASE_IGNORED, text, &name) != TREE_PATH_OK)
        return false;
    ret_pattern->is_name = literal == text.len;
    ret_pattern->key = name.key;
    ret_pattern->prefix = bytes_of(text.ptr, literal);
    return ret_pattern->is_name || compile(arena, ret_pattern);
}

/* ---- matching ---- */

static const struct pattern_set nowhere = { { 0 } };

/* Returns the positions of a character in the pattern. */
static const struct pattern_set *positions_of(const struct name_pattern *pattern, uint64_t code)
{
    const struct pattern_character wanted = { .code = code };
    const struct pattern_character *found = bsearch(
        &wanted, pattern->characters, pattern->character_count, sizeof wanted, compare_characters);

    return found ? &found->at : &nowhere;
}

/* Returns true if DOS_QM can match the dot at the end of the name and the rest of the pattern can
 * match nothing. */
static bool ends_at_dot(const struct name_pattern *pattern, const struct pattern_set *at)
{
    struct pattern_set after = nowhere;

    set_advance(&after, at, &pattern->one_or_dot);
    return sets_meet(&after, &pattern->may_end);
}

bool name_pattern_matches(const struct name_pattern *pattern, struct bytes key)
{
    struct pattern_set at = { { 1 } };
    size_t last_dot = key.len;

    if (pattern->matches_all)
        return true;
    if (pattern->is_name)
        return bytes_equal(pattern->key, key);
    for (size_t i = 0; i < key.len; i++)
        if (key.ptr[i] == '.')
            last_dot = i;
    for (size_t i = 0, size; i < key.len; i += size) {
        struct pattern_set skips = pattern->stars, next = nowhere;
        bool is_dot = key.ptr[i] == '.';

        size = character_size(key, i);
        set_stay(&skips, &pattern->stars_to_dot, &pattern->stars_to_dot);
        if (is_dot)
            set_stay(&skips, &pattern->one_or_dot, &pattern->one_or_dot);
        set_skip(&at, &skips);
        set_stay(&next, &at, &pattern->stars);
        if (i == last_dot)
            set_advance(&next, &at, &pattern->stars_to_dot);
        else
            set_stay(&next, &at, &pattern->stars_to_dot);
        set_advance(&next, &at, &pattern->ones);
        set_advance(&next, &at, is_dot ? &pattern->dots : &pattern->one_or_dot);
        set_advance(&next, &at, positions_of(pattern, character_code(key, i, size)));
        if (is_dot && i + 1 == key.len && ends_at_dot(pattern, &at))
            set_add(&next, pattern->length);
        at = next;
    }
    return sets_meet(&at, &pattern->may_end);
}
