#!/usr/bin/env node
// Holds every reply of the whole test run against the operation tables: check.mjs [LOG]
//
// Test builds of Lagra write a line a reply to LAGRA_REPLY_LOG (src/request/control.c). Here each
// line is compared with its row of `lagra operations --json` and with `lagra errors --json`:
//
//   - a success has a status of the row; ETag and Last-Modified are there exactly as the row says
//     (the Table service has no Last-Modified)
//   - an error has x-ms-error-code since version 2017-07-29, but for the JSON of tables, and status and code stand together in the error table
//   - every reply has x-ms-request-id and x-ms-version
//   - a row that is built was answered with a success (if it has any) and with an error, one that is not with 501
//
// So a row without a test fails, and so does a reply that the tables do not know. One count a row,
// and one for the replies that were refused before a row was found.

import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import readline from 'node:readline';

const log = process.argv[2] ?? process.env.LAGRA_REPLY_LOG;
const EXAMPLES_MAX = 5;

/* Successes that may lack what the row promises. */
const EXCEPTIONS = [
    {
        name: 'Get Block List', headers: ['etag', 'last-modified'],
        // rest: Get-Block-List: a blob of uncommitted blocks alone has neither
    },
    {
        name: 'Path Append Data', headers: ['etag', 'last-modified'],
        // recorded: only an append that also flushes has them
    },
];

const printed = (what) =>
    JSON.parse(execFileSync(process.env.LAGRA_BINARY, [what, '--json'], { encoding: 'utf8' }));

const errors = new Set(printed('errors').map(({ code, status }) => `${status} ${code}`));
const services = new Map();
for (const row of printed('operations')) {
    const rows = services.get(row.service) ?? [];
    rows.push({ ...row, successes: 0, errors: 0, unbuilt: 0, faults: new Map() });
    services.set(row.service, rows);
}
const refused = {
    name: 'refused before an operation was found', errors: 0, unbuilt: 0, faults: new Map(),
};

/** Notes what is wrong, and how often. */
function fault(row, text) {
    row.faults.set(text, (row.faults.get(text) ?? 0) + 1);
}

function mayLack({ name }, header) {
    return EXCEPTIONS.some((exception) => exception.name === name &&
        exception.headers.includes(header));
}

function checkSuccess(row, { service, status }, headers) {
    row.successes++;
    if (!row.ok.includes(status))
        fault(row, `answered ${status}; the row has ${row.ok.join(', ')}`);
    for (const header of service === 'table' ? ['etag'] : ['etag', 'last-modified']) {
        if (headers.has(header) && row.etag === 'none')
            fault(row, `${status} with ${header}; the row has none`);
        if (!headers.has(header) && row.etag !== 'none' && !mayLack(row, header))
            fault(row, `${status} without ${header}; the row has it ${row.etag}`);
    }
}

function checkError(row, { service, status, code, reports_code: reportsCode }, headers) {
    // Front ends of a cluster get it from each other, and no client does. decision: 993
    if (status === 421)
        return;
    row.errors++;
    if (status === 501)
        row.unbuilt++;
    // The Table service says the code of an error in JSON in its body alone.
    if (code === '' || (headers.has('x-ms-error-code') !== reportsCode && service !== 'table'))
        fault(row, `${status} ${reportsCode ? 'without' : 'with'} x-ms-error-code`);
    // A copy source's own status is passed on. decision: 52
    else if (!errors.has(`${status} ${code}`) && code !== 'CannotVerifyCopySource')
        fault(row, `${status} ${code} is not in the error table`);
    // Nobody is told what is built before it is known who asks.
    const isUnknown = status === 401 && code === 'NoAuthenticationInformation';
    if (!row.built && row.built !== undefined && status !== 501 && !isUnknown)
        fault(row, `is not built, and was answered ${status} ${code}`);
}

/** line: { row, operation, service, method, status, code, reports_code, headers } */
function checkReply(line) {
    const row = line.operation === '' ? refused : services.get(line.service)?.[line.row];
    const headers = new Set(line.headers.map((name) => name.toLowerCase()));

    if (!row || (row !== refused && row.name !== line.operation))
        throw new Error(`the log and the tables do not fit: ${JSON.stringify(line)}`);
    for (const header of ['x-ms-request-id', 'x-ms-version'])
        if (!headers.has(header))
            fault(row, `${line.status} without ${header}`);
    if (headers.size !== line.headers.length)
        fault(row, `${line.status} with a header twice`);
    if (line.status >= 300) {
        checkError(row, line, headers);
    } else if (row === refused) {
        fault(row, `answered ${line.status}`);
    } else {
        checkSuccess(row, line, headers);
    }
}

function nameOf({ service, name, methods, level, selector, variant }) {
    return `${service}: ${name} (${methods.join('/')} ${level}${selector ? `?${selector}` : ''}` +
        `${variant ? ` ${variant}` : ''})`;
}

function checkCoverage(row) {
    if (row.built && row.ok?.length > 0 && row.successes === 0)
        fault(row, 'no test had a success');
    if (row.built && row.errors === 0)
        fault(row, 'no test had an error');
    if (!row.built && row.unbuilt === 0)
        fault(row, 'no test saw its 501');
}

function report(row, title) {
    if (row.faults.size === 0)
        return true;
    console.log(`not ok: ${title}`);
    for (const [text, count] of [...row.faults].slice(0, EXAMPLES_MAX))
        console.log(`  ${text}${count > 1 ? ` (${count} times)` : ''}`);
    return false;
}

/** A server that is killed may have written a part of its last line: the next one begins behind that. */
const whole = (text) => text.slice(Math.max(0, text.lastIndexOf('{"operation":')));

let replies = 0;
for await (const text of readline.createInterface({ input: createReadStream(log) })) {
    replies++;
    checkReply(JSON.parse(whole(text)));
}
const results = [report(refused, refused.name)];
for (const row of [...services.values()].flat()) {
    checkCoverage(row);
    results.push(report(row, nameOf(row)));
}
const failed = results.filter((ok) => !ok).length;
console.log(`${replies} replies were checked`);
console.log(`replies: ${results.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
