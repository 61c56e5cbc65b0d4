import { expect, it, vi } from "vitest";
import type { ObjectReference } from "../../../../../chaos/cluster/resources";
import { whyOutOfReach } from "../../../../../chaos/attacks/fault/out-of-reach";

const get = vi.hoisted(() => vi.fn());
vi.mock("../../../../../chaos/job/api", () => ({ objectApi: { get } }));

const attack = {
    path: "/api/v1/namespaces/demo/pods/run-fault",
    label: "x",
    through: { service: "hot-deals", delayMs: 1_000, percentage: 100 },
};
const ready = { metadata: {}, status: { conditions: [{ type: "Ready", status: "True" }] } };

/** What the Job says of a Service with this selector, and of this pod. Undefined for one that is gone. */
function look(selector: Record<string, string> | undefined, pod: object | undefined): Promise<string | undefined> {
    get.mockImplementation(async ({ resource }: ObjectReference) =>
        resource.kind === "Pod" ? pod : selector && { spec: { selector } },
    );
    return whyOutOfReach("demo", attack);
}
const ours = { "chaos-experiments/proxy": "run-fault" };

it("a fault goes on while its Service points to a proxy that is ready", async () =>
    expect(await look(ours, ready)).toBeUndefined());

it.each<[string, object | undefined]>([
    ["is gone", undefined],
    ["is not ready", { ...ready, status: {} }],
    ["is being deleted", { ...ready, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }],
])("it ends if the proxy %s, also if the Job has never seen it", async (_, pod) =>
    expect(await look(ours, pod)).toBe("the proxy of Service hot-deals has ended, or does not answer"),
);

it("it ends if somebody has merged other labels into the selector, which then selects nobody", async () =>
    expect(await look({ ...ours, app: "hot-deals" }, ready)).toContain("which selects nobody"));

it("it goes on if its proxy has taken nobody's place, or somebody has taken the Service back", async () => {
    expect(await look({ app: "hot-deals" }, undefined)).toBeUndefined();
    expect(await look({ "chaos-experiments/proxy": "another-fault" }, undefined)).toBeUndefined();
    expect(await look(undefined, undefined)).toBeUndefined();
});
