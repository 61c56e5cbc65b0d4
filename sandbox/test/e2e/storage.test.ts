import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sandboxUp } from "../../node/up";
import { apply, createNamespace, eventually, kubectl, ready, runInPod, webPod } from "./support";

const namespace = "sandbox-storage";
let removeNamespace: () => Promise<unknown>;

const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

/** A pod with the claim at /data, as user 1000 with that fsGroup. */
function podWithClaim(name: string): object {
    const pod = webPod(name) as { spec: { containers: object[] } };
    const [container] = pod.spec.containers;
    return {
        ...pod,
        spec: {
            ...pod.spec,
            containers: [{ ...container, volumeMounts: [{ name: "data", mountPath: "/data" }] }],
            volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
        },
    };
}

const removeAll = () => kubectl(["-n", namespace, "delete", "pod,persistentvolumeclaim", "--all", "--timeout=60s"]);

beforeAll(async () => {
    await sandboxUp();
    removeNamespace = await createNamespace(namespace);
}, 180_000);

afterAll(() => removeNamespace?.(), 90_000);

describe("the sandbox's storage", { timeout: 120_000 }, () => {
    it("binds a claim of the default class, which the pod's user can write to, and keeps its data", async () => {
        await apply(namespace, claim, podWithClaim("writer"));
        await ready(namespace, "writer");
        expect(
            await runInPod(
                namespace,
                "writer",
                `require("fs").writeFileSync("/data/kept", "here"); console.log("written")`,
            ),
        ).toBe("written");
        await kubectl(["-n", namespace, "delete", "pod", "writer"]);
        await apply(namespace, podWithClaim("reader"));
        await ready(namespace, "reader");
        expect(
            await runInPod(namespace, "reader", `console.log(require("fs").readFileSync("/data/kept", "utf8"))`),
        ).toBe("here");
    });

    it("empties a released volume for the next claim, so volumes do not run out", async () => {
        await removeAll();
        for (let round = 0; round < 5; round++) {
            await apply(namespace, claim, podWithClaim("user"));
            await ready(namespace, "user");
            const program = `
                const fs = require("fs");
                console.log(fs.readdirSync("/data").length);
                fs.writeFileSync("/data/${round}", "");`;
            expect(await runInPod(namespace, "user", program)).toBe("0");
            await removeAll();
        }
        const phases = () => kubectl(["get", "persistentvolumes", "-o", "jsonpath={.items[*].status.phase}"]);
        await eventually(phases, (text) => !text.includes("Released"));
    });
});
