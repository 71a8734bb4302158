// The program as a command that ends.
import { spawn } from 'node:child_process';
import { once as event } from 'node:events';

/** Runs lagra to its end, or kills it then: { code, output, errors }. */
export async function run(args, env = {}, limitMs = 15000) {
    const child = spawn(process.env.LAGRA_BINARY, args, { env: { ...process.env, ...env } });
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'])
        child[name].on('data', (bytes) => {
            texts[name] += bytes;
        });
    const limit = setTimeout(() => child.kill('SIGKILL'), limitMs);
    const [code] = await event(child, 'close');
    clearTimeout(limit);
    return { code, output: texts.stdout, errors: texts.stderr };
}
