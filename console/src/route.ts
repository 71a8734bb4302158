// Where the user is: #/PAGE/PART/PART?name=value. Parts are any text.
import { useEffect, useState } from 'preact/hooks';

export interface Route {
    page: string;
    parts: string[];
    query: URLSearchParams;
}

export function routeOf(hash: string): Route {
    const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
    const [page = '', ...parts] = path.split('/').map((part) => {
        try {
            return decodeURIComponent(part);
        } catch {
            return part;
        }
    });

    return { page: page || 'overview', parts, query: new URLSearchParams(query) };
}

export function hrefOf(page: string, parts: string[] = [], query: Record<string, string> = {}): string {
    const asked = new URLSearchParams(query).toString();

    return `#/${[page, ...parts.map(encodeURIComponent)].join('/')}${asked ? `?${asked}` : ''}`;
}

export const go = (href: string) => {
    location.hash = href;
};

export function useRoute(): Route {
    const [hash, setHash] = useState(location.hash);

    useEffect(() => {
        const changed = () => setHash(location.hash);
        addEventListener('hashchange', changed);
        changed(); // it may have been changed before anybody listened
        return () => removeEventListener('hashchange', changed);
    }, []);
    return routeOf(hash);
}
