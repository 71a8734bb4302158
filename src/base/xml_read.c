/* XML input: expat builds a small tree in an arena. A document type declaration stops the parser at
 * once, so there are no entities to expand and nothing external to fetch. */
#include "base/xml.h"

#include <assert.h>
#include <expat.h>
#include <limits.h>

#include "base/ids.h"

#define DEPTH_LIMIT   64
/* Version of expat. Debian 13 has newer functions and deprecates those of Debian 12. */
#define EXPAT_VERSION (100 * XML_MAJOR_VERSION + XML_MINOR_VERSION)

/* An open element. */
struct frame {
    struct xml_node *node;
    struct xml_node *last_child;
    struct text text;
};

struct building {
    struct arena *arena;
    struct xml_limits limits;
    XML_Parser parser;
    struct xml_node *root;
    struct frame *open; /* array of DEPTH_LIMIT */
    size_t depth;
    size_t node_count;
    size_t ended_count;
    const char *refused; /* reason why we stopped the parser (static), or NULL */
};

static void refuse(struct building *b, const char *reason)
{
    if (!b->refused)
        b->refused = reason;
    XML_StopParser(b->parser, XML_FALSE);
}

static void XMLCALL on_doctype(void *data, const XML_Char *name, const XML_Char *system_id,
                               const XML_Char *public_id, int has_internal_subset)
{
    (void)name;
    (void)system_id;
    (void)public_id;
    (void)has_internal_subset;
    refuse(data, "document type declarations are not allowed");
}

static void XMLCALL on_start(void *data, const XML_Char *name, const XML_Char **attributes)
{
    struct building *b = data;
    struct xml_node *node;
    struct frame *parent;

    (void)attributes;
    if (b->refused)
        return;
    if (b->depth == b->limits.depth_max) {
        refuse(b, "too deeply nested");
        return;
    }
    if (b->node_count == b->limits.nodes_max) {
        refuse(b, "too many elements");
        return;
    }
    b->node_count++;
    node = arena_alloc(b->arena, sizeof *node);
    node->name = arena_copy(b->arena, bytes_from_string(name));
    node->text = bytes_of("", 0);
    if (b->depth == 0) {
        b->root = node;
    } else {
        parent = &b->open[b->depth - 1];
        if (parent->last_child)
            parent->last_child->next = node;
        else
            parent->node->first_child = node;
        parent->last_child = node;
    }
    b->open[b->depth++] = (struct frame){ .node = node };
}

static void XMLCALL on_text(void *data, const XML_Char *characters, int len)
{
    struct building *b = data;
    struct frame *frame;

    if (b->refused || b->depth == 0)
        return;
    frame = &b->open[b->depth - 1];
    if (!frame->text.ptr)
        text_init(&frame->text, b->arena, (size_t)len);
    text_add(&frame->text, bytes_of(characters, (size_t)len));
}

static void XMLCALL on_end(void *data, const XML_Char *name)
{
    struct building *b = data;
    struct frame *frame;

    (void)name;
    if (b->refused)
        return;
    assert(b->depth > 0);
    frame = &b->open[--b->depth];
    frame->node->ended = ++b->ended_count;
    if (frame->text.ptr)
        frame->node->text = text_bytes(&frame->text);
    if (b->depth == 0) /* the end event of an empty-element tag has no bytes */
        b->root->is_empty_tag = XML_GetCurrentByteCount(b->parser) == 0;
}

/* Sets a hash salt, so that names cannot be chosen to collide in expat's hash table. Without one,
 * expat would get a salt from the kernel and the environment for each document. The salt is never
 * 0, which expat would take to mean none, because a GUID contains a version. */
static void set_salt(XML_Parser parser)
{
    struct guid random = guid_new();
#if EXPAT_VERSION >= 208
    XML_SetHashSalt16Bytes(parser, random.b);
#else
    unsigned long salt;

    memcpy(&salt, random.b, sizeof salt);
    XML_SetHashSalt(parser, salt);
#endif
}

static XML_Parser new_parser(void)
{
    XML_Parser parser = XML_ParserCreate(NULL);

    if (!parser)
        out_of_memory(sizeof(void *));
    set_salt(parser);
    return parser;
}

static unsigned long line_of(XML_Parser parser)
{
#if EXPAT_VERSION >= 209
    return XML_GetCurrentLineNumber64(parser);
#else
    return XML_GetCurrentLineNumber(parser);
#endif
}

static unsigned long column_of(XML_Parser parser)
{
#if EXPAT_VERSION >= 209
    return XML_GetCurrentColumnNumber64(parser);
#else
    return XML_GetCurrentColumnNumber(parser);
#endif
}

static void tell_error(const struct building *b, struct xml_error *ret_error)
{
    ret_error->line = line_of(b->parser);
    ret_error->position = column_of(b->parser) + 1;
    ret_error->reason = b->refused ? b->refused : XML_ErrorString(XML_GetErrorCode(b->parser));
}

struct xml_node *xml_parse(struct arena *arena, struct bytes document, struct xml_limits limits,
                           struct xml_error *ret_error)
{
    struct frame open[DEPTH_LIMIT];
    struct building b = { .arena = arena, .limits = limits, .parser = new_parser(), .open = open };

    assert(limits.depth_max <= DEPTH_LIMIT && document.len <= INT_MAX);
    XML_SetUserData(b.parser, &b);
    XML_SetStartDoctypeDeclHandler(b.parser, on_doctype);
    XML_SetElementHandler(b.parser, on_start, on_end);
    XML_SetCharacterDataHandler(b.parser, on_text);
    if (XML_Parse(b.parser, document.ptr ? document.ptr : "", (int)document.len, XML_TRUE) !=
        XML_STATUS_OK) {
        tell_error(&b, ret_error);
        b.root = NULL;
    }
    XML_ParserFree(b.parser);
    return b.root;
}

struct finding {
    XML_Parser parser;
    size_t ends_left; /* number of elements that end before the requested one */
    unsigned long line, position;
};

static void XMLCALL on_end_passed(void *data, const XML_Char *name)
{
    struct finding *f = data;

    (void)name;
    if (f->ends_left == 0 || --f->ends_left > 0)
        return;
    f->line = line_of(f->parser);
    f->position = column_of(f->parser) + sizeof "</";
    XML_StopParser(f->parser, XML_FALSE);
}

void xml_find_end(struct bytes document, const struct xml_node *node, unsigned long *ret_line,
                  unsigned long *ret_position)
{
    struct finding f = { .parser = new_parser(), .ends_left = node->ended };

    XML_SetUserData(f.parser, &f);
    XML_SetEndElementHandler(f.parser, on_end_passed);
    (void)XML_Parse(f.parser, document.ptr, (int)document.len, XML_TRUE);
    assert(f.ends_left == 0); /* the document was parsed successfully before */
    *ret_line = f.line;
    *ret_position = f.position;
    XML_ParserFree(f.parser);
}

struct xml_node *xml_child(const struct xml_node *node, const char *name)
{
    for (struct xml_node *child = node->first_child; child; child = child->next)
        if (bytes_is(child->name, name))
            return child;
    return NULL;
}
