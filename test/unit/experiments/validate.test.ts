import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mistakesIn } from "../../../experiments/validate";

const folder = join(__dirname, "..", "..", "..", "experiments", "saved");
const attack = { kind: "blackhole", target: "k8s.deployment=hot-deals" };
const right = { hypothesis: "It holds.", attacks: [attack] };
const matching = (pattern: RegExp) => expect.stringMatching(pattern) as unknown as string;

describe("a saved experiment", () => {
    it.each(readdirSync(folder))("%s has no mistake", async (file) =>
        expect(mistakesIn((await import(join(folder, file))).default)).toEqual([]),
    );

    it("of a name too long for its objects' names is refused", () => {
        expect(mistakesIn(right, "x".repeat(45))).toEqual([]);
        expect(mistakesIn(right, "x".repeat(46))).toEqual(["its name: has 46 characters; allowed: at most 45"]);
    });

    it.each<[string, object, string[]]>([
        [
            "an unknown attack",
            { attacks: [{ ...attack, kind: "blackhol" }] },
            ["attacks.0.kind: Invalid discriminator value. Expected 'blackhole' | 'dns' | 'kill'"],
        ],
        ["no attack", { attacks: [] }, [matching(/^attacks: .*at least one attack/)]],
        [
            "a target that is no expression",
            { attacks: [{ ...attack, target: "hot-deals" }] },
            [matching(/^attacks\.0\.target: .*hot-deals/)],
        ],
        [
            "a target in several namespaces",
            { attacks: [{ ...attack, target: "k8s.namespace=a|b" }] },
            [matching(/^attacks\.0\.target: .*exactly one namespace/)],
        ],
        [
            "a radius of nobody",
            { attacks: [{ ...attack, radius: 0 }] },
            [matching(/^attacks\.0\.radius: no radius: 0; allowed: a whole number/)],
        ],
        [
            "a radius of more than all",
            { attacks: [{ ...attack, radius: "200%" }] },
            [matching(/^attacks\.0\.radius: no radius: 200%; allowed/)],
        ],
        ["no hypothesis", { hypothesis: " " }, [matching(/^hypothesis: /)]],
        ["a port that there is not", { attacks: [{ ...attack, ports: [0] }] }, [matching(/^attacks\.0\.ports\.0: /)]],
        [
            "what its attack does not know",
            { attacks: [{ ...attack, kind: "dns", ports: [53] }] },
            [matching(/"ports"/)],
        ],
        [
            "peers that are no expression",
            { attacks: [{ ...attack, peers: "database" }] },
            [matching(/^attacks\.0\.peers: .*database/)],
        ],
        ["a typing error in a name", { atacks: [] }, [matching(/"atacks"/)]],
        ["a variant that there is not", { variant: "eight" }, [matching(/^variant: .*"seven"/)]],
        [
            "pods killed too often",
            { attacks: [{ ...attack, kind: "kill", intervalMs: 10 }] },
            [matching(/^attacks\.0\.intervalMs: .*1000/)],
        ],
        ["no check", { checks: [] }, [matching(/^checks: .*without a check/)]],
        [
            "an unknown check",
            { checks: [{ kind: "ping" }] },
            ["checks.0.kind: Invalid discriminator value. Expected 'http' | 'podsReady'"],
        ],
        [
            "a check of no path",
            { checks: [{ kind: "http", path: "products" }] },
            [matching(/^checks\.0\.path: .*\/products/)],
        ],
        [
            "a check of another host",
            { checks: [{ kind: "http", path: "//example.com/" }] },
            [matching(/^checks\.0\.path: /)],
        ],
        [
            "a secret in a check",
            { checks: [{ kind: "http", path: "/", headers: { Authorization: "Bearer x" } }] },
            [matching(/^checks\.0\.headers\.Authorization: .*no place in a saved experiment/)],
        ],
        [
            "a success rate of nothing",
            { checks: [{ kind: "http", path: "/", successRate: 0 }] },
            [matching(/^checks\.0\.successRate: /)],
        ],
        [
            "two checks of one name",
            {
                checks: [
                    { kind: "http", path: "/" },
                    { kind: "http", path: "/" },
                ],
            },
            [matching(/^checks\.1\.name: another check is called "\/"/)],
        ],
        [
            "pods ready of no expression",
            { checks: [{ kind: "podsReady", of: "hot-deals" }] },
            [matching(/^checks\.0\.of: /)],
        ],
        [
            "an unknown action",
            { actions: [{ kind: "dance" }] },
            ["actions.0.kind: Invalid discriminator value. Expected 'wait' | 'scale'"],
        ],
        [
            "a scale to absurdly many",
            { actions: [{ kind: "scale", deployment: "hot-deals", replicas: 5_000 }] },
            [matching(/^actions\.0\.replicas: .*100/)],
        ],
        [
            "a scale of what can be no Deployment",
            { actions: [{ kind: "scale", deployment: "Hot Deals", replicas: 2 }] },
            [matching(/^actions\.0\.deployment: .*allowed: lower-case/)],
        ],
    ])("with %s is refused, and told what would be right", (_, changes, mistakes) =>
        expect(mistakesIn({ ...right, ...changes })).toEqual(mistakes),
    );

    it("is told all its mistakes at once", () => {
        const wrong = {
            attacks: [{ kind: "blackhole", target: "x", radius: "none" }, { kind: "burn" }],
            checks: [],
            actions: [{ kind: "wait", durationMs: -1 }],
        };
        expect(mistakesIn(wrong)).toHaveLength(6);
    });
});
