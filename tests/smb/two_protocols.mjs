#!/usr/bin/env node
// Files that REST and SMB clients use at once: two_protocols.mjs [--only WORD] [--print FILE]
//
// Compares the last tables of docs/smb.md with the responses of a server; --print writes them to FILE.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { freePorts, Server } from '../lib/server.mjs';
import { AZURE } from './azure.mjs';
import { KEPT } from './kept.mjs';
import { getRange, OPERATIONS, putRange, Rest, SHARE, shown } from './rest.mjs';
import { SmbClient } from './smb_client.mjs';
import * as tables from './tables.mjs';

const DOCUMENT = new URL('../../docs/smb.md', import.meta.url);
const { values: options } = parseArgs({
    options: { only: { type: 'string', default: '' }, print: { type: 'string' } },
});

/* ---- the tables ---- */

const SECTIONS = [
    ['shareModes', 'Share modes', 'Response to each operation while an SMB client has the file open for reading, by the share ' +
        'mode of its handle (R: read, W: write, D: delete).'],
    ['accesses', 'Access rights', 'Response to operations that check the access rights of open handles, by the rights of a handle with all ' +
        'share modes. "none" means that the handle can only read attributes.'],
    ['opens', 'Opens over SMB', 'Result of an SMB open with all share modes, by the requested access (R: read, W: write, D: delete) and by the ' +
        'state of the file. REST has set the leases and the read-only attribute.'],
    ['dispositions', 'Create dispositions', 'Result of an SMB open that only reads attributes, by its create disposition.'],
    ['replaced', 'Renames over SMB', 'Result of renaming another file over SMB to the name of a file in the given state, with and without replacing it.'],
    ['locks', 'Byte-range locks', 'Response while a handle with all share modes has locked bytes 100 to 199, by the type of the lock.'],
    ['states', 'Read-only, delete pending', 'Response after an SMB client has set the read-only attribute of the file, or the delete disposition on a ' +
        'handle that is still open.'],
    ['breaks', 'Caching', 'How an operation breaks the lease of a handle with all share modes, by the caching that the lease permits (R: read, W: ' +
        'write, H: handle), and the response. "waits" means that the response waits for the acknowledgement; a break of R needs none.'],
];

const cellsOf = (row) => `| ${row.join(' | ')} |`;
const textOf = ([head, ...rows]) => [cellsOf(head), `|${'---|'.repeat(head.length)}`, ...rows.map(cellsOf)].join('\n');
const sectionOf = ([, title, text], rows) => `### ${title}\n${text}\n\n${textOf(rows)}\n`;

async function print(context, file) {
    const sections = [];

    for (const section of SECTIONS)
        sections.push(sectionOf(section, await tables[section[0]](context)));
    writeFileSync(file, sections.join('\n'));
}

const written = (section) => async (context) => {
    const is = sectionOf(section, await tables[section[0]](context));
    const text = readFileSync(DOCUMENT, 'utf8');

    assert.ok(text.includes(is), `docs/smb.md has another table:\n${is}`);
};

/* The article's own table: what fails beside each share mode. semantics 8.2; Lease File: of a reader. */
const REFUSED = {
    none: ['Create File', 'Get File', 'Set File Properties', 'Set File Metadata', 'Delete File', 'Put Range', 'List Ranges', 'Lease File'],
    R: ['Create File', 'Set File Properties', 'Set File Metadata', 'Delete File', 'Put Range', 'Lease File'],
    W: ['Create File', 'Get File', 'Delete File', 'List Ranges', 'Lease File'],
    D: ['Create File', 'Get File', 'Set File Properties', 'Set File Metadata', 'Put Range', 'List Ranges', 'Delete File', 'Lease File'],
    RW: ['Create File', 'Delete File', 'Lease File'],
    RD: ['Create File', 'Set File Properties', 'Set File Metadata', 'Put Range', 'Delete File', 'Lease File'],
    WD: ['Get File', 'List Ranges', 'Delete File', 'Lease File'],
    RWD: ['Delete File'],
};

async function articleOfShareModes(context) {
    const [[, ...shares], ...rows] = await tables.shareModes(context);

    /* Which the article does not name: they follow from others; what is renamed must be shared for deleting. */
    const FOLLOWS = { 'Put Range': 'Put Range (clear)', 'Get File': 'Copy File (file is the source)', 'Create File': 'Copy File (file is the destination)',
        'Delete File': 'Rename File (file is replaced)' };

    shares.forEach((share, column) => {
        const refused = rows.filter((row) => row[column + 1] === '409 SharingViolation').map(([name]) => name);
        const expected = REFUSED[share].flatMap((name) => (name in FOLLOWS ? [name, FOLLOWS[name]] : [name]));

        if (share === 'none' || !share.includes('D'))
            expected.push('Rename File (file is the source)');
        assert.deepEqual(refused.sort(), expected.sort(), `beside share mode ${share}`);
    });
}

/* ---- what is no table ---- */

async function listed(rest) {
    const { body } = await rest.must('', OPERATIONS['List Directories and Files']);

    return [...`${body}`.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name]) => name);
}

async function handles(rest, file) {
    const { body } = await rest.must(file, OPERATIONS['List Handles']);

    return [...`${body}`.matchAll(/<HandleId>(\d+)<\/HandleId>/g)].map(([, id]) => id);
}

const answers = async (rest, file, operation, expected, more) =>
    assert.equal(shown(await rest.ask(file, OPERATIONS[operation] ?? operation, more)), expected, `${operation} of ${file}`);

async function bytesGoBothWays({ rest, smb, next }) {
    const file = await rest.fresh(next());

    await smb.open('a', file, { access: 'RW' });
    await smb.must('write', { name: 'a', offset: 512, text: 'from SMB' });
    assert.equal(`${(await rest.must(file, getRange(512, 519))).body}`, 'from SMB');
    await rest.must(file, putRange(512, 'by REST!'));
    assert.equal((await smb.must('read', { name: 'a', offset: 512, length: 8 })).text, 'by REST!');
    await smb.must('close', { name: 'a' });
}

/** The sentence of the plan that began all of it. */
async function heldThenDeleted({ rest, smb, next }) {
    const file = await rest.fresh(next());

    await smb.open('a', file, { access: 'RW', share: '' });
    await answers(rest, file, 'Put Range', '409 SharingViolation');
    await smb.must('close', { name: 'a' });
    await answers(rest, file, 'Put Range', '201');
    await smb.open('a', file, { access: 'D' });
    await smb.must('disposition', { name: 'a', deletes: true });
    await answers(rest, file, 'Get File', '409 DeletePending');
    await smb.must('close', { name: 'a' });
    await answers(rest, file, 'Get File', '404 ResourceNotFound');
}

async function pendingDeleteIsTakenBack({ rest, smb, next }) {
    const file = await rest.fresh(next());

    await smb.open('a', file, { access: 'D' });
    assert.ok((await listed(rest)).includes(file));
    await smb.must('disposition', { name: 'a', deletes: true });
    assert.ok(!(await listed(rest)).includes(file), 'hidden');
    assert.equal(tables.statusName(await smb.tryOpen('b', file)), 'delete pending');
    assert.equal((await handles(rest, file)).length, 1);
    await smb.must('disposition', { name: 'a', deletes: false });
    assert.ok((await listed(rest)).includes(file), 'listed again');
    await answers(rest, file, 'Get File', '200');
    await smb.must('close', { name: 'a' });
    await answers(rest, file, 'Get File', '200');
}

async function deletedWithTheLastHandle({ rest, smb, next }) {
    const file = await rest.fresh(next());

    await smb.open('a', file, { access: 'R' });
    await smb.open('b', file, { access: 'D', deletes: true });
    await answers(rest, file, 'Get File', '200');
    await smb.must('close', { name: 'b' });
    await answers(rest, file, 'Get File', '409 DeletePending');
    await smb.must('close', { name: 'a' });
    await answers(rest, file, 'Get File', '404 ResourceNotFound');
}

async function handlesAreListedAndClosed({ rest, smb, next }) {
    const file = await rest.fresh(next());
    const close = (id) => ({ method: 'PUT', query: 'comp=forceclosehandles', headers: [['x-ms-handle-id', id]] });

    assert.deepEqual(await handles(rest, file), []);
    for (const name of ['a', 'b', 'c'])
        await smb.open(name, file, { access: 'RW' });
    const [first, ...others] = await handles(rest, file);
    assert.equal(others.length, 2);
    const closed = await rest.must(file, close(first));
    assert.equal(closed.headers.get('x-ms-number-of-handles-closed'), '1');
    assert.deepEqual(await handles(rest, file), others);
    const all = await rest.must(file, close('*'));
    assert.equal(all.headers.get('x-ms-number-of-handles-closed'), '2');
    assert.deepEqual(await handles(rest, file), []);
    for (const name of ['a', 'b', 'c'])
        assert.equal((await smb.do('write', { name, offset: 0, text: 'late' })).status, 'C0000128'); /* FILE_CLOSED */
    await answers(rest, file, 'Delete File', '202');
    for (const name of ['a', 'b', 'c'])
        await smb.do('close', { name });
}

async function pendingDeleteEndsByForce({ rest, smb, next }) {
    const file = await rest.fresh(next());

    await smb.open('a', file, { access: 'D' });
    await smb.must('disposition', { name: 'a', deletes: true });
    await answers(rest, file, 'Force Close Handles', '200');
    await answers(rest, file, 'Get File', '404 ResourceNotFound');
    await smb.do('close', { name: 'a' });
}

/** A client that does not answer costs the caller its timeout, and no more: it may answer later. */
async function breakIsNotAcknowledged({ rest, smb, next }) {
    const file = await rest.fresh(next());

    await smb.open('a', file, { access: 'RW', caching: 'RWH', key: file });
    await answers(rest, file, 'Put Range', '500 ClientCacheFlushDelay', 'timeout=1');
    assert.equal((await smb.must('wait_break')).to, 0);
    await answers(rest, file, 'Put Range', '500 ClientCacheFlushDelay', 'timeout=1');
    await smb.must('acknowledge', { key: file, to: 0 });
    await answers(rest, file, 'Put Range', '201');
    await smb.must('close', { name: 'a' });
}

/** What is asked for with the break of a cached handle: its program has closed it long ago. */
async function cachedHandleIsClosed({ rest, smb, next }) {
    for (const [operation, done, to] of [['Delete File', '202', 5], ['Put Range', '201', 5]]) {
        const file = await rest.fresh(next());
        await smb.open('a', file, { access: 'RW', share: operation === 'Put Range' ? '' : 'RWD', caching: 'RWH', key: file });
        const asked = rest.ask(file, OPERATIONS[operation]);
        assert.equal((await smb.must('wait_break')).to, to, operation);
        await smb.must('close', { name: 'a' });
        assert.equal(shown(await asked), done);
    }
}

async function cachedHandleIsInUse({ rest, smb, next }) {
    const file = await rest.fresh(next());

    await smb.open('a', file, { access: 'RW', share: '', caching: 'RWH', key: file });
    const asked = rest.ask(file, OPERATIONS['Get File']);
    assert.equal((await smb.must('wait_break')).to, 5);
    await smb.must('acknowledge', { key: file, to: 5 });
    assert.equal(shown(await asked), '409 SharingViolation');
    await smb.must('close', { name: 'a' });
}

/** The last test of the server: kill -9. */
async function flushedBytesAndNoHandlesAfterAKill({ rest, smb, next, server, port }) {
    const files = [];

    for (let i = 0; i < 8; i++) {
        const file = await rest.fresh(next());
        await smb.open(file, file, { access: 'RW', share: '' });
        await smb.must('write', { name: file, offset: 100 * i, text: `flushed ${i}` });
        await smb.must('flush', { name: file });
        files.push(file);
    }
    await server.kill();
    await server.restart();
    for (const [i, file] of files.entries()) {
        assert.deepEqual(await handles(rest, file), []);
        assert.equal(`${(await rest.must(file, getRange(100 * i, 100 * i + 8))).body}`, `flushed ${i}`);
        await answers(rest, file, 'Put Range', '201');
    }
    const again = await SmbClient.start(port, SHARE);
    await again.open('a', files[0], { access: 'RWD', share: '' });
    assert.equal((await again.must('read', { name: 'a', offset: 0, length: 4 })).text, 'rest');
    await again.stop();
}

const TESTS = Object.entries({
    ...Object.fromEntries(SECTIONS.map((section) => [`table ${section[0]}`, written(section)])),
    articleOfShareModes, bytesGoBothWays, heldThenDeleted, pendingDeleteIsTakenBack, deletedWithTheLastHandle,
    handlesAreListedAndClosed, pendingDeleteEndsByForce, breakIsNotAcknowledged, cachedHandleIsClosed,
    cachedHandleIsInUse, ...AZURE, ...KEPT, flushedBytesAndNoHandlesAfterAKill,
});

const [port] = await freePorts(1);
const server = await Server.start({ args: ['--smbPort', `${port}`] });
const rest = new Rest(server);
let names = 0, passed = 0, failed = 0;

await rest.createShare();
if (options.print) {
    const smb = await SmbClient.start(port, SHARE);
    await print({ rest, smb, next: () => `file-${names++}` }, options.print);
    await smb.stop();
} else {
    for (const [name, test] of TESTS.filter(([name]) => name.includes(options.only))) {
        const smb = await SmbClient.start(port, SHARE);
        try {
            await test({ rest, smb, server, port, next: () => `file-${names++}` });
            passed++;
            console.log(`ok      ${name}`);
        } catch (error) {
            failed++;
            console.log(`not ok  ${name}: ${error.stack}`);
        }
        await smb.stop();
    }
    console.log(`smb: ${passed} passed, ${failed} failed`);
}
await server.stop();
process.exitCode = failed === 0 && (passed > 0 || options.print) ? 0 : 1;
