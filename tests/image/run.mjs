// The image of packaging/Containerfile, built and run: run.mjs [--storage FOLDER]
//
// Needs podman, and for the base image a registry or debootstrap (as root). The images are kept in
// FOLDER for the next run; without it nothing is. The last line is the count.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runTestFiles } from '../lib/test_files.mjs';
import { BASE, IMAGE, isInstalled, Podman } from './podman.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.resolve(HERE, '../..');
const { values: options } = parseArgs({ options: { storage: { type: 'string' } } });

/** Debian 12 as debootstrap makes it is what the official image has, with a few files more. */
async function provideBase(podman, storage) {
    const packed = path.join(storage, 'base.tar');

    if (await podman.code('image', 'exists', BASE) === 0 || await podman.code('pull', '-q', BASE) === 0)
        return;
    if (process.getuid() !== 0 || !isInstalled('debootstrap'))
        throw new Error(`${BASE} cannot be pulled, and debootstrap (as root) is not there to make it`);
    console.log(`${BASE} cannot be pulled: made by debootstrap`);
    const system = execFileSync(path.join(ROOT, 'tests/platforms/system'), ['bookworm'], { encoding: 'utf8' }).trim();
    execFileSync('tar', ['-C', system, '--exclude=./whole', '--exclude=./var/cache/apt/archives/*.deb',
        '--exclude=./var/lib/apt/lists/*', '-cf', packed, '.']);
    await podman.run('import', packed, BASE);
    rmSync(packed);
}

async function runTests(storage) {
    process.env.LAGRA_IMAGE_STORAGE = storage;
    return runTestFiles([path.join(HERE, 'image.test.mjs')], { timeout: 600000, all: true });
}

if (!isInstalled('podman')) {
    console.log('skipped: podman is not installed (tools/prepare image)');
    console.log('image: 0 passed, 0 failed, 1 skipped');
} else {
    if (options.storage)
        mkdirSync(options.storage, { recursive: true });
    const storage = options.storage ? path.resolve(options.storage) : mkdtempSync(path.join(tmpdir(), 'lagra-image-'));
    const podman = new Podman(storage);

    try {
        await podman.run('rm', '-a', '-f', '-v'); // what a run that was cut has left
        await provideBase(podman, storage);
        await podman.build(ROOT);
        console.log(`built: ${await podman.run('images', '--format', '{{.Size}}', IMAGE)}, of which the base has ` +
            await podman.run('images', '--format', '{{.Size}}', BASE));
        const { passed, failed } = await runTests(storage);
        console.log(`image: ${passed} passed, ${failed} failed`);
        process.exitCode = failed === 0 ? 0 : 1;
    } finally {
        if (!options.storage) {
            await podman.code('rmi', '-a', '-f');
            rmSync(storage, { recursive: true, force: true });
        }
    }
}
