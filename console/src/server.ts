// Requests to the server itself: the session, and shared access signatures for the data. The token that each request carries
// is stored for this origin only; no script can read the cookie that belongs to it.

export interface Session {
    operator: boolean;
    version: string;
    accounts: string[];
    hierarchical: string[]; // those of the accounts with a hierarchical namespace
    services: Partial<Record<Service, number>>;
    secure: boolean;
    faults: boolean;
}
export type Service = 'blob' | 'queue' | 'table' | 'file' | 'dfs';

/** An error response, with the server's message. */
export class Refusal extends Error {
    constructor(readonly status: number, readonly code: string, message: string) {
        super(message);
    }
}

/** The pages of another build: a page that is loaded only now no longer exists. */
export class Upgraded extends Error {
    constructor() {
        super('The server was upgraded while this page was open. Reload the page to continue.');
    }
}

const TOKEN = 'lagra-console-token';
const PATIENCE_MS = 30000;
let whenSignedOut: (hasEnded: boolean) => void = () => {};
let signatures = new Map<string, { query: string; until: number }>();

/** Calls the handler when nobody is signed in any more. hasEnded: the session has ended, the user did not end it. */
export const onSignedOut = (handler: (hasEnded: boolean) => void) => {
    whenSignedOut = handler;
};

/** Fails when there is no result in time, so that no page waits for ever. */
export function inTime<T>(work: Promise<T>): Promise<T> {
    let timer: number;
    const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Refusal(0, 'Timeout', `The server has not responded for ${PATIENCE_MS / 1000} seconds.`)), PATIENCE_MS);
    });

    return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function forget() {
    localStorage.removeItem(TOKEN);
    signatures = new Map();
}

/** isTimed: a timer sends it, so it does not keep the session alive. */
export async function ask<T>(operation: string, args: Record<string, string> = {}, { isTimed = false } = {}): Promise<T> {
    const answer = await inTime(fetch(`api/${operation}`, {
        method: 'POST', body: JSON.stringify(args), credentials: 'same-origin', cache: 'no-store',
        headers: { 'Content-Type': 'application/json', 'x-lagra-console': localStorage.getItem(TOKEN) ?? '', ...(isTimed && { 'x-lagra-console-timer': '1' }) },
    }));
    const body = await answer.json().catch(() => ({})) as T & { code?: string; error?: string };

    if (answer.ok)
        return body;
    if (answer.status === 401) {
        forget();
        whenSignedOut(true);
    }
    throw new Refusal(answer.status, body.code ?? 'Unknown', body.error ?? `The server responded with status ${answer.status}.`);
}

/** Returns true if there was no response: the server or the network is down, or a proxy says so. */
export function isAway(error: unknown): boolean {
    const { name, code, message = '', statusCode, status = statusCode } = (error ?? {}) as { name?: string; code?: string; message?: string; statusCode?: number; status?: number };

    return code === 'REQUEST_SEND_ERROR' || code === 'Timeout' || status === 502 || status === 504 ||
        (name === 'TypeError' && /fetch|network|load failed/i.test(message));
}

/** Signs out if the error of a request for data says that the session has ended. */
export async function noticeEnd(error: unknown) {
    const { statusCode, status = statusCode } = (error ?? {}) as { statusCode?: number; status?: number };

    if (status === 401 && hasToken())
        await ask('session').catch(() => {});
}

/** Loads a page's script. One that cannot be loaded is of another build, or the server is away. */
export async function loadScript<T>(load: () => Promise<T>): Promise<T> {
    try {
        return await inTime(load());
    } catch (error) {
        const page = await inTime(fetch('./', { cache: 'no-store' })).then(async (answer) => (answer.ok ? answer.text() : ''));
        const own = document.querySelector<HTMLScriptElement>('script[type=module]')?.src.split('/').at(-1) ?? '';
        throw page && !page.includes(own) ? new Upgraded() : error;
    }
}

export const hasToken = () => localStorage.getItem(TOKEN) !== null;

export async function signIn(by: { account: string; key: string } | { link: string }) {
    const { token } = await ask<{ token: string }>('sign-in', by);

    localStorage.setItem(TOKEN, token);
}

export async function signOut() {
    await ask('sign-out').catch(() => {});
    forget();
    whenSignedOut(false);
}

/** The query of a shared access signature for the entire account, valid for at least another half hour. */
export async function signatureOf(account: string): Promise<string> {
    const known = signatures.get(account);

    if (known && known.until > Date.now())
        return known.query;
    const { query, seconds } = await ask<{ query: string; seconds: number }>('sas', { account });
    signatures.set(account, { query, until: Date.now() + seconds * 500 });
    return query;
}

/** The URL of an account's service through the management port. */
export const dataUrl = (service: Service, account: string) => `${location.origin}/console/data/${service}/${account}`;

/** The URL of an account's service for the server itself, and for its users. */
export const ownUrl = (session: Session, service: Service, account: string) =>
    `${session.secure ? 'https' : 'http'}://127.0.0.1:${session.services[service]}/${account}`;
export const publicUrl = (session: Session, service: Service, account: string) =>
    `${location.protocol}//${location.hostname}:${session.services[service]}/${account}`;

/** The error code of a response, or of the SDK; a response to HEAD has it only in a header. */
export function codeOf(error: unknown): string | undefined {
    const { code, details } = error as { code?: string; details?: { errorCode?: string } };

    return code ?? details?.errorCode;
}

/** Describes an error to the user. */
export function wordsOf(error: unknown): string {
    const { message } = error as { message?: string };
    const first = (message ?? String(error)).split('\n')[0] ?? '';
    const name = codeOf(error);

    if (isAway(error) && name !== 'Timeout')
        return 'The server cannot be reached. It may be restarting, or the network connection is down.';
    return name && name !== 'Timeout' && !first.includes(name) ? `${name}: ${first}` : first;
}
