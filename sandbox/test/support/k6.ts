import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { goPart } from "../../../toolchain/parts/go";
import { ensureParts } from "../../../toolchain/parts/ensure";
import { folderOf } from "../../../toolchain/parts/store";
import { runCommand } from "../../../toolchain/run-command";
import { ctr } from "../../node/components/containerd";
import { firstNode } from "../../node/nodes";
import { imagePart, ARCHIVE } from "../../parts/images";

const K6_VERSION = "1.3.0";

const k6 = goPart(
    { name: "k6", version: K6_VERSION, title: "k6", minutes: 3 },
    { sourceFolder: join(__dirname, "..", ".."), module: "k6", packages: ["go.k6.io/k6"] },
);

/** Scripts by their names: what they do is in variables, such as `-e RATE=50`. */
const scripts = {
    "open.js": `
        import http from "k6/http";
        const { BASE, RATE, VUS, DURATION = "10m" } = __ENV;
        const at = { rate: Number(RATE), timeUnit: "1s", preAllocatedVUs: Number(VUS), maxVUs: Number(VUS) };
        export const options = {
            discardResponseBodies: true,
            noConnectionReuse: true,
            scenarios: { shoppers: { executor: "constant-arrival-rate", duration: DURATION, ...at } },
        };
        export default () => http.get(BASE);`,
    "closed.js": `
        import http from "k6/http";
        export const options = { scenarios: { users: { executor: "constant-vus", vus: 2, duration: "10m" } } };
        export default () => http.get(__ENV.BASE);`,
};

/** k6 and some scripts, in an image that no registry has. */
export const imageK6 = imagePart({
    name: "image-k6",
    references: [`registry.example/k6:${K6_VERSION}`],
    version: K6_VERSION,
    title: "Image of k6",
    minutes: 0.2,
    base: true,
    also: k6,
    config: { Env: ["PATH=/usr/local/bin:/usr/bin:/bin"], Entrypoint: ["k6"] },
    settings: { scripts },
    fill: (root) => {
        const [programs, texts] = [join(root, "usr/local/bin"), join(root, "scripts")];
        for (const folder of [programs, texts]) mkdirSync(folder, { recursive: true });
        copyFileSync(join(folderOf(k6), "k6"), join(programs, "k6"));
        chmodSync(join(programs, "k6"), 0o755);
        for (const [name, text] of Object.entries(scripts)) writeFileSync(join(texts, name), text);
        return Promise.resolve({});
    },
});

/** Builds the image, unless it is there, and gives it to the sandbox. @returns its name */
export async function importK6(): Promise<string> {
    await ensureParts([imageK6]);
    await runCommand(...ctr(firstNode, "images", "import", join(folderOf(imageK6), ARCHIVE)));
    return imageK6.references[0]!;
}
