// Podman with a storage of its own, so that no image, volume or container of this machine is seen or
// touched; and containers that it runs.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

export const IMAGE = 'localhost/lagra-test';
/** The name that packaging/Containerfile begins from. */
export const BASE = 'docker.io/library/debian:bookworm-slim';

/** This machine's: npm may be reached by a proxy that the base image does not know. */
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
const START_LIMIT_MS = 60000;
const execute = promisify(execFile);

export const isInstalled = (program) => [...process.env.PATH.split(':'), '/usr/sbin', '/sbin']
    .some((folder) => existsSync(path.join(folder, program)));

/** Podman asks for more than a process without CAP_SYS_RESOURCE may have. */
function ulimits() {
    const [, most] = readFileSync('/proc/self/limits', 'utf8').match(/^Max open files +\d+ +(\d+)/m);

    return ['--ulimit', `nofile=${most}:${most}`, '--ulimit', 'nproc=1024:1024'];
}

export class Podman {
    #options;

    constructor(storage) {
        this.#options = ['--root', path.join(storage, 'root'), '--runroot', path.join(storage, 'run'),
            ...(isInstalled('runc') ? ['--runtime', 'runc'] : [])];
    }

    /** Its output; throws with all that it said unless it exits 0. */
    async run(...args) {
        return (await this.#execute(args)).stdout.trim();
    }

    /** The same and what it said on stderr, as containers do when their log is asked for. */
    async all(...args) {
        const { stdout, stderr } = await this.#execute(args);

        return stdout + stderr;
    }

    #execute(args) {
        return execute('podman', [...this.#options, ...args], { maxBuffer: 1 << 26 });
    }

    /** The exit code. */
    async code(...args) {
        return this.run(...args).then(() => 0, (error) => error.code);
    }

    build(context) {
        const trusts = existsSync(AUTHORITIES) ? ['--volume', `${AUTHORITIES}:/authorities.pem:ro`, '--build-arg', 'NPM_CONFIG_CAFILE=/authorities.pem'] : [];

        return this.run('build', '--format', 'docker', '--network', 'host', ...ulimits().slice(0, 2), ...trusts,
            '-f', path.join(context, 'packaging/Containerfile'), '-t', IMAGE, context);
    }

    /** The image's health check, with a limit that no busy machine reaches: past it podman ends with 125, whatever the
     *  command answers in the end. Nor is there an interval: tests ask themselves. */
    async #health() {
        const [{ Healthcheck: { Test: [, ...command], StartPeriod: nanoseconds } }] =
            JSON.parse(await this.run('image', 'inspect', IMAGE));

        return ['--health-cmd', JSON.stringify(command), '--health-interval', 'disable', '--health-timeout', '5m',
            '--health-start-period', `${nanoseconds / 1e9}s`];
    }

    /** A container of the image, removed after the test.
     *  options   of podman run
     *  command   in the place of the image's */
    async start(t, options = [], command = []) {
        const id = await this.run('run', '-d', ...ulimits(), ...await this.#health(), ...[10000, 10001, 10002]
            .flatMap((port) => ['-p', `127.0.0.1::${port}`]), ...options, IMAGE, ...command);
        const container = new Container(this, id);

        t.after(() => container.remove());
        return container;
    }
}

export class Container {
    #podman;

    constructor(podman, id) {
        this.#podman = podman;
        this.id = id;
    }

    podman(command, ...args) {
        return this.#podman.run(command, ...args, this.id);
    }

    async lines() {
        return (await this.podman('logs')).split('\n').filter((line) => line.startsWith('Azurite '));
    }

    /** What it said, on stderr too. */
    async everything() {
        return this.#podman.all('logs', this.id);
    }

    async inspect(format) {
        return this.podman('inspect', '--format', format);
    }

    /** As wait strategies do: until the output has the line so many times. */
    async said(wanted, times = 1) {
        for (const until = Date.now() + START_LIMIT_MS; ; await delay(100)) {
            const lines = await this.lines();

            if (lines.filter((line) => wanted.test(line)).length >= times)
                return lines;
            if (Date.now() > until || (await this.inspect('{{.State.Running}}')) !== 'true')
                throw new Error(`not said: ${wanted}\n${lines.join('\n')}`);
        }
    }

    /** All three services, by Azurite's lines. */
    async ready(times = 1) {
        for (const service of ['Blob', 'Queue', 'Table'])
            await this.said(new RegExp(`${service} service is successfully listening`), times);
    }

    exec(...command) {
        return this.#podman.run('exec', this.id, ...command);
    }

    /** Runs the image's health check, as an interval would: 0, healthy. */
    health() {
        return this.#podman.code('healthcheck', 'run', this.id);
    }

    /** The published port of one of the container. */
    async port(of) {
        return (await this.#podman.run('port', this.id, `${of}/tcp`)).match(/:(\d+)$/m)[1];
    }

    async url(of) {
        return `http://127.0.0.1:${await this.port(of)}/devstoreaccount1`;
    }

    /** The code that it ended with. */
    async ended() {
        return Number(await this.#podman.run('wait', this.id));
    }

    async remove() {
        await this.podman('rm', '-f', '-t', '0', '-v');
    }
}
