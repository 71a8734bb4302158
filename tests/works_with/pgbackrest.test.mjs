// pgBackRest with a PostgreSQL 15: WAL archived, full, differential and incremental backup, verify, restore; the
// server is killed between. It takes nothing but HTTPS.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { killAndRestart, startKillable } from '../lib/killed.mjs';
import { tlsFront } from './tls_front.mjs';
import { blobRetries, isInstalled, newFolder, run, until } from './setup.mjs';

const BIN = '/usr/lib/postgresql/15/bin';
const PORT = '54329';
const canRun = isInstalled('pgbackrest') && existsSync(`${BIN}/postgres`) &&
    (process.getuid() !== 0 || isInstalled('runuser'));

/** Both refuse to run as root: then as Debian's user of PostgreSQL. */
const ordinary = (program, args) => process.getuid() === 0
    ? run('runuser', ['-u', 'postgres', '--', program, ...args]) : run(program, args);

async function newCluster(t, folder, repository) {
    const data = path.join(folder, 'pg'), config = path.join(folder, 'pgbackrest.conf');
    const backrest = `pgbackrest --config=${config} --stanza=main`;
    await writeFile(config, [
        '[global]', 'repo1-type=azure', `repo1-azure-account=${DEVELOPMENT.account}`,
        `repo1-azure-key=${DEVELOPMENT.key}`, 'repo1-azure-container=backrest', 'repo1-azure-uri-style=path',
        'repo1-path=/repo', `repo1-azure-endpoint=127.0.0.1`, `repo1-storage-host=localhost`,
        `repo1-storage-port=${repository.port}`, `repo1-storage-ca-file=${path.join(folder, 'ca.pem')}`,
        `log-path=${folder}`, `lock-path=${folder}`, `spool-path=${folder}`, 'start-fast=y', 'repo1-retention-full=1',
        'repo1-bundle=y', '[main]', `pg1-path=${data}`, `pg1-port=${PORT}`, `pg1-socket-path=${folder}`, '',
    ].join('\n'));
    await ordinary(`${BIN}/initdb`, ['-D', data, '-A', 'trust', '-U', 'postgres']);
    await writeFile(path.join(data, 'postgresql.auto.conf'), [
        `port = ${PORT}`, `unix_socket_directories = '${folder}'`, "listen_addresses = ''", 'archive_mode = on',
        `archive_command = '${backrest} archive-push %p'`, 'wal_level = replica', '',
    ].join('\n'));
    const control = (...args) => ordinary(`${BIN}/pg_ctl`, ['-D', data, '-w', '-l', path.join(folder, 'log'), ...args]);
    await control('start');
    t.after(() => control('stop', '-m', 'immediate').catch(() => {}));
    return {
        data, control,
        backrest: (...args) => ordinary('pgbackrest', [`--config=${config}`, '--stanza=main', ...args]),
        sql: (text) => ordinary('psql', ['-h', folder, '-p', PORT, '-U', 'postgres', '-Atc', text]),
    };
}

test('pgBackRest', { skip: !canRun }, async (t) => {
    const server = await startKillable(t);
    const service = BlobServiceClient.fromConnectionString(server.connectionString, blobRetries);
    await service.getContainerClient('backrest').create();
    const folder = await newFolder(t);
    await copyFile(process.env.LAGRA_TEST_CERTIFICATE, path.join(folder, 'ca.pem'));
    await chmod(folder, 0o755);
    if (process.getuid() === 0)
        await chown(folder, ...['-u', '-g'].map((what) => Number(execFileSync('id', [what, 'postgres']))));
    const { backrest, sql, control, data } = await newCluster(t, folder, await tlsFront(t, server, 'blob'));

    await backrest('stanza-create');
    await backrest('check');
    await sql('create table t as select n from generate_series(1, 20000) n');
    await backrest('backup', '--type=full');
    await killAndRestart(server);
    await sql('insert into t select n from generate_series(20001, 30000) n');
    await backrest('backup', '--type=diff');
    await sql('delete from t where n <= 100');
    await killAndRestart(server);
    await backrest('backup', '--type=incr');
    assert.match(await backrest('info'), /status: ok/);
    await backrest('verify');
    await sql('insert into t values (0)');
    await sql('select pg_switch_wal()');
    await backrest('check'); // all WAL until now is archived
    await control('stop', '-m', 'fast');
    await run('rm', ['-rf', data]);
    await mkdir(data, { mode: 0o700 });
    if (process.getuid() === 0)
        await run('chown', ['postgres:postgres', data]);
    await backrest('restore');
    await control('start');
    await until(async () => (await sql('select pg_is_in_recovery()')).trim() === 'f');
    assert.equal((await sql('select count(*), min(n) from t')).trim(), '29901|0');
    await backrest('backup', '--type=full'); // expires the first with all that depends on it
    await backrest('verify');
});
