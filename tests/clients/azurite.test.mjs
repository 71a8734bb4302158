// Lagra by Azurite's names: its lines, its flags, its certificates, as the tools that start it wait
// for them; and `lagra health`. Issue: the lines are those of Azurite 3.37's azurite.js and main.js
// files.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once as event } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { TableClient } from '@azure/data-tables';
import { BlobServiceClient } from '@azure/storage-blob';
import { QueueServiceClient } from '@azure/storage-queue';
import { newCertificate } from '../lib/certificate.mjs';
import { freePorts } from '../lib/server.mjs';
import { DEVELOPMENT } from '../lib/sign.mjs';
import { untilStopped } from '../lib/stopped.mjs';
import { credential, once, pattern } from './setup.mjs';

const binary = process.env.LAGRA_BINARY;
const ANY_PORTS = ['--blobPort', '0', '--queuePort', '0', '--tablePort', '0'];
const MEMORY = '--inMemoryPersistence';

async function newFolder(t) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-azurite-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    return folder;
}

/** A process under a name of its own, as `make install` links it. */
class Command {
    output = '';
    errors = '';

    static async start(t, name, args, env = {}, file = binary) {
        const command = new Command();
        const folder = await newFolder(t);
        await symlink(file, join(folder, name));
        command.child = spawn(join(folder, name), args,
            { cwd: folder, env: { ...process.env, ...env } });
        t.after(() => command.child.kill('SIGKILL'));
        command.folder = folder;
        command.child.stdout.on('data', (text) => {
            command.output += text;
            command.child.emit('said');
        });
        command.child.stderr.on('data', (text) => {
            command.errors += text;
        });
        command.closed = event(command.child, 'close').then(([code]) => {
            command.code = code;
            command.child.emit('said');
            return code;
        });
        return command;
    }

    /** As wait strategies of containers do: until the output has the line. */
    async line(wanted) {
        while (!wanted.test(this.output)) {
            assert.equal(this.code, undefined, `ended: ${this.output} ${this.errors}`);
            await event(this.child, 'said');
        }
        return this.output.match(wanted);
    }

    async stop(signal) {
        this.child.kill(signal);
        assert.equal(await this.closed, 0);
    }

    lines() {
        return this.output.split('\n').filter((text) => text.startsWith('Azurite '));
    }
}

const clientAt = (url, options = {}) =>
    new BlobServiceClient(`${url}/devstoreaccount1`, credential, { ...once, ...options });

async function roundTrip(service, name) {
    const container = service.getContainerClient(name);
    await container.createIfNotExists();
    const content = pattern(3000);
    await container.getBlockBlobClient('b').upload(content, content.length);
    assert.ok((await container.getBlobClient('b').downloadToBuffer()).equals(content));
}

test('azurite: waited for by its lines, all three services, stopped with its lines', async (t) => {
    const command = await Command.start(t, 'azurite',
        [...ANY_PORTS, '--silent', '--skipApiVersionCheck', '--disableTelemetry', '-l', 'data']);
    await command.line(/Azurite Table service is successfully listening at .*\n/);
    const ports = ['Blob', 'Queue', 'Table'].map((name) => Number(command.output.match(new RegExp(
        `^Azurite ${name} service is starting at http://127\\.0\\.0\\.1:0\n` +
        `Azurite ${name} service is successfully listening at http://127\\.0\\.0\\.1:(\\d+)$`, 'm'))[1]));
    await roundTrip(clientAt(`http://127.0.0.1:${ports[0]}`), 'azurite');
    for (const port of ports)
        assert.match((await fetch(`http://127.0.0.1:${port}/`)).headers.get('server'), /^Lagra/);
    await command.stop('SIGINT');
    assert.deepEqual(command.lines().slice(6), [
        'Azurite Blob service is closing...', 'Azurite Queue service is closing...',
        'Azurite Table service is closing...', 'Azurite Blob service successfully closed',
        'Azurite Queue service successfully closed', 'Azurite Table service successfully closed',
    ]);
});

test('a command for one service: its own lines, and no other service', async (t) => {
    for (const [name, service, option, starting, listening] of [
        ['azurite-blob', 'Blob', '--blobPort', 'starting on 127.0.0.1:PORT',
            'successfully listens on http://127.0.0.1:PORT'],
        ['azurite-queue', 'Queue', '--queuePort', 'starting on 127.0.0.1:PORT',
            'successfully listens on http://127.0.0.1:PORT'],
        ['azurite-table', 'Table', '--tablePort', 'starting on 127.0.0.1:PORT',
            'successfully started on 127.0.0.1:PORT'],
        ['azurite-file', 'File', '--filePort', 'starting on 127.0.0.1:PORT',
            'successfully listens on http://127.0.0.1:PORT'],
    ]) {
        const [port] = await freePorts(1);
        const command = await Command.start(t, name, [option, `${port}`, MEMORY, '-L']);
        await command.line(/successfully (listens|started) on .*\n/);
        if (service === 'Blob')
            await roundTrip(clientAt(`http://127.0.0.1:${port}`), 'alone');
        assert.match((await fetch(`http://127.0.0.1:${port}/`)).headers.get('server'), /^Lagra/);
        await command.stop('SIGTERM');
        assert.deepEqual(command.lines(), [
            `Azurite ${service} service is ${starting.replace('PORT', port)}`,
            `Azurite ${service} service ${listening.replace('PORT', port)}`,
            `Azurite ${service} service is closing...`, `Azurite ${service} service successfully closed`,
        ]);
    }
});

test('azurite: files are served when an option names them (decision: 320)', async (t) => {
    const without = await Command.start(t, 'azurite', [...ANY_PORTS, MEMORY]);
    await without.line(/Table service is successfully listening at .*\n/);
    await without.stop('SIGTERM');
    assert.doesNotMatch(without.output, /File/);
    const command = await Command.start(t, 'azurite', [...ANY_PORTS, '--filePort', '0', MEMORY]);
    const [, port] = await command.line(/File service is successfully listening at \S+:(\d+)\n/);
    assert.match((await fetch(`http://127.0.0.1:${port}/`)).headers.get('server'), /^Lagra/);
    await command.stop('SIGTERM');
});

test('in a container: every address, the published key, and it is said', async (t) => {
    const command = await Command.start(t, 'azurite', ['--blobHost', '0.0.0.0', '--queueHost',
        '0.0.0.0', '--tableHost', '0.0.0.0', ...ANY_PORTS, MEMORY, '--extentMemoryLimit', '64.5',
        '--blobKeepAliveTimeout', '5', '--queueKeepAliveTimeout', '5', '--tableKeepAliveTimeout', '5',
        '--oauth', 'basic'], { AZURITE_DB: 'mysql://nowhere' });
    const [, port] = await command.line(/Blob service is successfully listening at http:\/\/0\.0\.0\.0:(\d+)\n/);
    await roundTrip(clientAt(`http://127.0.0.1:${port}`), 'container');
    assert.match(command.errors, /well-known key/);
    assert.match(command.errors, /extentMemoryLimit has no effect/);
    assert.match(command.errors, /AZURITE_DB has no effect/);
    await command.stop('SIGTERM');
});

test('as the modules of Testcontainers start it, and by the connection strings that they make', async (t) => {
    // source: testcontainers-node, -dotnet, -java, -python and -go, modules azurite and azure; docs/works-with.md
    const hosts = ['--blobHost', '0.0.0.0', '--queueHost', '0.0.0.0', '--tableHost', '0.0.0.0'];
    const { key } = DEVELOPMENT;
    const ownCommand = [...hosts, '--fileHost', '0.0.0.0', '--filePort', '0']; // the image's own command
    for (const [module, words, env, account = DEVELOPMENT.account] of [
        ['node', [...hosts, '--inMemoryPersistence', '--extentMemoryLimit', '64', '--skipApiVersionCheck'], {}],
        ['node, another account', hosts, { AZURITE_ACCOUNTS: `mine:${key}` }, 'mine'],
        ['dotnet', [...hosts, '--inMemoryPersistence', '--extentMemoryLimit', '64'], {}],
        ['java', hosts, {}],
        ['python', ownCommand, { AZURITE_ACCOUNTS: `${DEVELOPMENT.account}:${key}` }],
        ['go', [...hosts, '--inMemoryPersistence', '--skipApiVersionCheck', '--disableProductStyleUrl'], {}],
    ]) {
        const command = await Command.start(t, 'azurite', [...ANY_PORTS, '--location', 'kept', ...words], env);
        await command.line(/Table service is successfully listening/);
        const [blob, queue, table] = ['Blob', 'Queue', 'Table'].map((name) =>
            Number(command.output.match(new RegExp(`${name} service is successfully listening at \\S+:(\\d+)`))[1]));
        const at = (port) => `http://127.0.0.1:${port}/${account}`;
        const text = `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};BlobEndpoint=${at(blob)};` +
            `QueueEndpoint=${at(queue)};TableEndpoint=${at(table)};`;
        await roundTrip(BlobServiceClient.fromConnectionString(text, once), 'module');
        assert.equal((await QueueServiceClient.fromConnectionString(text, once).getQueueClient('module').create())._response.status, 201, module);
        await TableClient.fromConnectionString(text, 'module', { allowInsecureConnection: true }).createTable();
        await command.stop('SIGTERM');
    }
});

test('environment: AZURITE_ACCOUNTS, AZURITE_SKIP_API_VERSION_CHECK', async (t) => {
    const key = pattern(32).toString('base64');
    for (const [skips, status] of [['true', 200], ['TRUE', 400]]) {
        const command = await Command.start(t, 'azurite', [...ANY_PORTS, MEMORY],
            { AZURITE_ACCOUNTS: `mine:${key}`, AZURITE_SKIP_API_VERSION_CHECK: skips });
        const [, port] = await command.line(/Blob service is successfully listening at \S+:(\d+)\n/);
        const at = `DefaultEndpointsProtocol=http;AccountName=mine;AccountKey=${key};` +
            `BlobEndpoint=http://127.0.0.1:${port}/mine;`;
        const container = BlobServiceClient.fromConnectionString(at, once).getContainerClient('mine');
        await container.create({ access: 'container' });
        const answer = await fetch(`${container.url}?restype=container&comp=list`,
            { headers: { 'x-ms-version': 'latest' } });
        assert.equal(answer.status, status);
        await command.stop('SIGTERM');
    }
});

// dist/src/common/Environment.js of Azurite 3.37; the one that remains is --pwd, which goes with a PFX.
test('every option of Azurite, by each of its names', async (t) => {
    const { cert, key } = await newPfx(t, 'x');
    for (const [location, silent, loose, debug] of
        [['--location', '--silent', '--loose', '--debug'], ['-l', '-s', '-L', '-d']])
        for (const kept of [[location, 'data'], [MEMORY, '--extentMemoryLimit', '64']]) {
            const command = await Command.start(t, 'azurite', [
                ...['blob', 'queue', 'table'].flatMap((service) => [`--${service}Host`, '127.0.0.1',
                    `--${service}Port`, '0', `--${service}KeepAliveTimeout`, '7']),
                ...kept, silent, loose, debug, 'debug.log', '--skipApiVersionCheck', '--disableProductStyleUrl',
                '--disableTelemetry', '--oauth', 'basic', '--cert', cert, '--key', key,
            ]);
            const [, url] = await command.line(/Blob service is successfully listening at (https:\S+)\n/);
            await command.line(/Table service is successfully listening at https:/);
            await roundTrip(clientAt(url, { tlsOptions: { ca: await readFile(cert) } }), 'options');
            await command.stop('SIGTERM');
            assert.match(await readFile(join(command.folder, 'debug.log'), 'utf8'), /PUT .*\/options/);
        }
});

test('wrong flags: said, exit code 2, nothing served', async (t) => {
    for (const [name, args, message] of [
        ['azurite', ['--nonsense'], /nonsense/],
        ['azurite-blob', ['--queuePort', '1'], /azurite-blob serves a single service/],
        ['azurite-table', ['--blobHost', '::1'], /azurite-table serves a single service/],
        ['azurite-file', ['--blobPort', '1'], /azurite-file serves a single service/],
        ['azurite-blob', ['--filePort', '1'], /azurite-blob serves a single service/],
        ['azurite', [MEMORY, '--extentMemoryLimit', '-1'], /extentMemoryLimit.*"-1"/],
        ['azurite', [MEMORY, '--extentMemoryLimit', 'x'], /extentMemoryLimit.*"x"/],
        ['azurite', ['--blobKeepAliveTimeout', 'x'], /blobKeepAliveTimeout/],
        ['azurite', ['--oauth', 'full'], /--oauth takes basic/],
        ['azurite', ['--pwd', 'x'], /--cert requires/],
        ['lagra', ['health', '--blobPort', '0'], /health requires a port/],
        ['lagra', ['health', 'me'], /"me" is not an option/],
    ]) {
        const command = await Command.start(t, name, args);
        assert.equal(await command.closed, 2, `${name} ${args}`);
        assert.match(command.errors, message);
        assert.equal(command.output, '');
    }
});

/* ---- PFX ---- */

/** cert.pem and key.pem, and site.pfx of both with the password, in a new folder. */
async function newPfx(t, password) {
    const folder = await newFolder(t);
    const { cert, key } = newCertificate(folder);
    const pfx = join(folder, 'site.pfx');
    execFileSync('certtool', ['--to-p12', '--load-privkey', key, '--load-certificate', cert, '--p12-name', 'site',
        '--password', password, '--outder', '--outfile', pfx], { stdio: 'ignore' });
    return { cert, key, pfx };
}

test('--cert x.pfx --pwd: HTTPS; with a wrong password nothing is served', async (t) => {
    const { cert, pfx } = await newPfx(t, 'pass word');
    const common = [...ANY_PORTS, MEMORY, '--cert'];
    const command = await Command.start(t, 'azurite', [...common, pfx, '--pwd', 'pass word']);
    const [, url, port] =
        await command.line(/Blob service is successfully listening at (https:\/\/\S+:(\d+))\n/);
    await roundTrip(clientAt(url, { tlsOptions: { ca: await readFile(cert) } }), 'pfx');
    // Health asks over HTTPS when it is told of a certificate.
    for (const [options, code] of [[['--cert', cert], 0], [[], 1]]) {
        const health = await Command.start(t, 'lagra', ['health', '--blobPort', port, ...options]);
        assert.equal(await health.closed, code, health.errors);
    }
    await command.stop('SIGTERM');
    for (const [args, message] of [
        [[pfx, '--pwd', 'wrong'], /wrong password \(--pwd\)/],
        [[pfx, '--pwd', ''], /wrong password \(--pwd\)/],
        [[cert, '--pwd', 'pass word'], /cert\.pem is not a PFX/],
        [['/nowhere/x.pfx', '--pwd', 'x'], /\/nowhere\/x\.pfx/],
    ]) {
        const refused = await Command.start(t, 'azurite', [...common, ...args]);
        assert.equal(await refused.closed, 1, `${args}`);
        assert.match(refused.errors, message);
        assert.doesNotMatch(refused.output, /listening/);
    }
});

test('with --key, --cert is PEM, whatever --pwd says', async (t) => {
    const { cert, key } = await newPfx(t, 'x');
    const command = await Command.start(t, 'azurite',
        [...ANY_PORTS, MEMORY, '--cert', cert, '--key', key, '--pwd', 'x']);
    await command.line(/Table service is successfully listening at https:/);
    assert.match(command.errors, /--pwd has no effect/);
    await command.stop('SIGTERM');
});

/* ---- health ---- */

test('health: 0 while a server answers, 1 when none or somebody else does', async (t) => {
    const ports = await freePorts(3);
    const options = ['--blobPort', `${ports[0]}`, '--queuePort', `${ports[1]}`, '--tablePort',
        `${ports[2]}`];
    const health = async (args) => {
        const command = await Command.start(t, 'lagra', ['health', ...args]);
        return [await command.closed, command.errors];
    };
    const command = await Command.start(t, 'azurite-blob',
        ['--blobHost', '0.0.0.0', ...options.slice(0, 2), MEMORY]);
    await command.line(/successfully listens/);
    assert.deepEqual(await health(['--blobHost', '0.0.0.0', ...options.slice(0, 2)]), [0, '']);
    const [code, errors] = await health(options);
    assert.equal(code, 1);
    assert.match(errors, /^lagra: the queue service does not respond.*\nlagra: the table service/);
    await command.stop('SIGTERM');
    assert.equal((await health(options.slice(0, 2)))[0], 1);
});

test('health --running: what the servers of this program serve, whatever they were started with', async (t) => {
    const [port, other] = await freePorts(2);
    // A program file of its own: other tests run servers too. decision: 225
    const own = join(await newFolder(t), 'lagra');
    await copyFile(binary, own);
    const health = async () => {
        const command = await Command.start(t, 'lagra', ['health', '--running'], {}, own);
        return [await command.closed, command.errors];
    };
    assert.deepEqual(await health(), [1, 'lagra: no server is running on this machine\n']);
    const command = await Command.start(t, 'azurite-blob',
        ['--blobHost', '0.0.0.0', '--blobPort', `${port}`, MEMORY], {}, own);
    await command.line(/successfully listens/);
    assert.deepEqual(await health(), [0, '']);
    const { cert, key } = await newPfx(t, 'x');
    const second = await Command.start(t, 'azurite-queue',
        ['--queuePort', `${other}`, '--cert', cert, '--key', key, MEMORY], {}, own);
    await second.line(/successfully listens/);
    assert.deepEqual(await health(), [0, '']);
    command.child.kill('SIGSTOP');
    await untilStopped(command.child.pid);
    const [code, errors] = await health();
    assert.equal(code, 1);
    assert.match(errors, /^lagra: the blob service does not respond: .*\n$/);
    command.child.kill('SIGCONT');
    await command.stop('SIGTERM');
    await second.stop('SIGTERM');
    const third = await Command.start(t, 'lagra', [...ANY_PORTS, '--filePort', '0', '--dfsPort', '0', '--managementPort', '0', MEMORY], {}, own);
    await third.line(/http:.*\n.*http:.*\n.*http:.*\n/);
    assert.deepEqual(await health(), [0, '']); // at any free ports
    third.child.kill('SIGKILL'); // which leaves nothing behind
    await third.closed;
    assert.deepEqual(await health(), [1, 'lagra: no server is running on this machine\n']);
});
