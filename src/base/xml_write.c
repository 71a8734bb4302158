/* XML out. */
#include "base/xml.h"

void xml_begin(struct text *out)
{
    text_add_string(out, "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?>");
}

void xml_open(struct text *out, const char *name)
{
    text_add_char(out, '<');
    text_add_string(out, name);
    text_add_char(out, '>');
}

void xml_close(struct text *out, const char *name)
{
    text_add_string(out, "</");
    text_add_string(out, name);
    text_add_char(out, '>');
}

/* What stands for c in XML, or NULL when c stands for itself. Of the control characters only tab,
 * line feed and carriage return can be said in XML 1.0 (2.2); names may hold no others. */
static const char *escape_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\t':
        return "&#x9;";
    case '\n':
        return "&#xA;";
    case '\r':
        return "&#xD;";
    default:
        return (unsigned char)c < 0x20 ? "\xEF\xBF\xBD" : NULL; /* U+FFFD */
    }
}

void xml_escape(struct text *out, struct bytes value)
{
    size_t plain_from = 0;

    for (size_t i = 0; i < value.len; i++) {
        const char *escape = escape_of(value.ptr[i]);

        if (!escape)
            continue;
        text_add(out, bytes_of(value.ptr + plain_from, i - plain_from));
        text_add_string(out, escape);
        plain_from = i + 1;
    }
    text_add(out, bytes_from(value, plain_from));
}

void xml_element(struct text *out, const char *name, struct bytes value)
{
    if (value.len == 0) {
        text_add_char(out, '<');
        text_add_string(out, name);
        text_add_string(out, " />");
        return;
    }
    xml_open(out, name);
    xml_escape(out, value);
    xml_close(out, name);
}

void xml_element_string(struct text *out, const char *name, const char *value)
{
    xml_element(out, name, bytes_from_string(value));
}

void xml_element_u64(struct text *out, const char *name, uint64_t value)
{
    xml_open(out, name);
    text_add_u64(out, value);
    xml_close(out, name);
}
