/* XML output: writes elements to a growing text. XML input: a small tree in an arena, parsed with
 * expat; no DTD, no entities except the predefined five, nothing external. Thread-safe (each object
 * belongs to one thread). */
#ifndef LAGRA_BASE_XML_H
#define LAGRA_BASE_XML_H

#include "base/arena.h"
#include "base/dates.h"

/* Writes a UTF-8 byte order mark and `<?xml version="1.0" encoding="utf-8"?>`, like the real
 * service. */
void xml_begin(struct text *out);
/* Write "<name>" and "</name>"; the name passed to xml_open() may include attributes. */
void xml_open(struct text *out, const char *name);
void xml_close(struct text *out, const char *name);
/* Writes <name>escaped value</name>, or <name /> for an empty value, as Azure does. */
void xml_element(struct text *out, const char *name, struct bytes value);
void xml_element_string(struct text *out, const char *name, const char *value);
void xml_element_u64(struct text *out, const char *name, uint64_t value);
/* Write the date like instant_format_http(), and like instant_format_iso(). */
void xml_element_http_date(struct text *out, const char *name, instant date);
void xml_element_iso_date(struct text *out, const char *name, instant date);
/* Writes character data, or an attribute value without line feeds, escaping & < > ". The output is
 * well-formed for any input: characters that XML cannot represent become U+FFFD, and a value that
 * is not UTF-8 is treated as Latin-1. */
void xml_escape(struct text *out, struct bytes value);

struct xml_node {
    struct bytes name;
    struct bytes text; /* concatenated character data directly inside the element */
    struct xml_node *first_child;
    struct xml_node *next; /* sibling */
    /* number of elements of the document that have ended, including this one */
    size_t ended;
    bool is_empty_tag; /* root only: the document is <root /> */
};

struct xml_limits {
    size_t depth_max;
    size_t nodes_max;
};

struct xml_error {
    unsigned long line; /* 1-based, like LineNumber in InvalidXmlDocument */
    unsigned long position;
    const char *reason; /* static text */
};

/* Parses an entire document, with an optional byte order mark. Returns NULL and fills *ret_error if
 * it is not well-formed or exceeds a limit. */
struct xml_node *xml_parse(struct arena *arena, struct bytes document, struct xml_limits limits,
                           struct xml_error *ret_error);
/* Finds the position of the name in an element's end tag. The service reports this position for a
 * fault in the element (recorded). Parses the document again, because counting lines during the
 * first parse would cost as much. */
void xml_find_end(struct bytes document, const struct xml_node *node, unsigned long *ret_line,
                  unsigned long *ret_position);
/* Returns the first child with that name, or NULL. */
struct xml_node *xml_child(const struct xml_node *node, const char *name);

#endif
