import { expect, it } from "vitest";
import { maxKept } from "../../../../chaos/witness/protocol";
import { targetsToKeep } from "../../../../chaos/witness/witnessing";

const pod = (endpoints: string[], label = "a") => ({ label, endpoints });

it("the Job keeps a connection to an attacked port at each address of a target", () =>
    expect(
        targetsToKeep([pod(["10.0.0.7:80", "10.0.0.7:81", "10.0.0.7:9090", "[fd00::7]:80", "[fd00::7]:81"])], {
            a: { ports: [80, 81] },
        }),
    ).toEqual([
        ["10.0.0.7:80", "10.0.0.7:81"],
        ["[fd00::7]:80", "[fd00::7]:81"],
    ]));

it("and none to a target of which no port is attacked", () => {
    const pods = [pod(["10.0.0.7:80"]), pod(["10.0.0.8:80"], "b")];
    expect(targetsToKeep(pods, { a: { ports: [443] } })).toEqual([]);
});

it("and to no more addresses than are expected of it", () => {
    const pods = Array.from({ length: maxKept }, (_, index) => pod([`10.0.0.${index}:80`, `[fd00::${index}]:80`]));
    expect(targetsToKeep(pods, { a: {} })).toHaveLength(maxKept);
});
