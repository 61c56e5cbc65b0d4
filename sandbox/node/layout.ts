import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cachePaths } from "../../toolchain/parts/paths";

const root = join(cachePaths().cache, "node");

/** The paths of the cluster's state, all in the cache's folder `node`, which `destroy` removes. */
export const layout = {
    root,
    /** Certificates and private keys, 0700. */
    pki: join(root, "pki"),
    /** The user's kubeconfig (admin), 0600. */
    kubeconfig: join(root, "kubeconfig"),
    /** One kubeconfig per component, 0600. */
    kubeconfigs: join(root, "kubeconfigs"),
    /** Generated configuration of the control plane. */
    config: join(root, "config"),
    /** What the sandbox is started with: `choices.ts`. */
    choices: join(root, "choices.json"),
    etcd: join(root, "etcd"),
    /** One folder per local PersistentVolume. */
    volumes: join(root, "volumes"),
    /** One log per component. */
    logs: join(root, "logs"),
    /** One record per running process. */
    run: join(root, "run"),
    /** Outside the folder, which `destroy` removes while it holds the lock. */
    lock: `${root}.lock`,
} as const;

/**
 * Writes a file atomically, also if this process is killed.
 *
 * @param mode permission bits. Default 0600: most of these files are credentials or name them.
 */
export function writeFileAtomically(path: string, content: string, mode = 0o600): void {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const draft = `${path}.new`;
    rmSync(draft, { force: true });
    writeFileSync(draft, content, { mode });
    renameSync(draft, path);
}
