/* See name_pattern.h: all places of the pattern that the name until here may have come to, one character of
 * the name after the other. */
#include "file/name_pattern.h"

#include <assert.h>

#include "tree/path.h"

/* UTF-8 of a name has at most three bytes for each UTF-16 unit; so has its upper case. */
#define KEY_MAX (3u * TREE_NAME_MAX)

static const char wildcards[] = "*?<>\"";

static size_t literal_length(struct bytes text)
{
    size_t length = 0;

    while (length < text.len && (text.ptr[length] == 0 || !strchr(wildcards, text.ptr[length])))
        length++;
    return length;
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
    return name.key.len <= KEY_MAX;
}

/* The bytes of the character at `at`; of what is not UTF-8: one. */
static size_t character_size(struct bytes text, size_t at)
{
    size_t size = 1;

    while (at + size < text.len && ((unsigned char)text.ptr[at + size] & 0xC0) == 0x80)
        size++;
    return size;
}

/* May the rest of the pattern be nothing? */
static bool may_end(struct bytes pattern)
{
    for (size_t i = 0; i < pattern.len; i++)
        if (pattern.ptr[i] == 0 || !strchr("*<>\"", pattern.ptr[i]))
            return false;
    return true;
}

/* A name, character by character. */
struct matching {
    struct bytes pattern, name;
    size_t last_dot;                         /* of the name; its length: none */
    bool at[KEY_MAX + 1], next[KEY_MAX + 1]; /* places of the pattern */
};

/* Goes on from one place of the pattern with the character of the name at `i`. Places behind it are looked at
 * after it, so what it reaches without taking the character is looked at too. */
static void step(struct matching *m, size_t place, size_t i)
{
    size_t size = character_size(m->name, i);
    char c = m->name.ptr[i], p;

    if (place == m->pattern.len)
        return;
    p = m->pattern.ptr[place];
    if (p == '*' || p == '<') {
        m->at[place + 1] = true;
        m->next[p == '<' && i == m->last_dot ? place + 1 : place] = true;
    } else if (p == '>' && c == '.') {
        m->at[place + 1] = true;
        if (i + 1 == m->name.len && may_end(bytes_from(m->pattern, place + 1)))
            m->next[m->pattern.len] = true;
    } else if (p == '?' || p == '>') {
        m->next[place + 1] = true;
    } else if (p == '"') {
        m->next[place + 1] |= c == '.';
    } else if (size == character_size(m->pattern, place) &&
               memcmp(m->pattern.ptr + place, m->name.ptr + i, size) == 0) {
        m->next[place + size] = true;
    }
}

bool name_pattern_matches(const struct name_pattern *pattern, struct bytes key)
{
    struct matching m = { .pattern = pattern->key, .name = key, .last_dot = key.len };

    if (pattern->matches_all)
        return true;
    if (pattern->is_name)
        return bytes_equal(pattern->key, key);
    assert(pattern->key.len <= KEY_MAX);
    for (size_t i = 0; i < key.len; i++)
        if (key.ptr[i] == '.')
            m.last_dot = i;
    m.at[0] = true;
    for (size_t i = 0; i < key.len; i += character_size(key, i)) {
        memset(m.next, 0, sizeof m.next);
        for (size_t place = 0; place <= m.pattern.len; place++)
            if (m.at[place])
                step(&m, place, i);
        memcpy(m.at, m.next, sizeof m.at);
    }
    for (size_t place = 0; place <= m.pattern.len; place++)
        if (m.at[place] && may_end(bytes_from(m.pattern, place)))
            return true;
    return false;
}
