// The tables of docs/smb.md, each made by asking a server: a list of rows of cells, the first its head.

import { OPERATIONS, getRange, putRange, shown } from './rest.mjs';
import { cachingName, SmbClient } from './smb_client.mjs';

const SHARES = ['', 'R', 'W', 'D', 'RW', 'RD', 'WD', 'RWD'];
const LOCK = { shared: 0x1, exclusive: 0x2 };
const AT_ONCE = 0x10; /* SMB2_LOCKFLAG_FAIL_IMMEDIATELY. ms-smb2: 2.2.26.1 */
export const READ_ONLY = 0x1;
export const NORMAL = 0x80;

const named = (letters, none = 'none') => letters || none;
/* NT statuses of the tables. */
const STATUS = { '00000000': 'opened', 'C0000043': 'sharing violation', 'C0000056': 'delete pending',
    'C0000022': 'access denied', 'C0000035': 'name collision' };
export const statusName = ({ status }) => STATUS[status] ?? status;

async function rowsOf(head, names, cells, cell) {
    const rows = [[...head, ...cells.map((text) => named(text))]];

    for (const name of names) {
        const row = [name];
        for (const of of cells)
            row.push(await cell(name, of));
        rows.push(row);
    }
    return rows;
}

/** Asks `operation` of a fresh file that a handle is open of, and closes the handle. */
async function beside({ rest, smb, next }, operation, how) {
    const file = await rest.fresh(next());

    await smb.open('a', file, how);
    const answer = await rest.ask(file, OPERATIONS[operation]);
    await smb.do('close', { name: 'a' });
    return shown(answer);
}

/** What each operation answers while a reader has the file open and shares this. */
export const shareModes = (context) => rowsOf(['Operation'], Object.keys(OPERATIONS), SHARES,
    (operation, share) => beside(context, operation, { access: 'R', share }));

/** The operations that ask what the handle may do, with a handle that shares all. */
export const accesses = (context) => rowsOf(['Operation'], ['Delete File', 'Rename File (file is replaced)', 'Lease File'], SHARES,
    (operation, access) => beside(context, operation, { access, share: 'RWD' }));

const LEASE_BREAK = { method: 'PUT', query: 'comp=lease', headers: [['x-ms-lease-action', 'break']] };

const SET_READ_ONLY = { method: 'PUT', query: 'comp=properties', headers: [['x-ms-file-attributes', 'ReadOnly'],
    ['x-ms-file-permission', 'preserve'], ['x-ms-file-creation-time', 'preserve'], ['x-ms-file-last-write-time', 'preserve']] };

/* What has happened to a file before SMB opens it. */
const MADE = {
    'unchanged': async () => {},
    'leased': ({ rest }, file) => rest.must(file, OPERATIONS['Lease File']),
    'lease broken': async ({ rest }, file) => {
        await rest.must(file, OPERATIONS['Lease File']);
        await rest.must(file, LEASE_BREAK);
    },
    'read-only': ({ rest }, file) => rest.must(file, SET_READ_ONLY),
    'delete pending': async ({ smb }, file) => {
        await smb.open('pending', file, { access: 'D' });
        await smb.must('disposition', { name: 'pending', deletes: true });
    },
};

async function openedAfter(context, state, how, more = {}) {
    const { rest, smb, next } = context;
    const file = await rest.fresh(next());

    await MADE[state](context, file);
    const answer = await smb.do('open', { ...SmbClient.openParameters('a', file, how), ...more });
    if (answer.status === '00000000')
        await smb.must('close', { name: 'a' });
    if (state === 'delete pending')
        await smb.must('close', { name: 'pending' });
    return statusName(answer);
}

/** SMB's opens of what is there, by what they want to do. */
export const opens = (context) => rowsOf(['File'], Object.keys(MADE), SHARES,
    (state, access) => openedAfter(context, state, { access }));

/* CreateDisposition. ms-smb2: 2.2.13 */
const DISPOSITIONS = { 'open': 1, 'open-if': 3, 'create': 2, 'overwrite': 4, 'overwrite-if': 5, 'supersede': 0 };

/** The same by the disposition. */
export const dispositions = (context) => rowsOf(['File'], Object.keys(MADE), Object.keys(DISPOSITIONS),
    (state, name) => openedAfter(context, state, { access: '' }, { disposition: DISPOSITIONS[name] }));

const REPLACES = { 'replacing it': true, 'without replacing it': false };

/** Another file is renamed to its name. */
export const replaced = (context) => rowsOf(['File'], Object.keys(MADE), Object.keys(REPLACES), async (state, kind) => {
    const { rest, smb, next } = context;
    const file = await rest.fresh(next());

    await rest.fresh(`${file}-other`);
    await MADE[state](context, file);
    await smb.open('a', `${file}-other`, { access: 'D' });
    const answer = await smb.do('rename', { name: 'a', path: file, replaces: REPLACES[kind] });
    await smb.must('close', { name: 'a' });
    if (state === 'delete pending')
        await smb.must('close', { name: 'pending' });
    return answer.status === '00000000' ? 'renamed' : statusName(answer);
});

/** The bytes 100 to 199 are locked by a handle that shares all. */
export function locks({ rest, smb, next }) {
    const asked = {
        'Get File (inside the locked range)': getRange(150, 160), 'Get File (outside the locked range)': getRange(200, 300),
        'Put Range (inside the locked range)': putRange(150, 'bytes'), 'Put Range (outside the locked range)': putRange(200, 'bytes'),
        ...Object.fromEntries(Object.entries(OPERATIONS).filter(([name]) => !['Get File', 'Put Range'].includes(name))),
    };

    return rowsOf(['Operation'], Object.keys(asked), Object.keys(LOCK), async (operation, kind) => {
        const file = await rest.fresh(next());

        await smb.open('a', file, { access: 'RW' });
        await smb.must('lock', { name: 'a', offset: 100, length: 100, flags: LOCK[kind] | AT_ONCE });
        const answer = await rest.ask(file, asked[operation]);
        await smb.do('close', { name: 'a' }); /* by force, perhaps */
        return shown(answer);
    });
}

async function readOnlyFile({ rest, smb, next }) {
    const file = await rest.fresh(next());

    await smb.open('a', file, { access: '' });
    await smb.must('attributes', { name: 'a', attributes: READ_ONLY });
    await smb.must('close', { name: 'a' });
    return file;
}

/** The file's own state: read-only by an SMB client, or about to be deleted. */
export const states = (context) => rowsOf(['Operation'], Object.keys(OPERATIONS), ['read-only', 'delete pending'],
    async (operation, state) => {
        const { rest, smb, next } = context;

        if (state === 'read-only')
            return shown(await rest.ask(await readOnlyFile(context), OPERATIONS[operation]));
        const file = await rest.fresh(next());
        await smb.open('a', file, { access: 'D' });
        await smb.must('disposition', { name: 'a', deletes: true });
        const answer = await rest.ask(file, OPERATIONS[operation]);
        await smb.do('close', { name: 'a' });
        return shown(answer);
    });

/* What each operation breaks a lease to, and whether it waits for the answer: semantics 8.4. */
const READS = { RWH: ['RH', true], RH: null, RW: ['R', true], R: null };
const WRITES = { RWH: ['none', true], RH: ['none', false], RW: ['none', true], R: ['none', false] };
/* It may be that the handle is closed in truth, and cached. */
const HANDLES = { RWH: ['RW', true], RH: ['R', true], RW: null, R: null };
const NOTHING = { RWH: null, RH: null, RW: null, R: null };
const BREAKS = {
    'List Directories and Files': NOTHING,
    'Get File': READS, 'Copy File (file is the source)': READS, 'List Ranges': READS, 'Get File Properties': READS, 'Get File Metadata': READS,
    'Put Range': WRITES, 'Put Range (clear)': WRITES, 'Set File Properties': WRITES, 'Set File Metadata': WRITES, 'Create File': WRITES,
    'Copy File (file is the destination)': WRITES, 'Rename File (file is the source)': HANDLES, 'Rename File (file is replaced)': HANDLES, 'Lease File': HANDLES, 'Delete File': HANDLES,
    'List Handles': NOTHING, 'Force Close Handles': NOTHING,
};
const BITS = { none: 0, R: 1, RH: 3, RW: 5 };

/** Asks, and acknowledges the break that is expected of it. */
async function breakBy({ rest, smb, next }, operation, caching) {
    const file = await rest.fresh(next());
    const expected = BREAKS[operation][caching];
    const key = file;
    let isAnswered = false;

    const { lease } = await smb.open('a', file, { access: 'RW', caching, key });
    if (cachingName(lease) !== cachingName(['R', 'H', 'W'].reduce((bits, letter, i) => bits | (caching.includes(letter) << i), 0)))
        throw new Error(`${caching} was asked for, ${cachingName(lease)} given`);
    const asked = rest.ask(file, OPERATIONS[operation]).finally(() => {
        isAnswered = true;
    });
    let what = 'no break';
    if (expected) {
        const [to, waits] = expected;
        if (!waits)
            await asked;
        const told = await smb.must('wait_break');
        await smb.must('pending');
        if (told.key !== key || (waits && isAnswered))
            throw new Error(`${operation} does not wait for the answer`);
        what = `${waits ? 'waits: ' : ''}to ${cachingName(told.to)}`;
        if (caching !== 'R') /* who only reads is told, not asked. ms-smb2: 3.3.4.7 */
            await smb.must('acknowledge', { key, to: BITS[to] });
    }
    const answer = await asked;
    const { breaks } = await smb.must('pending');
    await smb.do('close', { name: 'a' }); /* by force, perhaps */
    return `${what}; ${shown(answer)}${breaks > 0 ? `; ${breaks} more breaks` : ''}`;
}

/** What a lease of an open handle that shares all is broken to; each break is acknowledged. */
export const breaks = (context) => rowsOf(['Operation'], Object.keys(BREAKS), ['RWH', 'RH', 'RW', 'R'],
    (operation, caching) => breakBy(context, operation, caching));
