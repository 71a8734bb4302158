/* Prints the value of each option and where it was set; see option_sources.h. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/option_sources.h"

#define VALUE_MAX   32u
#define PRINTED_MAX ((size_t)16 << 20)

/* Returns an option's value as text. of_number: buffer for the text of numbers */
static const char *value_text(const struct option_row *row, const struct option_setting *setting,
                              const struct options *options, char of_number[VALUE_MAX])
{
    const char *member = (const char *)options + row->offset;
    const char *text = setting->value ? setting->value : setting->origin ? "true" : "";
    const struct listen_options *listen;
    bool is_on;

    switch (row->action) {
    case SET_TEXT:
    case SET_FILE:
    case SET_LOG:
    case CONFIG:
        memcpy(&text, member, sizeof text);
        return text ? text : "";
    case SET_SECRET:
        return setting->origin ? "(not shown)" : "";
    case SET_PORT:
        snprintf(of_number, VALUE_MAX, "%u", *(const uint16_t *)(const void *)member);
        return of_number;
    case SET_COUNT:
        snprintf(of_number, VALUE_MAX, "%u", *(const unsigned *)(const void *)member);
        return strcmp(of_number, "0") == 0 ? "" : of_number;
    case SET_DURATION:
        snprintf(of_number, VALUE_MAX, "%ums", *(const unsigned *)(const void *)member);
        return strcmp(of_number, "0ms") == 0 ? "" : of_number;
    case SET_TRUE:
    case SET_FALSE:
        is_on = *(const bool *)(const void *)member == (row->action == SET_TRUE);
        return is_on ? "true" : "false";
    case MANAGEMENT_PORT:
        listen = (const struct listen_options *)(const void *)member;
        snprintf(of_number, VALUE_MAX, "%u", listen->port);
        return listen->wanted && listen->port == 0 ? "any" : listen->wanted ? of_number : "0";
    case CONSOLE:
        return console_modes[*(const enum console_mode *)(const void *)member];
    case SET_ADDRESSES:
    case IGNORE:
    case MEMORY_LIMIT:
    case OAUTH:
    case SANDBOX:
    case HELP:
    case VERSION:
        break;
    }
    return text;
}

/* Calls show() with each option, its value and its origin. */
static void each_setting(const struct option_settings *settings, const struct options *options,
                         void (*show)(void *context, const char *name, const char *value,
                                      const char *named),
                         void *context)
{
    for (size_t i = 0; i < option_row_count; i++) {
        char named[SETTING_DESCRIPTION_MAX];
        char of_number[VALUE_MAX];

        if (!option_row_is_setting(&option_rows[i]))
            continue;
        setting_describe(settings, i, named);
        show(context, option_rows[i].name,
             value_text(&option_rows[i], &settings->of[i], options, of_number),
             named[0] ? named : "default");
    }
}

static void write_setting(void *context, const char *name, const char *value, const char *named)
{
    struct json_writer *to = context;

    json_write_begin(to, '{');
    json_write_member(to, "name", bytes_from_string(name));
    json_write_member(to, "value", bytes_from_string(value));
    json_write_member(to, "setBy", bytes_from_string(named));
    json_write_end(to, '}');
}

void settings_write(const struct option_settings *settings, const struct options *options,
                    struct json_writer *to)
{
    json_write_begin(to, '[');
    each_setting(settings, options, write_setting, to);
    json_write_end(to, ']');
}

static void print_setting(void *context, const char *name, const char *value, const char *named)
{
    (void)context;
    printf("%-26s %-26s %s\n", name, value, named);
}

static void print_json(const struct option_settings *settings, const struct options *options)
{
    struct arena *arena = arena_new(PRINTED_MAX);
    struct text list;
    struct json_writer writer = { .to = &list };

    text_init(&list, arena, 4096);
    settings_write(settings, options, &writer);
    printf("%.*s\n", BYTES_ARG(text_bytes(&list)));
    arena_free(arena);
}

void settings_print(const struct option_settings *settings, const struct options *options,
                    bool json)
{
    if (json)
        print_json(settings, options);
    else
        each_setting(settings, options, print_setting, NULL);
}
