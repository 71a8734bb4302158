// PostgreSQL (Debian's, if it is there) with a table as an entity's keys and properties would be
// kept in: primary key of two texts, and a jsonb; measured by pgbench with prepared statements over
// TCP, every commit synced.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../tests/lib/server.mjs';

const VERSIONS = '/usr/lib/postgresql';
const USER = 'postgres';
const TRANSACTION = 100;
/* As entities of bench/table_work.c. */
const ENTITIES = 10000;
const FIRST = 100000000;

const UPSERT = 'INSERT INTO entities VALUES (:p, :r, :properties) ON CONFLICT (partition_key, row_key) ' +
    'DO UPDATE SET properties = excluded.properties;';
const KEYS = `\\set k random(0, ${ENTITIES - 1})\n\\set p :k / ${TRANSACTION} % 100\n\\set r ${FIRST} + :k\n`;
const SCRIPTS = {
    read: `${KEYS}SELECT properties FROM entities WHERE partition_key = :p AND row_key = :r;\n`,
    upsert: `${KEYS}${UPSERT}\n`,
    transaction: `\\set h random(0, ${ENTITIES / TRANSACTION - 1})\n\\set p :h % 100\nBEGIN;\n` +
        Array.from({ length: TRANSACTION }, (_, i) =>
            `\\set r ${FIRST} + :h * ${TRANSACTION} + ${i}\n${UPSERT}\n`).join('') + 'END;\n',
};

/** As the other properties of bench/table_work.c, about 1 KiB. */
function properties(size) {
    const one = { Count: 7, Price: 7.25, Open: true, Total: '7000021', When: '2026-03-04T05:06:07.1234567Z', Text: '' };
    let state = 88172645463325252n;
    while (JSON.stringify(one).length < size - 60) {
        state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
        one.Text += (state >> 32n).toString(36);
    }
    return JSON.stringify(one);
}

/** The newest that is installed; null: none is. */
function binaries() {
    const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).filter((version) => existsSync(path.join(VERSIONS, version, 'bin/initdb'))) : [];
    const newest = versions.map(Number).sort((a, b) => b - a)[0];

    return newest ? { version: newest, folder: path.join(VERSIONS, `${newest}`, 'bin') } : null;
}

/** It does not run as root. */
const unprivileged = (command, args) => (process.getuid() === 0 ? ['runuser', ['-u', USER, '--', command, ...args]] : [command, args]);

async function start(bin, parent) {
    const folder = path.join(parent, 'postgres'), data = path.join(folder, 'data');
    const [port] = await freePorts(1);

    mkdirSync(folder);
    chmodSync(parent, 0o711);
    if (process.getuid() === 0)
        execFileSync('chown', [USER, folder]);
    execFileSync(...unprivileged(path.join(bin.folder, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '--no-instructions']),
        { stdio: 'ignore', cwd: '/' });
    const child = spawn(...unprivileged(path.join(bin.folder, 'postgres'),
        ['-D', data, '-p', `${port}`, '-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`,
            '-c', 'synchronous_commit=on']), { stdio: 'ignore', cwd: '/' });
    const sql = (text) => execFileSync('psql', ['-h', '127.0.0.1', '-p', `${port}`, '-U', 'bench', '-qc', text, 'postgres'],
        { stdio: 'ignore' });
    for (let tries = 0; ; tries++) {
        try {
            sql('SELECT 1');
            break;
        } catch (error) {
            if (tries > 100)
                throw error;
            await delay(100);
        }
    }
    sql('CREATE TABLE entities (partition_key text, row_key text, properties jsonb, PRIMARY KEY (partition_key, row_key))');
    /* Of the server and of the processes of connections that have ended. */
    const cpuSeconds = () => {
        const pid = readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')[0];
        const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
        return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100;
    };
    return { port, sql, cpuSeconds, async stop() {
        execFileSync(...unprivileged(path.join(bin.folder, 'pg_ctl'), ['-D', data, '-m', 'fast', 'stop']), { stdio: 'ignore', cwd: '/' });
        if (child.exitCode === null)
            await once(child, 'exit');
    } };
}

/** A server with a table of as many rows as there are entities: { name, load(work, seconds), cpuSeconds(),
 *  stop() }, where a work is one of SCRIPTS; null: PostgreSQL is not installed. */
export async function startPostgres(parent, { clients, size }) {
    const bin = binaries();
    if (!bin)
        return null;
    const server = await start(bin, parent);

    server.sql(`INSERT INTO entities SELECT k / ${TRANSACTION} % 100, ${FIRST} + k, '${properties(size)}' FROM generate_series(0, ${ENTITIES - 1}) k`);
    server.sql('VACUUM ANALYZE entities');
    for (const [work, text] of Object.entries(SCRIPTS))
        writeFileSync(path.join(parent, `${work}.sql`), text);
    return {
        name: `PostgreSQL ${bin.version}`,
        stop: server.stop,
        cpuSeconds: server.cpuSeconds,
        load(work, seconds) {
            const out = execFileSync('pgbench', ['-h', '127.0.0.1', '-p', `${server.port}`, '-U', 'bench', '-n', '-M', 'prepared',
                '-c', `${clients}`, '-j', '2', '-T', `${Math.max(2, Math.round(seconds))}`, '-D', `properties=${properties(size)}`,
                '-f', path.join(parent, `${work}.sql`), 'postgres'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
            const found = /actually processed: (\d+)[^]*tps = ([\d.]+)/.exec(out);
            if (!found)
                throw new Error(`pgbench measured nothing:\n${out}`);
            return { answered: Number(found[1]), per_second: Number(found[2]) };
        },
    };
}
