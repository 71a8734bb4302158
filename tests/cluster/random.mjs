// Numbers by lot, the same for the same seed: xorshift32.

let state = 1;

export function seed(number) {
    state = number * 2654435761 >>> 0 || 1;
}

export function below(limit) {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % limit;
}
