// The console: signing in, the menu, and the page that the address names, which is loaded when it is opened.
import { type ComponentType, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { hrefOf, useRoute, type Route } from './route.ts';
import { ask, hasToken, onSignedOut, Refusal, type Session, signIn, signOut } from './server.ts';
import { Field, Problem, useAction } from './ui.tsx';

export interface PageProps {
    session: Session;
    account: string;
    route: Route;
}
interface Page {
    name: string;
    title: string;
    isThere: (session: Session) => boolean;
    load: () => Promise<{ default: ComponentType<PageProps> }>;
}

const PAGES: Page[] = [
    { name: 'overview', title: 'Overview', isThere: () => true, load: () => import('./overview.tsx') },
    { name: 'blobs', title: 'Blobs', isThere: ({ services }) => services.blob !== undefined, load: () => import('./blobs.tsx') },
    { name: 'queues', title: 'Queues', isThere: ({ services }) => services.queue !== undefined, load: () => import('./queues.tsx') },
    { name: 'tables', title: 'Tables', isThere: ({ services }) => services.table !== undefined, load: () => import('./tables.tsx') },
    { name: 'files', title: 'Files', isThere: ({ services }) => services.file !== undefined, load: () => import('./files.tsx') },
    { name: 'accounts', title: 'Accounts', isThere: ({ operator }) => operator, load: () => import('./accounts.tsx') },
    { name: 'server', title: 'Server', isThere: ({ operator }) => operator, load: () => import('./operate.tsx') },
    { name: 'faults', title: 'Faults', isThere: ({ faults }) => faults, load: () => import('./faults.tsx') },
];

function SignIn({ problem: before, onDone }: { problem: unknown; onDone: () => void }) {
    const { problem, busy, run } = useAction();
    const submit = async (event: SubmitEvent) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget as HTMLFormElement);
        if (await run(() => signIn({ account: String(form.get('account')).trim(), key: String(form.get('key')).trim() })))
            onDone();
    };

    return <main class="sign-in">
        <h1>Lagra</h1>
        <form onSubmit={submit}>
            <Field label="Account" name="account" required />
            <Field label="Key" name="key" type="password" required hint="Base64, as in a connection string." />
            <Problem of={problem ?? before} />
            <p class="buttons"><button type="submit" class="primary" disabled={busy}>Sign in</button></p>
        </form>
        <p>As the operator: <code>lagra console</code> prints a link.</p>
    </main>;
}

function Shell({ session }: { session: Session }) {
    const route = useRoute();
    const pages = PAGES.filter(({ isThere }) => isThere(session));
    const page = pages.find(({ name }) => name === route.page) ?? pages[0]!;
    const account = session.accounts.includes(route.parts[0] ?? '') ? route.parts[0]! : localStorage.getItem('lagra-console-account') ?? '';
    const chosen = session.accounts.includes(account) ? account : session.accounts[0] ?? '';
    const [Shown, setShown] = useState<{ is: ComponentType<PageProps>; name: string }>();
    const [problem, setProblem] = useState<unknown>();
    const main = useRef<HTMLElement>(null);

    useEffect(() => {
        document.title = `${page.title} · Lagra`;
        page.load().then((module) => setShown({ is: module.default, name: page.name }), setProblem);
    }, [page.name]);
    const choose = (name: string) => {
        localStorage.setItem('lagra-console-account', name);
        location.hash = hrefOf(page.name, [name]);
    };

    return <>
        <a class="skip" href="#main" onClick={(event) => {
            event.preventDefault();
            main.current?.focus();
        }}>Skip to the page</a>
        <header>
            <strong>Lagra</strong>
            <nav aria-label="Pages"><ul>
                {pages.map(({ name, title }) => <li key={name}>
                    <a href={hrefOf(name, ['overview', 'accounts', 'server', 'faults'].includes(name) ? [] : [chosen])} aria-current={name === page.name ? 'page' : undefined}>{title}</a>
                </li>)}
            </ul></nav>
            {session.accounts.length > 1 && <label class="account"><span>Account</span>
                <select onChange={(event) => choose(event.currentTarget.value)}>
                    {session.accounts.map((name) => <option key={name} value={name} selected={name === chosen}>{name}</option>)}
                </select>
            </label>}
            <span class="who">{session.operator ? 'operator' : chosen}</span>
            <button type="button" onClick={() => void signOut()}>Sign out</button>
        </header>
        <main ref={main} id="main" tabIndex={-1}>
            <Problem of={problem} />
            {Shown?.name === page.name ? <Shown.is session={session} account={chosen} route={route} /> : <p>Loading…</p>}
        </main>
        <footer>Lagra {session.version}, with <a href="licenses.txt">the work of others</a></footer>
    </>;
}

/** A link that `lagra console` has printed is used up, and goes from the address. */
async function useLink() {
    const link = /^#link=([0-9a-f]+)$/.exec(location.hash)?.[1];

    if (!link)
        return;
    history.replaceState(null, '', location.pathname);
    await signIn({ link });
}

function App() {
    const [session, setSession] = useState<Session | null>();
    const [problem, setProblem] = useState<unknown>();
    const enter = async () => {
        try {
            await useLink();
            setSession(hasToken() ? await ask<Session>('session') : null);
        } catch (error) {
            setSession(null);
            if (!(error instanceof Refusal && error.status === 401))
                setProblem(error);
        }
    };

    useEffect(() => {
        onSignedOut(() => {
            setProblem(undefined);
            setSession(null);
        });
        void enter();
    }, []);
    if (session === undefined)
        return <main class="sign-in"><p>Loading…</p></main>;
    return session ? <Shell session={session} /> : <SignIn problem={problem} onDone={() => void enter()} />;
}

render(<App />, document.body);
