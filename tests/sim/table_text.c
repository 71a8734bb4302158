/* See table_text.h. */
#include "table_text.h"

#include "table_value.h"

void table_add_escaped(struct text *text, const char *from)
{
    for (; *from; from++) {
        unsigned char c = (unsigned char)*from;

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
            text_add_char(text, (char)c);
        else
            text_printf(text, "%%%02X", c);
    }
}

void table_add_literal(struct text *text, const char *key)
{
    text_add_char(text, '\'');
    for (; *key; key++) {
        if (*key == '\'')
            text_add_char(text, '\'');
        text_add_char(text, *key);
    }
    text_add_char(text, '\'');
}

const char *table_partition_of(unsigned place)
{
    return table_partitions[place / TABLE_ROWS];
}

const char *table_row_of(unsigned place)
{
    return table_rows[place % TABLE_ROWS];
}

void table_add_filter(struct text *filter, const struct table_query *query)
{
    static char value[TABLE_VALUE_SIZE];
    const char *partition = table_partition_of(query->place), *row = table_row_of(query->place);

    table_value_literal(query->value, value);
    switch ((int)query->filter) {
    case FILTER_PARTITION:
    case FILTER_PARTITION_FROM:
        text_add_string(filter, "PartitionKey eq ");
        table_add_literal(filter, partition);
        if (query->filter == FILTER_PARTITION)
            break;
        text_add_string(filter, " and RowKey ge ");
        table_add_literal(filter, row);
        break;
    case FILTER_RECTANGLE:
        text_add_string(filter, "PartitionKey ge ");
        table_add_literal(filter, partition);
        text_add_string(filter, " and RowKey lt ");
        table_add_literal(filter, row);
        break;
    case FILTER_VALUE:
        text_printf(filter, "A eq %s", value);
        break;
    case FILTER_NOT_VALUE:
        text_printf(filter, "not (A eq %s)", value);
        break;
    case FILTER_ABOVE:
        text_printf(filter, "A gt %u", query->value);
        break;
    case FILTER_TWO:
        for (unsigned i = 0; i < 2; i++) {
            unsigned place = i == 0 ? query->place : query->other;

            text_add_string(filter, i == 0 ? "(PartitionKey eq " : " or (PartitionKey eq ");
            table_add_literal(filter, table_partition_of(place));
            text_add_string(filter, " and RowKey eq ");
            table_add_literal(filter, table_row_of(place));
            text_add_char(filter, ')');
        }
        break;
    case FILTER_ROW:
        text_add_string(filter, "RowKey eq ");
        table_add_literal(filter, row);
        break;
    case FILTER_NOT_ROW:
        text_add_string(filter, "RowKey ne ");
        table_add_literal(filter, row);
        break;
    case FILTER_NOT_PARTITION:
        text_add_string(filter, "PartitionKey ne ");
        table_add_literal(filter, partition);
        break;
    case FILTER_ORDER:
        text_printf(filter, "A %s %s", table_operators[query->operator], value);
        break;
    case FILTER_BEHIND:
        text_add_string(filter, "PartitionKey gt ");
        table_add_literal(filter, partition);
        break;
    default:
        break;
    }
    text_add_char(filter, '\0');
}
