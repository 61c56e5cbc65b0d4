import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readManifest } from "../../../../components/agent/manifest";
import { scratchFolder } from "../../../support/scratch";
import { serving } from "../../../support/serving";

const key = "the: 'key' of #this test $&";
const folder = scratchFolder();
const daemonSet = (value: string) => `apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent }
spec:
  template:
    spec:
      containers:
        - { name: agent, env: [{ name: AGENT_KEY, value: ${value} }, { name: CLUSTER, value: <cluster_name> }] }
`;
const secret = (field: string, value: string) =>
    `apiVersion: v1\nkind: Secret\nmetadata: { name: agent }\n${field}: { agent-key: ${value} }\n---\n` +
    daemonSet('""').replace(/\{ name: AGENT_KEY.*?\}, /, "");
const server = serving(({ url }, response) =>
    response.writeHead(url === "/agent.yaml" ? 200 : 404).end(daemonSet("<AGENT_KEY>")),
);

const at = (path: string) => `${server.url}${path}`;
const read = (text: string) => {
    writeFileSync(join(folder, "agent.yaml"), text);
    return readManifest(join(folder, "agent.yaml"), key, "c1");
};
const variables = (objects: any[]) =>
    objects.find(({ kind }) => kind === "DaemonSet").spec.template.spec.containers[0].env;

describe("the placeholders of an agent's manifest are filled in", () => {
    it("from a file, with any characters in the key", async () => {
        expect(variables(await read(daemonSet("<AGENT_KEY>")))).toEqual([
            { name: "AGENT_KEY", value: key },
            { name: "CLUSTER", value: "c1" },
        ]);
    });
    it("from a URL", async () => {
        expect(variables(await readManifest(at("/agent.yaml"), key, "c1"))[0].value).toBe(key);
    });
    it("or left alone if it already contains the key, in clear text or encoded", async () => {
        for (const text of [
            daemonSet(JSON.stringify(key)),
            secret("data", Buffer.from(key).toString("base64")),
            secret("stringData", JSON.stringify(key)),
        ]) {
            await expect(read(text)).resolves.toBeTruthy();
        }
    });
});

describe("an agent's manifest is rejected, without showing the key,", () => {
    const refusals: [string, () => Promise<unknown>, RegExp][] = [
        ["if it is not YAML", () => read("kind: ["), /which is not a manifest: line 2, column 1: .*; allowed: YAML/],
        ["if it is empty", () => read(""), /which has no DaemonSet; it contains nothing/],
        [
            "if it has no DaemonSet",
            () => read("apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\n"),
            /which has no DaemonSet; it contains ConfigMap settings/,
        ],
        [
            "if it has no key",
            () => read(daemonSet('""').replace("AGENT_KEY", "LEVEL")),
            /contains neither agent\.key nor the placeholder <AGENT_KEY>.*npx pulumi config set --secret agent\.key/,
        ],
        [
            "if it has another key, which could show",
            () => read(daemonSet("another-key")),
            /whose AGENT_KEY is a different key than agent\.key/,
        ],
        [
            "if it has another key in a Secret",
            () => read(secret("stringData", "another-key")),
            /whose agent-key is a different key/,
        ],
        [
            "if its file does not exist",
            () => readManifest(join(folder, "nothing.yaml"), key, "c1"),
            /nothing\.yaml", which cannot be read: ENOENT/,
        ],
        [
            "if its URL does not exist",
            () => readManifest(at("/nothing.yaml"), key, "c1"),
            /nothing\.yaml", which cannot be read: status 404/,
        ],
        [
            "if its URL does not answer",
            () => readManifest("http://127.0.0.1:2/agent.yaml", key, "c1"),
            /cannot be read: .*ECONNREFUSED/,
        ],
    ];
    it.each(refusals)("%s", async (_, reading, expected) => {
        const error: Error = await reading().then(
            () => Promise.reject(new Error("it was read")),
            (failure: Error) => failure,
        );
        expect(error.message).toMatch(expected);
        expect(error.message).not.toMatch(/another-key/);
        expect(error.message).not.toContain(key);
    });
});
