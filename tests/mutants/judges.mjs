// Who has to notice a mutation of a room: its unit programs and those of the rooms above it, the
// simulator, and the suites that ask a whole server. Those named as the file come first, then the
// quick ones: how long each takes is learned as they pass.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../lib/changed_program.mjs';

/* Room -> rooms whose unit programs use it, services of the simulator, suites of tests/run.mjs. */
const CONCERNED = {
    base: { units: ['http', 'auth', 'service', 'store'], services: ['blob'], suites: ['clients', 'replay'] },
    concurrency: { units: ['service', 'blob'], services: ['blob'], suites: ['isolation', 'clients', 'replay'] },
    http: { units: ['service'], services: ['blob'], wire: true, suites: ['wire', 'clients'] },
    auth: { units: ['service', 'blob'], services: ['blob', 'table'], suites: ['clients', 'replay'] },
    store: { units: ['content'], services: ['blob', 'queue', 'table'], suites: ['isolation', 'clients', 'power'] },
    content: { units: ['blob'], services: ['blob'], suites: ['clients', 'isolation'] },
    service: { units: ['blob', 'queue', 'table'], services: ['blob', 'queue', 'table'], suites: ['clients', 'isolation', 'wire', 'replay'] },
    blob: { units: ['service'], services: ['blob'], suites: ['clients', 'isolation', 'replay'] },
    queue: { units: [], services: ['queue'], suites: ['clients', 'isolation', 'replay'] },
    table: { units: [], services: ['table'], suites: ['clients', 'isolation', 'replay'] },
};
export const ROOMS = ['store', 'service', 'concurrency', 'content', 'queue', 'table', 'auth', 'http'];

const UNIT_LIMIT_S = 240;
const SUITE_LIMIT_S = 1800;
/* The faults of a drawn run, and the bit that sends it by the wire (tests/sim/README.md). */
const BY_THE_WIRE = ['--faults', '1283'];

export class Judges {
    #build;
    #units;
    #simSeconds;
    #times; // milliseconds of a judge that passed
    #timesFile;

    /** quick: no suites of a whole server */
    constructor(build, { simSeconds, quick }) {
        const listed = spawnSync('meson', ['introspect', '--tests', build.folder], { encoding: 'utf8' });

        this.#build = build;
        this.#simSeconds = simSeconds;
        this.quick = quick;
        this.#timesFile = path.join(build.folder, 'mutants.times.json');
        this.#times = existsSync(this.#timesFile) ? JSON.parse(readFileSync(this.#timesFile, 'utf8')) : {};
        this.#units = JSON.parse(listed.stdout).map(({ name, cmd, env }) =>
            ({ name, env, target: path.relative(build.folder, cmd[0]), args: cmd.slice(1) }));
    }

    /** Does a program fail, end by a signal, or not end at all? */
    #fails(name, program, args, limit, env = {}) {
        const began = Date.now();
        const { status } = this.#build.run(program, args,
            { timeout: limit * 1000, killSignal: 'SIGKILL', cwd: ROOT, env: { ...process.env, ...env } });

        if (status === 0) {
            this.#times[name] = Date.now() - began;
            writeFileSync(this.#timesFile, JSON.stringify(this.#times));
        }
        return status !== 0;
    }

    #unit({ name, target, args, env }) {
        return { name, fails: (object, into) =>
            this.#fails(name, this.#build.link(target, object, into), args, UNIT_LIMIT_S, env) };
    }

    #simulation(service, wire) {
        const name = `simulate ${service}`;
        const args = ['--no-shrink', '--seed', '1', '--seconds', String(this.#simSeconds), '--service', service,
            ...(wire ? BY_THE_WIRE : [])];

        return { name, fails: (object, into) =>
            this.#fails(name, this.#build.link('tests/sim/simulate', object, into), args, SUITE_LIMIT_S) };
    }

    #suite(name) {
        return { name, fails: (object, into) => {
            this.#build.link('lagra', object, into);
            return this.#fails(name, process.execPath,
                [path.join(ROOT, 'tests/run.mjs'), '--build', into, name], SUITE_LIMIT_S);
        } };
    }

    /** Those of a file of a room, in the order in which they are asked: { name, fails(object, folder) }. */
    of(room, file) {
        const { units, services, wire, suites } = CONCERNED[room];
        const stem = path.basename(file, '.c');
        const near = [room, ...units].map((each) => `tests/unit/${each}/`);
        const named = ({ name }) => (name.includes(stem) ? 0 : 1);
        const time = ({ name }) => this.#times[name] ?? 0;

        return [
            ...this.#units.filter(({ target }) => near.some((folder) => target.startsWith(folder)))
                .map((unit) => this.#unit(unit)),
            ...services.map((service) => this.#simulation(service, wire)),
            ...(this.quick ? [] : suites.map((suite) => this.#suite(suite))),
        ].sort((a, b) => named(a) - named(b) || time(a) - time(b));
    }
}
