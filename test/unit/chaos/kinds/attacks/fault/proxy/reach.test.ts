import { expect, it } from "vitest";
import { Reach } from "../../../../../../../chaos/kinds/attacks/fault/proxy/reach";
import { Pods, type Slice } from "../../../../../../../chaos/kinds/attacks/fault/proxy/slices";
import { closedPort, echoPod } from "./support";

const slice = (name: string, port: number, pod: string, ready = true): Slice => ({
    metadata: { name: `${pod}-${port}` },
    ports: [{ name, port }],
    endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready }, targetRef: { uid: `uid-of-${pod}`, name: pod } }],
});

function reaching(...slices: Slice[]) {
    const pods = new Pods();
    pods.update(slices);
    const written: string[] = [];
    const reach = new Reach(pods, [
        { name: "http", listen: 8080 },
        { name: "more", listen: 8081 },
    ]);
    return {
        pods,
        look: async () => {
            await reach.look((line) => written.push(line));
            return (JSON.parse(written.at(-1)!) as { reach: object[] }).reach;
        },
        written,
    };
}

it("the proxy says which ready pods it reaches, each where it listens", async () => {
    const [one, another] = [await echoPod(), await echoPod()];
    const { look } = reaching(
        slice("http", one.port, "a"),
        slice("http", another.port, "b"),
        slice("more", await closedPort(), "b"),
        slice("http", another.port, "c", false),
    );
    expect(await look()).toEqual([
        { pod: "a", listen: 8080, saw: "connected" },
        { pod: "b", listen: 8080, saw: "connected" },
        { pod: "b", listen: 8081, saw: "refused" },
    ]);
});

it("it tries again what it has not reached, and nothing else, and writes what has changed", async () => {
    const pod = await echoPod();
    const { look, pods, written } = reaching(slice("http", pod.port, "a"), slice("more", await closedPort(), "a"));
    await look();
    await look();
    expect([pod.sockets.length, written.length]).toEqual([1, 1]);
    const more = await echoPod();
    pods.update([slice("http", pod.port, "a"), slice("more", more.port, "a")]);
    expect(await look()).toContainEqual({ pod: "a", listen: 8081, saw: "connected" });
    expect([pod.sockets.length, written.length]).toEqual([1, 2]);
});
