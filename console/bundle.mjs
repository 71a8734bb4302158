// Bundles the console's pages and writes them as a C file: bundle.mjs OUT.c DEPFILE TARGET. Called by console/bundle.
//
// Each file is there plain and compressed; names contain a hash of the content, so that browsers may cache them for ever.
// All of them together must stay below LIMIT_BYTES, compressed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const LIMIT_BYTES = 300 * 1024;
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8' };
const [out, depfile, target] = process.argv.slice(2);

const hashOf = (content) => createHash('sha256').update(content).digest('hex').slice(0, 12);

const hashed = (name, content) => {
    const { name: base, ext } = path.parse(name);
    return `${base}-${hashOf(content)}${ext}`;
};

/** The SDK can list blobs in a form that takes Apache Arrow, half a MiB of it; nothing here asks for that. */
const withoutArrow = {
    name: 'without-arrow',
    setup: ({ onResolve, onLoad }) => {
        onResolve({ filter: /^apache-arrow/ }, () => ({ path: 'apache-arrow', namespace: 'none' }));
        onLoad({ filter: /.*/, namespace: 'none' }, () => ({ contents: 'export const tableFromIPC = undefined;' }));
    },
};

/** What esbuild makes of src/app.tsx: the first page, and a file for each page that is loaded when it is opened. */
async function bundle() {
    const { outputFiles, metafile } = await build({
        absWorkingDir: HERE, entryPoints: ['src/app.tsx'], outdir: 'out', bundle: true, splitting: true, format: 'esm',
        minify: true, write: false, metafile: true, target: 'es2022', platform: 'browser', legalComments: 'none',
        jsx: 'automatic', jsxImportSource: 'preact', entryNames: '[name]-[hash]', chunkNames: '[name]-[hash]',
        define: { 'process.env.NODE_ENV': '"production"' }, logLevel: 'warning',
        plugins: [withoutArrow],
    });

    const outputs = new Map(Object.entries(metafile.outputs).map(([name, output]) => [path.basename(name), output]));
    /** What is loaded with a file, and with what that loads: the page names all of them, so that none waits for another. */
    const loadedWith = (name, found = new Set()) => {
        for (const { path: file, kind } of outputs.get(name).imports)
            if (kind === 'import-statement' && !found.has(path.basename(file)))
                loadedWith(path.basename(file), found.add(path.basename(file)));
        return found;
    };

    return { loadedWith, files: outputFiles.map(({ path: file, contents }) => ({ name: path.basename(file), content: Buffer.from(contents) })),
        inputs: Object.keys(metafile.inputs) };
}

function asset(name, { as = (content) => hashed(name, content) } = {}) {
    const content = readFileSync(path.join(HERE, 'src', name));
    return { name: as(content), content };
}

/** What those who wrote the packages in the bundle want to be handed on with it. */
function licensesOf(inputs) {
    const packages = new Set(inputs.map((name) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(name)?.[1]).filter(Boolean));
    const texts = new Map();

    for (const name of [...packages].sort()) {
        const folder = path.join(HERE, 'node_modules', name);
        const { license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
        const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
        const text = file ? readFileSync(path.join(folder, file), 'utf8').trim() : `License: ${license}`;
        texts.set(text, [...texts.get(text) ?? [], name]);
    }
    return Buffer.from([...texts].map(([text, names]) => `${names.join(', ')}\n\n${text}\n`).join(`\n${'-'.repeat(72)}\n\n`));
}

function cOf(files) {
    const lines = ['/* Created by console/bundle.mjs. */', '#include "console/assets.h"', ''];
    const addBytes = (name, bytes) => {
        lines.push(`static const unsigned char ${name}[] = {`);
        for (let at = 0; at < bytes.length; at += 40)
            lines.push(`${[...bytes.subarray(at, at + 40)].join(',')},`);
        lines.push('};');
    };

    files.forEach(({ content, packed }, i) => {
        addBytes(`bytes_${i}`, content);
        addBytes(`gzip_${i}`, packed);
    });
    lines.push('const struct asset console_assets[] = {');
    files.forEach(({ name, hash }, i) => lines.push(
        `    { "${name}", "${TYPES[path.extname(name)]}", "${hash}", bytes_${i}, sizeof bytes_${i}, gzip_${i}, sizeof gzip_${i} },`));
    lines.push('};', 'const size_t console_asset_count = sizeof console_assets / sizeof console_assets[0];', '');
    return lines.join('\n');
}

const { files, inputs, loadedWith } = await bundle();
const style = asset('style.css');
const icon = asset('icon.svg');
const entry = files.find(({ name }) => name.startsWith('app-'));
const page = readFileSync(path.join(HERE, 'src/index.html'), 'utf8')
    .replaceAll('{app}', entry.name).replaceAll('{style}', style.name).replaceAll('{icon}', icon.name)
    .replace('{loaded}', [...loadedWith(entry.name)].map((name) => `<link rel="modulepreload" href="${name}">`).join('\n'));
const all = [{ name: 'index.html', content: Buffer.from(page) }, { name: 'licenses.txt', content: licensesOf(inputs) }, style, icon, ...files]
    .map(({ name, content }) => ({ name, content, hash: hashOf(content), packed: gzipSync(content, { level: 9 }) }));
const size = all.reduce((sum, { packed }) => sum + packed.length, 0);
if (size >= LIMIT_BYTES)
    throw new Error(`the console has ${size} bytes, compressed; ${LIMIT_BYTES} are the limit`);
if (process.env.CONSOLE_SIZES)
    for (const { name, packed } of all)
        console.log(`${String(packed.length).padStart(8)} ${name}`);

const c = cOf(all);
if (!existsSync(out) || readFileSync(out, 'utf8') !== c)
    writeFileSync(out, c);
const own = [...readdirSync(path.join(HERE, 'src')).map((name) => `src/${name}`), 'node_modules/.package-lock.json', 'bundle.mjs',
    ...inputs.filter((name) => name.startsWith('src/'))];
writeFileSync(depfile, `${target}: ${[...new Set(own)].map((name) => path.join(HERE, name).replaceAll(' ', '\\ ')).join(' ')}\n`);
