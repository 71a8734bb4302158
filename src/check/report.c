/* Output of `lagra check`: see report.h. */
#include "check/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/visible.h"
#include "base/progress.h"

#define SENTENCE_MAX ((size_t)1 << 20)

static struct {
    bool json;
    bool shows; /* set if progress is shown */
    struct progress progress;
    struct progress_count count;
    struct arena *arena; /* contains the unfinished sentence, or NULL */
    struct text sentence;
} said;

static struct text *sentence(void)
{
    if (!said.arena) {
        said.arena = arena_new(SENTENCE_MAX);
        text_init(&said.sentence, said.arena, 256);
    }
    return &said.sentence;
}

void check_report_begin(bool json)
{
    said.json = json;
    said.shows = json || isatty(STDERR_FILENO);
    said.count = (struct progress_count){ 0 };
    progress_begin(&said.progress, "records", json);
}

/* ---- sentences ---- */

static void add(const char *format, va_list arguments)
{
    char *part;

    if (vasprintf(&part, format, arguments) < 0)
        return;
    text_add(sentence(), bytes_from_string(part));
    free(part);
}

void check_report_part(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add(format, arguments);
    va_end(arguments);
}

void check_report_name(struct bytes name)
{
    struct text *to = sentence();

    text_add(to, visible_text(said.arena, name));
}

static void print_json(const char *member, struct bytes words)
{
    struct arena *arena = arena_new(json_memory_max(words));
    struct text line;
    struct json_writer writer = { .to = &line };

    text_init(&line, arena, words.len + 64);
    json_write_begin(&writer, '{');
    json_write_member(&writer, member, words);
    json_write_end(&writer, '}');
    printf("%.*s\n", BYTES_ARG(text_bytes(&line)));
    arena_free(arena);
}

void check_report(enum check_finding kind, const char *format, ...)
{
    static const struct {
        const char *member, *word;
    } kinds[] = {
        [FINDING_DAMAGED] = { "damaged", "damaged" },
        [FINDING_LOST] = { "lost", "lost" },
        [FINDING_ADOPTED] = { "found", "found" },
        [FINDING_TASK] = { "putOff", "put off" },
        [FINDING_UNREACHABLE] = { "unreachable", "unreachable" },
    };
    va_list arguments;
    struct bytes words;

    va_start(arguments, format);
    add(format, arguments);
    va_end(arguments);
    words = text_bytes(sentence());
    if (said.shows)
        progress_end(&said.progress);
    if (said.json)
        print_json(kinds[kind].member, words);
    else
        printf("%-8s %.*s\n", kinds[kind].word, BYTES_ARG(words));
    arena_free(said.arena);
    said.arena = NULL;
}

/* ---- progress ---- */

static void show(void)
{
    if (said.shows)
        progress_show(&said.progress, &said.count);
}

void check_report_record(void)
{
    said.count.items++;
    show();
}

void check_report_bytes(uint64_t bytes)
{
    said.count.bytes += bytes;
    show();
}

void check_report_second_pass(uint64_t bytes)
{
    said.count = (struct progress_count){ .items_total = said.count.items, .bytes_total = bytes };
    if (said.shows)
        progress_end(&said.progress);
}

static void print_totals_json(const struct check_total *totals, size_t count, uint64_t findings)
{
    printf("{");
    for (size_t i = 0; i < count; i++)
        printf("\"%s\":%" PRIu64 ",\"%s\":%" PRIu64 ",", totals[i].what, totals[i].count,
               totals[i].in, totals[i].in_count);
    printf("\"damagedOrLost\":%" PRIu64 "}\n", findings);
}

void check_report_totals(const struct check_total *totals, size_t count, uint64_t findings)
{
    if (said.shows)
        progress_end(&said.progress);
    if (said.json) {
        print_totals_json(totals, count, findings);
        return;
    }
    for (size_t i = 0; i < count; i++)
        printf("%" PRIu64 " %s in %" PRIu64 " %s%s", totals[i].count, totals[i].what,
               totals[i].in_count, totals[i].in, i + 1 < count ? ", " : "");
    printf("; damaged or lost: %" PRIu64 "\n", findings);
}
