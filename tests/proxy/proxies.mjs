// nginx, HAProxy and Caddy with the lines of docs/tls-and-proxies.md, on other ports and with other certificates.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const DOCUMENT = readFileSync(new URL('../../docs/tls-and-proxies.md', import.meta.url), 'utf8');
const START_LIMIT_MS = 60000;

/** The lines of a block, with each of the pairs [from, to] exchanged: all of them have to be there. */
function linesOf(block, exchanges) {
    let text = DOCUMENT.match(new RegExp(`\`\`\`${block}\n(.*?)\`\`\``, 's'))[1];

    for (const [from, to] of exchanges) {
        if (!text.includes(from))
            throw new Error(`docs/tls-and-proxies.md: ${block} has no "${from}"`);
        text = text.replaceAll(from, to);
    }
    return text;
}

/** A certificate for localhost, and its key, in a folder. */
export function makeCertificate(folder) {
    const [cert, key, both, template] = ['cert.pem', 'key.pem', 'both.pem', 'template'].map((file) => path.join(folder, file));

    writeFileSync(template, 'cn = localhost\ndns_name = localhost\nip_address = 127.0.0.1\nexpiration_days = 2\nca\nsigning_key\ntls_www_server\n');
    execFileSync('certtool', ['--generate-privkey', '--key-type', 'ecdsa', '--outfile', key], { stdio: 'ignore' });
    execFileSync('certtool', ['--generate-self-signed', '--load-privkey', key, '--template', template, '--outfile', cert], { stdio: 'ignore' });
    writeFileSync(both, readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
    return { cert, key, both };
}

/** What starts each; where: { folder, files, tls, plain, blob, smb }, ports and the certificate. tls and plain: the
 *  ports that it serves with TLS and without. */
const STARTS = {
    nginx({ folder, files, tls, plain, blob }) {
        const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`);
        const text = linesOf('nginx', [
            ['http {', `events {}\nhttp {\naccess_log off;\n${temporary.join('\n')}`],
            ['listen 443 ssl;', `listen 127.0.0.1:${tls} ssl; listen 127.0.0.1:${plain};`],
            ['/etc/ssl/storage.pem', files.cert], ['/etc/ssl/storage.key', files.key], ['127.0.0.1:10000', `127.0.0.1:${blob}`],
        ]);
        return ['nginx', text, (file) => ['-p', folder, '-c', file, '-e', 'stderr', '-g', `daemon off; master_process off; pid ${folder}/nginx.pid;`]];
    },
    haproxy({ files, tls, plain, blob }) {
        const text = linesOf('haproxy', [
            ['bind :443 ssl crt /etc/ssl/storage-and-key.pem', `bind 127.0.0.1:${tls} ssl crt ${files.both}\n    bind 127.0.0.1:${plain}`],
            ['127.0.0.1:10000', `127.0.0.1:${blob}`],
        ]);
        return ['haproxy', text, (file) => ['-db', '-f', file]];
    },
    'haproxy-tcp'({ files, tls, plain, blob, smbFront, smb }) {
        const text = linesOf('haproxy-tcp', [
            ['127.0.0.1:1445', `127.0.0.1:${smb}`], // first: a port that was drawn may begin with it
            ['bind :443 ssl crt /etc/ssl/storage-and-key.pem', `bind 127.0.0.1:${tls} ssl crt ${files.both}\n    bind 127.0.0.1:${plain}`],
            ['127.0.0.1:10000', `127.0.0.1:${blob}`], ['bind :445', `bind 127.0.0.1:${smbFront}`],
        ]);
        return ['haproxy', text, (file) => ['-db', '-f', file]];
    },
    caddy({ files, tls, plain, blob }) {
        const text = linesOf('caddy', [
            ['storage.example {', '{\n    admin off\n    auto_https disable_redirects\n    skip_install_trust\n}\n' +
                `http://localhost:${plain}, https://localhost:${tls} {\n    bind 127.0.0.1\n    import certificate https\n`],
            ['127.0.0.1:10000', `127.0.0.1:${blob}`],
        ]);
        /* One block for each scheme: the one without TLS takes no certificate. */
        const [global, site] = text.split(/^(?=http:)/m);
        const of = (address, more) => site.replace(/^http:.*\{$/m, `${address} {`).replace('import certificate https', more);
        return ['caddy', global + of(`https://localhost:${tls}`, `tls ${files.cert} ${files.key}`) + of(`http://localhost:${plain}`, ''),
            (file) => ['run', '--config', file, '--adapter', 'caddyfile']];
    },
};
export const KINDS = Object.keys(STARTS);

/** Debian's packages put them where only root looks. */
export const programOf = (name) => [`/usr/sbin/${name}`, `/usr/bin/${name}`].find(existsSync) ?? name;

export async function listens(port) {
    const socket = net.connect({ host: '127.0.0.1', port });

    try {
        await once(socket, 'connect');
        return true;
    } catch {
        return false;
    } finally {
        socket.destroy();
    }
}

const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Starts one, and waits until it listens. Gives what stops it. */
export async function startProxy(kind, where) {
    const [name, text, wordsOf] = STARTS[kind](where);
    const file = path.join(where.folder, `${kind}.conf`);
    let said = '', ended = false;

    writeFileSync(file, text);
    const child = spawn(programOf(name), wordsOf(file), { stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, HOME: where.folder, XDG_DATA_HOME: where.folder, XDG_CONFIG_HOME: where.folder } });
    running.add(child);
    child.stderr.setEncoding('utf8').on('data', (more) => { said += more; });
    const end = new Promise((resolve) => {
        child.once('error', (error) => resolve(error.message));
        child.once('close', () => resolve(said));
    }).then((why) => {
        ended = true;
        running.delete(child);
        return why;
    });
    const ports = [where.tls, where.plain];
    for (const limit = Date.now() + START_LIMIT_MS; !(await Promise.all(ports.map(listens))).every(Boolean); await delay(50)) {
        if (ended || Date.now() > limit)
            throw new Error(`${kind} does not listen: ${ended ? await end : said}`);
    }
    return async () => {
        child.kill('SIGKILL');
        await end;
    };
}
