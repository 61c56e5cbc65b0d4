/**
 * A stack as commit 12dcc80 (0.1) left it: variant seven on storage claims, with database-blackhole enabled. Its state,
 * state-0.1.json.gz, was exported and changed in three respects: the name of stack and namespace, `KUBECONFIG` for the
 * path of the kubeconfig, and `PROGRAM` for the programs in ConfigMaps. Its secrets are encrypted with the passphrase
 * of `TestStack`.
 */
import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompressSync, gunzipSync } from "node:zlib";
import { project } from "../../../cli/stack-file";
import { servicesFolder } from "../../../components/base/program";
import { bundledFile } from "../../../toolchain/bundle";
import { preparePulumi } from "../../../toolchain/prepare-pulumi";
import { kubectl } from "../../../sandbox/test/e2e/support";

/** An object of the cluster, as the stack asked for it. */
export interface EarlierObject {
    kind: string;
    metadata: { name: string };
    fieldManager: string;
    isOfExperiment: boolean;
}

interface State {
    deployment: { resources: Resource[] };
}

interface Resource {
    urn: string;
    type: string;
    inputs: { kind: string; metadata: { name: string }; binaryData?: object };
    outputs: { __fieldManager: string };
}

/** The engine's mark of a secret, when it shows secrets. */
const secretMark = "4dabf18193072939515e22adb298388d";

/**
 * Gives a stack without resources the state.
 *
 * @returns the objects that are in the cluster according to it, in the order in which they were created
 */
export async function importEarlierState(stack: string): Promise<EarlierObject[]> {
    const { command } = await preparePulumi(project);
    // Not in the project, where the CLI would write into the stack's file.
    const folder = mkdtempSync(join(tmpdir(), "chaos-shop-e2e-"));
    try {
        copyFileSync(join(project, "Pulumi.yaml"), join(folder, "Pulumi.yaml"));
        const file = join(folder, "state.json");
        writeFileSync(file, earlierState().replaceAll("KUBECONFIG", process.env.KUBECONFIG!));
        const pulumi = async (...args: string[]) =>
            (await promisify(execFile)(command, [...args, "--stack", stack], { cwd: folder, maxBuffer: 1 << 28 }))
                .stdout;
        await pulumi("stack", "import", "--file", file);
        return objectsOf(JSON.parse(await pulumi("stack", "export", "--show-secrets"), withoutSecretMarks) as State);
    } finally {
        rmSync(folder, { recursive: true });
    }
}

function earlierState(): string {
    return gunzipSync(readFileSync(join(__dirname, "state-0.1.json.gz"))).toString("utf8");
}

function withoutSecretMarks(_key: string, value: unknown): unknown {
    const { [secretMark]: mark, plaintext } = (value ?? {}) as Record<string, string>;
    return mark === undefined ? value : JSON.parse(plaintext!);
}

function objectsOf({ deployment }: State): EarlierObject[] {
    return deployment.resources
        .filter(({ type }) => type.startsWith("kubernetes:"))
        .map(({ urn, inputs, outputs }) => ({
            ...inputs,
            ...(inputs.binaryData && { binaryData: earlierProgram(inputs.metadata.name) }),
            fieldManager: outputs.__fieldManager,
            isOfExperiment: urn.includes("chaos-shop:experiment:"),
        }));
}

/** Today's program of the same name, packed and started as the Deployments of that time expect it. */
function earlierProgram(configMap: string): { "main.js.br": string } {
    const name = configMap.replace(/-program-\w+$/, "");
    const program = readFileSync(bundledFile(join(servicesFolder, name, "main.ts")));
    const start = 'process.argv.splice(1, 0, "/program/main.js");';
    return { "main.js.br": brotliCompressSync(Buffer.concat([Buffer.from(start), program])).toString("base64") };
}

/** Creates objects at once, each as the engine would: server-side, with the field manager that the state names. */
export async function createAll(objects: readonly EarlierObject[]): Promise<void> {
    const create = ({ fieldManager, isOfExperiment: _, ...object }: EarlierObject) =>
        kubectl(["apply", "--server-side", "--field-manager", fieldManager, "-f", "-"], object);
    await Promise.all(objects.map(create));
}
