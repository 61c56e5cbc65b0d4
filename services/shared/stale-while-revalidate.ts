/**
 * Caches the answers of a function. Concurrent calls for the same key share one call of `load`. Errors go to every
 * caller that waits, and are not cached.
 *
 * Stale-while-revalidate: after half the TTL, serve the cached value and refresh. Under steady use nobody waits.
 *
 * @param ttlMs how long a value is served, in milliseconds
 * @param load must settle by itself: until it does, it is not called again for the same key
 */
export function staleWhileRevalidate<Key, Value>(
    ttlMs: number,
    load: (key: Key) => Promise<Value>,
): (key: Key) => Promise<Value> {
    const cache = new Map<Key, { value: Value; loadedAt: number }>();
    const loading = new Map<Key, Promise<Value>>();
    const refresh = (key: Key): Promise<Value> => {
        const underWay = loading.get(key);
        if (underWay) return underWay;
        const started = load(key)
            .then((value) => {
                cache.set(key, { value, loadedAt: performance.now() });
                return value;
            })
            .finally(() => loading.delete(key));
        loading.set(key, started);
        return started;
    };
    return async (key) => {
        const cached = cache.get(key);
        const ageMs = cached ? performance.now() - cached.loadedAt : Infinity;
        if (!cached || ageMs >= ttlMs) return refresh(key);
        // A failed refresh shows once the TTL is over.
        if (ageMs >= ttlMs / 2) refresh(key).catch(() => undefined);
        return cached.value;
    };
}
