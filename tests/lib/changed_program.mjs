// Programs of a build with one source file changed: the changed copy is compiled as the build compiles
// the original, and linked before everything else, so that its symbols are the ones that are used.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

export class Build {
    #folder;
    #commands;
    #links = new Map();

    constructor(folder) {
        this.#folder = path.resolve(folder);
        this.#commands = JSON.parse(readFileSync(path.join(this.#folder, 'compile_commands.json'), 'utf8'));
    }

    get folder() {
        return this.#folder;
    }

    run(command, args, options = {}) {
        const child = spawnSync(command, args, { encoding: 'utf8', cwd: this.#folder, maxBuffer: 1 << 26, ...options });

        return { status: child.status ?? child.signal ?? 'none', output: `${child.stdout}${child.stderr}` };
    }

    #shell(command) {
        const { status, output } = this.run('sh', ['-c', command]);

        if (status !== 0)
            throw new Error(output);
    }

    /** Compiles `text` in the place of the source file `file` (from ROOT), as the build does it for the
     *  library `library` where it does so more than once. Returns the object's path. Throws what the
     *  compiler says. */
    compile(file, text, into, library = '') {
        const copy = path.join(into, path.basename(file));
        const original = path.join(ROOT, file);
        const all = this.#commands.filter(({ file: of }) => path.resolve(this.#folder, of) === original);
        const own = all.find(({ output }) => library && output.includes(library)) ?? all[0];
        const command = own.command.replace(/ -o \S+ -c \S+$/, '').replace(/ -M[QF] \S+| -MD/g, '').replace(/-Werror/g, '-w');

        mkdirSync(into, { recursive: true });
        writeFileSync(copy, text);
        this.#shell(`${command} -I${path.dirname(original)} -o ${copy}.o -c ${copy}`);
        return `${copy}.o`;
    }

    /** Links the build's `target` with `object` before its own. Returns the program's path. */
    link(target, object, into) {
        const program = path.join(into, path.basename(target));

        if (!this.#links.has(target)) {
            const commands = this.run('ninja', ['-t', 'commands', '-s', target]).output.trim();
            this.#links.set(target, commands.split('\n').at(-1));
        }
        this.#shell(this.#links.get(target)
            .replace(/-o \S+/, `-o ${program} -Wl,--allow-multiple-definition ${object}`));
        return program;
    }
}
