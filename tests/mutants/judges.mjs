// Who has to notice a mutation of a room: its unit programs first, then those of the rooms above it,
// the simulator, and the suites that ask a whole server; cheap ones before dear ones.

import { spawnSync } from 'node:child_process';
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

/* Unit programs that take longer than a simulation: judges after it. */
const SLOW_UNITS = ['test_conformance_sites', 'test_server', 'test_descriptors', 'test_log_space', 'test_limits'];
const UNIT_LIMIT_S = 240;
const SUITE_LIMIT_S = 1800;
/* The faults of a drawn run, and the bit that sends it by the wire (tests/sim/README.md). */
const BY_THE_WIRE = ['--faults', '1283'];

export class Judges {
    #build;
    #units;
    #simSeconds;

    constructor(build, simSeconds) {
        const listed = spawnSync('meson', ['introspect', '--tests', build.folder], { encoding: 'utf8' });

        this.#build = build;
        this.#simSeconds = simSeconds;
        this.#units = JSON.parse(listed.stdout).map(({ name, cmd, env }) =>
            ({ name, env, target: path.relative(build.folder, cmd[0]), args: cmd.slice(1) }));
    }

    /** Does a program fail, end by a signal, or not end at all? */
    #fails(program, args, limit, env = {}) {
        const { status, output } = this.#build.run(program, args,
            { timeout: limit * 1000, killSignal: 'SIGKILL', cwd: ROOT, env: { ...process.env, ...env } });

        return status === 0 ? null : { status, output };
    }

    #unitsOf(room, file) {
        const stem = path.basename(file, '.c');
        const own = this.#units.filter(({ target }) => target.startsWith(`tests/unit/${room}/`));

        return own.sort((a, b) => b.name.includes(stem) - a.name.includes(stem));
    }

    /** One judge after another: { name, judge(object, folder) -> null or { status, output } }. */
    *of(room, file) {
        const { units, services, wire, suites } = CONCERNED[room];

        const programs = [room, ...units].flatMap((each) => this.#unitsOf(each, file));
        const unitJudge = (unit) => ({ name: unit.name, judge: (object, into) =>
            this.#fails(this.#build.link(unit.target, object, into), unit.args, UNIT_LIMIT_S, unit.env) });

        yield* programs.filter(({ name }) => !SLOW_UNITS.includes(name)).map(unitJudge);
        for (const service of services)
            yield { name: `simulate ${service}`, judge: (object, into) =>
                this.#fails(this.#build.link('tests/sim/simulate', object, into), ['--no-shrink', '--seed', '1', '--seconds',
                    String(this.#simSeconds), '--service', service, ...(wire ? BY_THE_WIRE : [])], SUITE_LIMIT_S) };
        yield* programs.filter(({ name }) => SLOW_UNITS.includes(name)).map(unitJudge);
        for (const suite of suites)
            yield { name: suite, judge: (object, into) => {
                this.#build.link('lagra', object, into);
                return this.#fails(process.execPath, [path.join(ROOT, 'tests/run.mjs'), '--build', into, suite], SUITE_LIMIT_S);
            } };
    }
}
