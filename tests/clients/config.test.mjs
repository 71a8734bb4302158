// Options in a file, in the environment and on the command line. decision: 342
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../lib/program.mjs';
import { freePorts, Server } from '../lib/server.mjs';

/** The path of a configuration file with these lines. */
async function configFile(t, ...lines) {
    const folder = await mkdtemp(join(tmpdir(), 'lagra-config-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'lagra.conf');
    await writeFile(path, lines.join('\n'));
    return path;
}

/** What `lagra config check` prints of an option: [its value, where it was set]. */
async function inForce(name, args, env) {
    const { code, output, errors } = await run(['config', 'check', ...args], env);
    assert.equal(code, 0, errors);
    const line = output.split('\n').find((text) => text.split(/\s/)[0] === name);
    const [, value, where] = line.match(/^\S+ +(.*?) {1,}(default|\/.*|LAGRA_\S+|--\S+)$/);
    return [value, where];
}

test('the command line outweighs the environment, which outweighs the file, option by option', async (t) => {
    const path = await configFile(t, '# ports', 'blobPort = 1', '  queuePort=2 ', '', 'tablePort = 3');
    const args = ['--config', path, '--blobPort', '21'];
    const env = { LAGRA_BLOB_PORT: '11', LAGRA_QUEUE_PORT: '12' };
    assert.deepEqual(await inForce('blobPort', args, env), ['21', '--blobPort']);
    assert.deepEqual(await inForce('queuePort', args, env), ['12', 'LAGRA_QUEUE_PORT']);
    assert.deepEqual(await inForce('tablePort', args, env), ['3', `${path}:5: tablePort`]);
    assert.deepEqual(await inForce('filePort', args, env), ['10003', 'default']);
    assert.deepEqual(await inForce('tablePort', [], { LAGRA_CONFIG: path }), ['3', `${path}:5: tablePort`]);
});

test('config check --json: the same for scripts', async (t) => {
    const path = await configFile(t, 'location = /a "b"', 'cert = x.pfx', 'pwd = secret');
    const { code, output } = await run(['config', 'check', '--config', path, '--json', '--loose']);
    assert.equal(code, 0);
    const settings = new Map(JSON.parse(output).map(({ name, ...rest }) => [name, rest]));
    assert.deepEqual(settings.get('location'), { value: '/a "b"', setBy: `${path}:1: location` });
    assert.deepEqual(settings.get('pwd'), { value: '(not shown)', setBy: `${path}:3: pwd` });
    assert.deepEqual(settings.get('loose'), { value: 'true', setBy: '--loose' });
    assert.deepEqual(settings.get('blobPort'), { value: '10000', setBy: 'default' });
    const people = (await run(['config', 'check', '--config', path, '--loose'])).output;
    assert.deepEqual([...settings.keys()], people.trimEnd().split('\n').map((line) => line.split(/\s/)[0]));
});

test('switches: true and false, so that a later source can take one back', async (t) => {
    const path = await configFile(t, 'silent = true', 'disableProductStyleUrl = true', 'loose = false');
    assert.deepEqual(await inForce('silent', ['--config', path]), ['true', `${path}:1: silent`]);
    assert.deepEqual(await inForce('silent', ['--config', path], { LAGRA_SILENT: 'false' }), ['false', 'LAGRA_SILENT']);
    assert.deepEqual(await inForce('disableProductStyleUrl', ['--config', path]), ['true', `${path}:2: disableProductStyleUrl`]);
    assert.deepEqual(await inForce('loose', ['--config', path, '--loose']), ['true', '--loose']);
});

test('a value may have spaces and "="; a password is not printed', async (t) => {
    const path = await configFile(t, 'location = /a b/c=d', 'cert = x.pfx', 'pwd = pass = word');
    assert.deepEqual(await inForce('location', ['--config', path]), ['/a b/c=d', `${path}:1: location`]);
    const { output } = await run(['config', 'check', '--config', path]);
    assert.match(output, /^pwd +\(not shown\) +\S+:3: pwd$/m);
    assert.doesNotMatch(output, /word/);
});

test('what is wrong in a file: its line, and the nearest name', async (t) => {
    for (const [lines, message] of [
        [['blobport = 1'], ':1: "blobport" is not an option; did you mean blobPort?'],
        [['', 'nonsense = 1'], ':2: "nonsense" is not an option. See lagra --help'],
        [['blobPort 1'], ':1: "blobPort 1" has no "=" (NAME = VALUE)'],
        [['blobPort ='], ':1: "blobPort" has no value'],
        [['blobPort = 1', 'blobPort = 1'], ':2: "blobPort" is set twice'],
        [['config = x'], ':1: "config" is allowed only on the command line'],
        [['version = true'], ':1: "version" is allowed only on the command line'],
        [['blobPort = x'], ':1: blobPort takes a port number from 0 to 65535, not "x"'],
        [['workers = 0'], ':1: workers takes a number from 1 to 1000000, not "0"'],
        [['silent = yes'], ':1: silent takes true or false, not "yes"'],
        [['allowCopyFrom = x'], ':1: allowCopyFrom takes comma-separated addresses and CIDR blocks, not "x"'],
    ]) {
        const path = await configFile(t, ...lines);
        for (const command of [['config', 'check'], ['serve'], []])
            assert.deepEqual(await run([...command, '--config', path]),
                { code: 2, output: '', errors: `lagra: ${path}${message}\n` });
    }
    const nothing = await run(['config', 'check', '--config', '/nowhere/lagra.conf']);
    assert.equal(nothing.code, 2);
    assert.match(nothing.errors, /cannot read \/nowhere\/lagra\.conf/);
    const binary = await configFile(t, 'blobPort = 1\0');
    assert.match((await run(['config', 'check', '--config', binary])).errors, /contains NUL/);
});

test('what is wrong in the environment: the variable, and the nearest one', async () => {
    const wrong = async (env) => {
        const { code, errors } = await run(['config', 'check'], env);
        assert.equal(code, 2);
        return errors;
    };
    assert.equal(await wrong({ LAGRA_BLOB_PORT: 'tcp://10.0.0.1:1' }),
        'lagra: LAGRA_BLOB_PORT takes a port number from 0 to 65535, not "tcp://10.0.0.1:1"\n');
    assert.equal(await wrong({ LAGRA_BLOBPORT: '1' }),
        'lagra: the variable LAGRA_BLOBPORT is not an option; did you mean LAGRA_BLOB_PORT?\n');
    // Kubernetes sets these in every container beside a service that is called lagra.
    const { code } = await run(['config', 'check'], { LAGRA_PORT: 'tcp://10.0.0.1:80', LAGRA_SERVICE_HOST: '10.0.0.1',
        LAGRA_SERVICE_PORT: '80', LAGRA_PORT_80_TCP_ADDR: '10.0.0.1' });
    assert.equal(code, 0);
});

test('config check refuses what a start would refuse', async () => {
    for (const [args, message] of [[['config'], /config expects check/], [['config', 'chekc'], /config expects check/],
        [['config', 'check', '--cert', 'x'], /--cert requires/],
        [['config', 'check', '--allowCopyFrom', '10.0.0.1', '--allowCopyFrom', '10.0.0.2'], /--allowCopyFrom is given twice/]]) {
        const { code, errors } = await run(args);
        assert.equal(code, 2);
        assert.match(errors, message);
    }
});

test('docs/options.md is what the program prints; manual and completion are of the same table', async () => {
    const { output } = await run(['options', '--markdown']);
    assert.equal(await readFile(new URL('../../docs/options.md', import.meta.url), 'utf8'), output);
    for (const [form, what] of [['--man', '\\-\\-blobPort'], ['--bash', '--blobPort'], ['--zsh', '--blobPort']])
        assert.ok((await run(['options', form])).output.includes(what), form);
    assert.equal((await run(['options', '--json'])).code, 2);
});

test('a server is run by a file and the environment alone', async (t) => {
    const ports = await freePorts(4);
    const path = await configFile(t, `blobPort = ${ports[0]}`, `queuePort = ${ports[1]}`, 'inMemoryPersistence = true',
        `filePort = ${ports[3]}`);
    const server = await Server.start({ words: ['serve'], env: { LAGRA_CONFIG: path, LAGRA_TABLE_PORT: `${ports[2]}` } });
    t.after(() => server.kill());
    const { dfs, ...others } = server.ports;
    assert.deepEqual(others, { blob: ports[0], queue: ports[1], table: ports[2], file: ports[3] });
    assert.ok(dfs > 0);
});
