/** Kills all processes of node 2, pods too, and takes its link down. */
export function killNode2(): Promise<void> {
    return Promise.reject(new Error("there is no node 2"));
}

/** Starts node 2 again, and waits until it is Ready. */
export function restoreNode2(): Promise<void> {
    return Promise.reject(new Error("there is no node 2"));
}
