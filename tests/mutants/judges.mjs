// Who has to notice a mutation of a room: its unit programs and those of the rooms above it, the
// simulator, and the suites that ask a whole server. Those named as the file come first, then the
// quick ones: how long each takes is learned as they pass.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../lib/changed_program.mjs';

/* Room -> rooms whose unit programs use it, simulations, suites of tests/run.mjs; those of
 * clients and isolation by their files ("isolation:table" is all whose name begins so). */
const CLIENTS = {
    auth: 'clients:authentication,sas,tokens,tables-sas',
    concurrency: 'clients:conditions,leases,etags,tags',
    http: 'clients:wire,tables-wire,uploads',
    content: 'clients:pages,append,blocks,snapshots,copy-pages,copy-incremental',
    service: 'clients:batch,containers,cors,from-url,health,pages,ranges,service,sources,tables-wire,transactions,website,wire',
    file: 'clients:directories,file,listing-files,permissions,share',
    source: 'clients:copy,file-copies,from-url,hostile-sources,sources',
    blob: 'clients:blocks,copy,deleted-containers,listing,soft-delete,tags,tiers,versions',
    analytics: 'clients:analytics,logs',
    admin: 'clients:accounts,admin,management,restore,saved-states,scrub,testing',
    cluster: 'clients:cell,cluster-operation,failover,forwarding,move,placement',
    dfs: 'clients:deleted-paths,dfs,expiry,hadoop,hierarchical,posix-acls',
    check: 'clients:metrics,restore,scrub',
    cli: 'clients:accounts,admin,config,management,process',
    server: 'clients:certificate,config,health,process,resources,sandbox',
    queue: 'clients:messages,queues',
    table: 'clients:entities,queries,tables,tables-sas,tables-wire,transactions',
};
/* Runs of the simulator other than that of a service. */
const BY_SMB = ['--service', 'file', '--faults', '2051', '--lives', '6', '--clients', '9', '--operations', '60'];
const SIMULATIONS = {
    smb: BY_SMB,
    fleet: ['--fronts', '3', '--cluster-cells', '2', '--service', 'blob'],
    'fleet of queues': ['--fronts', '3', '--cluster-cells', '2', '--service', 'queue'],
};
const SLOW = 10; // A simulated request of a fleet costs as much as so many others.
const CONCERNED = {
    base: { units: ['http', 'service', 'blob', 'content'], simulations: ['blob', 'smb'], suites: ['wire', 'replay'] },
    concurrency: { units: ['service', 'blob'], simulations: ['blob'], suites: ['replay', 'isolation:lease,tags', CLIENTS.concurrency] },
    http: { units: ['service'], simulations: ['blob'], wire: true, suites: ['wire', 'replay', CLIENTS.http] },
    net: { units: ['http', 'service'], simulations: ['blob'], wire: true, suites: ['wire', CLIENTS.http] },
    auth: { units: ['service', 'blob'], simulations: ['blob', 'table'], suites: ['replay', CLIENTS.auth] },
    store: { units: ['content', 'check'], simulations: ['blob', 'queue', 'table'], suites: ['clients:metrics,process', 'replay', 'isolation', 'power', 'damage'] },
    content: { units: ['blob'], simulations: ['blob'], suites: ['replay', 'isolation:pages,append,block,reader,snapshot', CLIENTS.content] },
    service: { units: ['blob', 'queue', 'table'], simulations: ['blob', 'queue', 'table'], suites: ['smb', 'wire', 'replay', 'isolation', CLIENTS.service] },
    acl: { units: ['handles', 'file', 'blob', 'dfs'], simulations: ['file', 'path'], suites: ['smb', CLIENTS.file, CLIENTS.dfs] },
    opens: { units: ['handles', 'file', 'smb'], simulations: ['file', 'smb'], suites: ['smb', 'isolation:directory,file,share', CLIENTS.file] },
    handles: { units: ['smb'], simulations: ['smb'], suites: ['smb'] },
    request: { units: ['service', 'blob'], simulations: ['blob', 'queue', 'table'], suites: ['wire', 'replay', 'isolation', CLIENTS.service] },
    properties: { units: ['service', 'blob'], simulations: ['blob', 'queue', 'table'], suites: ['wire', 'replay', 'isolation', CLIENTS.service] },
    observe: { units: ['service'], simulations: ['blob'], suites: ['clients:logs,metrics,analytics'] },
    file: { units: ['handles'], simulations: ['file'], suites: ['isolation:directory,file,share', CLIENTS.file] },
    queue: { units: [], simulations: ['queue'], suites: ['replay', 'isolation:queue', CLIENTS.queue] },
    table: { units: [], simulations: ['table'], suites: ['replay', 'isolation:table', CLIENTS.table] },
    tree: { units: ['opens', 'file', 'handles', 'blob'], simulations: ['file', 'path'], suites: ['isolation:directory,file,path,share', CLIENTS.file] },
    source: { units: ['service', 'blob', 'file'], simulations: ['blob', 'file'], suites: ['replay', 'isolation:copy,file-copy,from', CLIENTS.source] },
    smb: { units: [], simulations: ['smb'], suites: ['smb', 'samba'] },
    smb_session: { units: ['smb'], simulations: ['smb'], suites: ['smb', 'samba'] },
    smb_protocol: { units: ['smb_session', 'smb'], simulations: ['smb'], suites: ['smb', 'samba'] },
    blob: { units: ['service', 'dfs'], simulations: ['blob', 'path'], suites: ['replay', CLIENTS.blob, CLIENTS.dfs] },
    dfs: { units: ['blob'], simulations: ['path'], suites: ['replay', 'isolation:path', CLIENTS.dfs] },
    analytics: { units: [], simulations: ['blob'], suites: [CLIENTS.analytics] },
    backup: { units: [], simulations: ['blob'], suites: ['backup'] },
    admin: { units: [], simulations: ['blob'], suites: [CLIENTS.admin] },
    check: { units: [], simulations: [], suites: ['damage', CLIENTS.check] },
    cli: { units: ['server'], simulations: [], suites: [CLIENTS.cli] },
    server: { units: ['cli'], simulations: [], suites: [CLIENTS.server] },
    seed: { units: [], simulations: [], suites: ['clients:seeding,images'] },
    fetch: { units: ['source'], simulations: [], suites: ['clients:from-url,hostile-sources,source'] },
    transfer: { units: [], simulations: [], suites: ['clients:import'] },
    console: { units: [], simulations: [], suites: ['console'] },
    cluster: { units: [], simulations: ['fleet', 'fleet of queues'], suites: [CLIENTS.cluster] },
};
export const ROOMS = Object.keys(CONCERNED);

const LIMIT_FIRST_S = 300; // of a judge whose time is not known
const LIMIT_LEAST_S = 30;
const LIMIT_TIMES = 10;
const WALL_TIMES = 10; // A busy machine gives a process a part of the processor's time.
const QUICK_MS = 4000;
/* The faults of a drawn run, and the bit that sends it by the wire (tests/sim/README.md). */
const BY_THE_WIRE = ['--faults', '1283'];

/** Names of what an object file or program defines, and may be called from elsewhere. */
function defined(build, file, kinds) {
    return build.run('nm', ['--defined-only', file]).output.split('\n')
        .map((line) => line.split(' ')).filter(([, kind]) => kinds.includes(kind)).map(([, , name]) => name);
}

export class Judges {
    #build;
    #units;
    #requests;
    #times; // milliseconds of a judge that passed
    #timesFile;
    #symbols = new Map(); // of a unit program

    /** requests: of the simulator, each service; quick: no suites of a whole server, no long unit program */
    constructor(build, { requests, quick }) {
        const listed = spawnSync('meson', ['introspect', '--tests', build.folder], { encoding: 'utf8' });

        this.#build = build;
        this.#requests = requests;
        this.quick = quick;
        this.#timesFile = path.join(build.folder, 'mutants.times.json');
        this.#times = existsSync(this.#timesFile) ? JSON.parse(readFileSync(this.#timesFile, 'utf8')) : {};
        this.#units = JSON.parse(listed.stdout).map(({ name, cmd, env }) =>
            ({ name, env, target: path.relative(build.folder, cmd[0]), args: cmd.slice(1) }));
    }

    /** Does a program fail, end by a signal, or not end at all? */
    #fails(name, program, args, env = {}) {
        const began = Date.now(), known = this.#times[name];
        const seconds = known === undefined ? LIMIT_FIRST_S : LIMIT_LEAST_S + Math.ceil(LIMIT_TIMES * known / 1000);
        // It ends all that a program has forked, too: lives of the simulator, servers of suites.
        const { status } = this.#build.run('timeout', ['--signal=KILL', `${WALL_TIMES * seconds}`, 'prlimit', `--cpu=${seconds}`, program, ...args],
            { cwd: ROOT, env: { ...process.env, ...env } });

        if (status === 0) {
            this.#times[name] = Date.now() - began;
            writeFileSync(this.#timesFile, JSON.stringify(this.#times));
        }
        return status !== 0;
    }

    /** What fails is asked once more, a test of times may fail on a busy machine; a judge that was never
     *  seen to pass has to pass without the mutation. */
    #judge(name, ask) {
        return { name, fails: (object, unchanged, into) => {
            if (!ask(object, into) || !ask(object, into))
                return false;
            if (this.#times[name] === undefined && ask(unchanged, into))
                throw new Error(`${name} fails without a mutation`);
            return true;
        } };
    }

    #unit({ name, target, args, env }) {
        return this.#judge(name, (object, into) =>
            this.#fails(name, this.#build.link(target, object, into), args, env));
    }

    /** which: a service, or one of SIMULATIONS */
    #simulation(which, wire) {
        const name = `simulate ${which}`;
        const requests = which.startsWith('fleet') ? Math.ceil(this.#requests / SLOW) : this.#requests;
        const args = ['--no-shrink', '--seed', '1', '--requests', String(requests),
            ...(SIMULATIONS[which] ?? ['--service', which]), ...(wire ? BY_THE_WIRE : [])];

        return this.#judge(name, (object, into) =>
            this.#fails(name, this.#build.link('tests/sim/simulate', object, into), args));
    }

    /** Programs that are no part of the mutation lie in the build's tests/. */
    #suite(name) {
        return this.#judge(name, (object, into) => {
            this.#build.link('lagra', object, into);
            if (!existsSync(path.join(into, 'tests')))
                symlinkSync(path.join(this.#build.folder, 'tests'), path.join(into, 'tests'));
            return this.#fails(name, process.execPath,
                [path.join(ROOT, 'tests/run.mjs'), '--build', into, name]);
        });
    }

    /** Does the program of a unit test hold anything of an object? */
    #holds({ target }, names) {
        if (!this.#symbols.has(target))
            this.#symbols.set(target, new Set(defined(this.#build, path.join(this.#build.folder, target), 'TDBR')));
        return names.some((name) => this.#symbols.get(target).has(name));
    }

    /** Those of a file of a room, in the order in which they are asked: { name, fails(object, unchanged,
     *  folder) }. object: of the file */
    of(room, file, object) {
        const { units, simulations, wire, suites } = CONCERNED[room];
        const stem = path.basename(file, '.c');
        const near = [room, ...units].map((each) => `tests/unit/${each}/`);
        const names = defined(this.#build, object, 'TDBR');
        const named = ({ name }) => (name.includes(stem) ? 0 : 1);
        const time = ({ name }) => this.#times[name] ?? 0;

        return [
            ...this.#units.filter(({ target }) => near.some((folder) => target.startsWith(folder)))
                .filter((unit) => this.#holds(unit, names)).map((unit) => this.#unit(unit))
                .filter((unit) => !this.quick || time(unit) <= QUICK_MS || named(unit) === 0),
            ...simulations.map((which) => this.#simulation(which, wire)),
            ...(this.quick ? [] : suites.map((suite) => this.#suite(suite))),
        ].sort((a, b) => named(a) - named(b) || time(a) - time(b));
    }
}
