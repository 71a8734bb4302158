// Which public methods of classes a test file has called, directly or through a subclass: for tests that must call
// every method of a client library.
import { AsyncLocalStorage } from 'node:async_hooks';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Names that the type declarations of a package mark as private. */
function privateNames(packageName) {
    const folder = path.dirname(fileURLToPath(import.meta.resolve(packageName)));
    const declarations = readdirSync(folder).filter((name) => name.endsWith('.d.ts'))
        .map((name) => readFileSync(path.join(folder, name), 'utf8')).join('\n');

    return new Set([...declarations.matchAll(/^ +private (?:readonly )?(\w+)/gm)].map(([, name]) => name));
}

/**
 * Records calls of the public methods, getters and static functions of classes: { calls, start(), missing() }.
 *
 * start(set)    records calls as "Class.method" in this set; Class is that of the object
 * missing(set)  what of the classes, inherited methods included, the set does not have
 *
 * A call that a recorded method makes itself is not recorded.
 */
export function recordMethods(packageName, classes) {
    const hidden = privateNames(packageName);
    const inside = new AsyncLocalStorage();
    let called = new Set();

    const wrap = (name, original) => function recorded(...args) {
        if (!inside.getStore())
            called.add(`${typeof this === 'function' ? this.name : this.constructor.name}.${name}`);
        return inside.run(true, () => original.apply(this, args));
    };
    const publicNames = (object, unwanted) => Object.getOwnPropertyNames(object)
        .filter((name) => !unwanted.includes(name) && !hidden.has(name));
    const methodsOf = (prototype) => (prototype && prototype !== Object.prototype
        ? [...publicNames(prototype, ['constructor']), ...methodsOf(Object.getPrototypeOf(prototype))] : []);
    const staticsOf = (one) => publicNames(one, ['length', 'name', 'prototype']);
    const wrapAll = (object, names) => names.forEach((name) => {
        const descriptor = Object.getOwnPropertyDescriptor(object, name);
        const key = descriptor.get ? 'get' : 'value';
        Object.defineProperty(object, name, { ...descriptor, [key]: wrap(name, descriptor[key]) });
    });

    for (const one of classes) {
        wrapAll(one, staticsOf(one));
        wrapAll(one.prototype, publicNames(one.prototype, ['constructor']));
    }
    return {
        start: (set) => {
            called = set;
        },
        missing: (set) => classes.flatMap((one) => [...new Set([...methodsOf(one.prototype), ...staticsOf(one)])]
            .map((name) => `${one.name}.${name}`)).filter((name) => !set.has(name)),
    };
}
