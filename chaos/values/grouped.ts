/** Items by a key, in their order. Node.js has `Map.groupBy` from version 21 on. */
export function groupedBy<K, T>(items: readonly T[], key: (item: T) => K): Map<K, T[]> {
    const groups = new Map<K, T[]>();
    for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
    return groups;
}
