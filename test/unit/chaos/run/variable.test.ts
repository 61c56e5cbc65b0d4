import { spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { parsed, printed } from "../../../../chaos/run/variable";

/** What is known about some targets. The ids are random, as in a cluster. */
const targets = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
        namespace: "messaging",
        pod: `server-${randomBytes(5).toString("hex")}`,
        uid: randomUUID(),
        container: "server",
        containerId: `containerd://${randomBytes(32).toString("hex")}`,
        address: `10.244.${index >> 8}.${index & 255}`,
        ports: [8080],
    }));

it("a short result is JSON, which people can read in a state", () => {
    const result = { attacks: targets(20) };
    expect(JSON.parse(printed(result))).toEqual(result);
});

it.each([1, 100, 800])("a process can be given what is known about %i targets", (count) => {
    const result = { attacks: targets(count) };
    const env = { ...process.env, TARGETS: printed(result) };
    const { error, stdout } = spawnSync("/bin/sh", ["-c", 'printf %s "$TARGETS"'], { env, encoding: "utf8" });
    expect(error).toBeUndefined();
    expect(parsed(stdout)).toEqual(result);
});

it("more than a process can be given is refused", () =>
    expect(() => printed({ attacks: targets(3_000) })).toThrow(/the targets are too many .*Lower the radius/));
