import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { evaluatedAgain } from "../support/evaluated-again";

const [accepts, itemsOf] = vi.hoisted(() => [vi.fn(), vi.fn()]);
vi.mock("../../../../chaos/witness/accepts", () => ({ accepts }));
vi.mock("../../../../chaos/witness/api", async (original) => ({ ...(await original<object>()), itemsOf }));

let { ReferencePods } = {} as typeof import("../../../../chaos/witness/reference-pods.js");
beforeAll(async () => {
    ({ ReferencePods } = await evaluatedAgain(() => import("../../../../chaos/witness/reference-pods.js")));
});
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const pod = {
    metadata: { name: "a", uid: "a" },
    spec: { containers: [{ name: "app", ports: [{ containerPort: 8080 }] }] },
    status: { phase: "Running", podIP: "10.0.0.7", conditions: [{ type: "Ready", status: "True" }] },
};

it("of pods that no attack touches, nothing is said while the API server does not say which are ready", async () => {
    const isListable = vi.fn(() => true);
    itemsOf.mockImplementation(async function* () {
        if (!isListable()) throw new Error("403");
        yield pod;
    });
    const pods = new ReferencePods("demo");
    /** Tries them, and waits for what that shows. */
    const tries = async (expected: boolean | undefined) => {
        vi.advanceTimersByTime(5_000);
        pods.tend([]);
        await vi.waitFor(() => expect(pods.accept).toBe(expected));
    };
    accepts.mockResolvedValue(true);
    await tries(true);
    accepts.mockResolvedValue(false);
    isListable.mockReturnValue(false);
    await tries(undefined);
    isListable.mockReturnValue(true);
    await tries(false);
});
