// What the server itself is asked: the session, and shared access signatures for the data. The token that each request
// sends along is kept for this origin alone; the cookie that belongs to it no script sees.

export interface Session {
    operator: boolean;
    version: string;
    accounts: string[];
    services: Partial<Record<Service, number>>;
    secure: boolean;
    faults: boolean;
}
export type Service = 'blob' | 'queue' | 'table' | 'file';

/** A refusal, in the server's words. */
export class Refusal extends Error {
    constructor(readonly status: number, readonly code: string, message: string) {
        super(message);
    }
}

const TOKEN = 'lagra-console-token';
let whenSignedOut: () => void = () => {};
let signatures = new Map<string, { query: string; until: number }>();

export const onSignedOut = (handler: () => void) => {
    whenSignedOut = handler;
};

function forget() {
    localStorage.removeItem(TOKEN);
    signatures = new Map();
}

export async function ask<T>(operation: string, args: Record<string, string> = {}): Promise<T> {
    const answer = await fetch(`api/${operation}`, {
        method: 'POST', body: JSON.stringify(args), credentials: 'same-origin', cache: 'no-store',
        headers: { 'Content-Type': 'application/json', 'x-lagra-console': localStorage.getItem(TOKEN) ?? '' },
    });
    const body = await answer.json().catch(() => ({})) as T & { code?: string; error?: string };

    if (answer.ok)
        return body;
    if (answer.status === 401) {
        forget();
        whenSignedOut();
    }
    throw new Refusal(answer.status, body.code ?? 'Unknown', body.error ?? `The server answered ${answer.status}.`);
}

export const hasToken = () => localStorage.getItem(TOKEN) !== null;

export async function signIn(by: { account: string; key: string } | { link: string }) {
    const { token } = await ask<{ token: string }>('sign-in', by);

    localStorage.setItem(TOKEN, token);
}

export async function signOut() {
    await ask('sign-out').catch(() => {});
    forget();
    whenSignedOut();
}

/** The query of a shared access signature for all of the account, good for half an hour yet. */
export async function signatureOf(account: string): Promise<string> {
    const known = signatures.get(account);

    if (known && known.until > Date.now())
        return known.query;
    const { query, seconds } = await ask<{ query: string; seconds: number }>('sas', { account });
    signatures.set(account, { query, until: Date.now() + seconds * 500 });
    return query;
}

/** The URL of an account's service, as the pages reach it: by way of the management port. */
export const dataUrl = (service: Service, account: string) => `${location.origin}/console/data/${service}/${account}`;

/** The same as the server itself, and its users, reach it. */
export const ownUrl = (session: Session, service: Service, account: string) =>
    `${session.secure ? 'https' : 'http'}://127.0.0.1:${session.services[service]}/${account}`;
export const publicUrl = (session: Session, service: Service, account: string) =>
    `${location.protocol}//${location.hostname}:${session.services[service]}/${account}`;

/** Of an error of the server's, or of a client of it; HEAD has it in a header alone. */
export function codeOf(error: unknown): string | undefined {
    const { code, details } = error as { code?: string; details?: { errorCode?: string } };

    return code ?? details?.errorCode;
}

/** What went wrong, for people. */
export function wordsOf(error: unknown): string {
    const { message } = error as { message?: string };
    const first = (message ?? String(error)).split('\n')[0] ?? '';
    const name = codeOf(error);

    return name && !first.includes(name) ? `${name}: ${first}` : first;
}
