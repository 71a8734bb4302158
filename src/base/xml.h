/* XML out: a writer of elements into a growing text. XML in: a small tree in an arena, read with
 * expat; no DTD, no entity beyond the five, no external anything.
 * Any thread (each object belongs to one). */
#ifndef LAGRA_BASE_XML_H
#define LAGRA_BASE_XML_H

#include "base/arena.h"

/* UTF-8 byte order mark and `<?xml version="1.0" encoding="utf-8"?>`, as the real service sends. */
void xml_begin(struct text *out);
/* "<name>" and "</name>": name may hold attributes for open. */
void xml_open(struct text *out, const char *name);
void xml_close(struct text *out, const char *name);
/* <name>escaped value</name>; for an empty value <name />, as Azure writes it. */
void xml_element(struct text *out, const char *name, struct bytes value);
void xml_element_string(struct text *out, const char *name, const char *value);
void xml_element_u64(struct text *out, const char *name, uint64_t value);
/* As character data, or attribute value without line feeds: & < > " escaped. Whatever the bytes
 * are, what comes out is well-formed: what XML cannot say becomes U+FFFD, and a value that is no
 * UTF-8 is taken as Latin-1. */
void xml_escape(struct text *out, struct bytes value);

struct xml_node {
    struct bytes name;
    struct bytes text; /* all character data directly inside, concatenated */
    struct xml_node *first_child;
    struct xml_node *next; /* sibling */
    size_t ended;          /* elements of the document that have ended with its end */
    bool is_empty_tag;     /* of the root only: the document has <root /> */
};

struct xml_limits {
    size_t depth_max;
    size_t nodes_max;
};

struct xml_error {
    unsigned long line; /* 1-based, as InvalidXmlDocument's LineNumber */
    unsigned long position;
    const char *reason; /* static text */
};

/* Parses a whole document. Returns NULL and fills *ret_error when it is not well-formed or exceeds
 * a limit. Leading byte order mark allowed. */
struct xml_node *xml_parse(struct arena *arena, struct bytes document, struct xml_limits limits,
                           struct xml_error *ret_error);
/* Where the name in an element's end tag lies, from 1: there the service says that a fault in it is
 * (recorded). Parses the document again: counting lines while it is parsed costs as much as that. */
void xml_find_end(struct bytes document, const struct xml_node *node, unsigned long *ret_line,
                  unsigned long *ret_position);
/* First child of that name, or NULL. */
struct xml_node *xml_child(const struct xml_node *node, const char *name);

#endif
