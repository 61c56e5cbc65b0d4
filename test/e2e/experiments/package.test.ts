import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type TypedCluster as Cluster } from "../../support/typed-cluster";
import { labels } from "../../../chaos/cluster/labels";
import { isExempting } from "../../../chaos/policies/exemption";
import { pageOfReason } from "../../../chaos/values/reasons";
import { attackPolicies } from "../../support/attack-policies";
import { released } from "../../support/tarballs";
import { until } from "../../support/until";
import { casesOf, itInAll } from "../which-tests";
import { type ExampleProject, PackedExamples } from "./packed-examples";

let examples: PackedExamples;
let cluster: Cluster;

beforeAll(async () => {
    examples = await PackedExamples.open("nats", "postgres");
    cluster = connect({});
});
afterAll(() => examples?.close());

/** The policies and labeled pods in a namespace. */
async function attackIn(namespace: string): Promise<[policies: number, labeled: number]> {
    const [policies, pods] = await Promise.all([
        attackPolicies(cluster, namespace),
        cluster.core.listNamespacedPod({ namespace, labelSelector: labels.target }),
    ]);
    return [policies.length, pods.items.length];
}

async function isGone(namespace: string): Promise<boolean> {
    return cluster.core.readNamespace({ name: namespace }).then(
        ({ status }) => status?.phase === "Terminating",
        () => true,
    );
}

const [oldest, ...newer] = Object.keys(released) as [string, ...string[]];
const upgraded = casesOf([oldest], newer);
describe.each(upgraded)("three NATS servers, by version %s as npm packed it, then by this one", (earlier) => {
    const target = "k8s.statefulset=nats,k8s.namespace=messaging";
    let nats: ExampleProject;
    const attack = () => attackIn("messaging");

    beforeAll(async () => {
        examples.use(earlier);
        nats = await examples.project("nats");
        // An upgrade keeps the attack, too.
        nats.edit((program) => program.replace("window: {", 'until: "disabled",\n        window: {'));
        await nats.up();
    });
    afterAll(() => nats?.destroy().catch(() => undefined));

    it("an upgrade with a disabled experiment changes nothing", async () => {
        examples.use("current");
        await nats.preview("--expect-no-changes");
    });

    it("its types need only those of Pulumi", () => {
        expect(examples.typeImports()).toEqual(["@pulumi/pulumi"]);
    });

    it("it has the page that explains reasons, and the JSON Schema of journals", () => {
        expect(examples.text("dist", pageOfReason("no-target").split("#")[0]!)).toContain("\n### no-target\n");
        const { properties } = JSON.parse(examples.text("dist", "journal.schema.json")) as { properties: object };
        expect(Object.keys(properties)).toContain("conclusion");
    });

    it("its command writes an experiment of Chaos Mesh as arguments", async () => {
        const file = join(__dirname, "..", "..", "unit", "chaos", "cli", "import", "files", "beacon.yaml");
        const added = ["--check", "http://shop.front.svc/health", "--hypothesis", "The shop answers."];
        const written = await examples.command("chaos", "import", ...added, file);
        expect(written).toContain("export const relayKillExperiment: DefinedExperiment");
    });

    itInAll("its types need no option that Pulumi's templates do not set", () => nats.compile());

    it("a preview names the pods that the experiment would hit, and shows its parts", async () => {
        await nats.set({ enabled: "true" });
        const shown = await nats.preview();
        expect(shown).toMatch(
            new RegExp(`would hit 1 container of 3 that match ${target}, .*nats-0/nats, nats-1/nats, nats-2/nats`),
        );
        expect(shown).toContain("nats-without-some-servers-check");
        expect(await attack()).toEqual([0, 0]);
    });

    it("one server cut off, by that version: PASSED", async () => {
        examples.use(earlier);
        const said = await nats.up();
        expect(await nats.verdict()).toBe("PASSED");
        expect(said).toMatch(/To stop this experiment at any time: kubectl .* delete lease chaos-experiment/);
        expect(await attack()).toEqual([1, 1]);
    });

    it("an upgrade, also from another folder, runs nothing again, and keeps attack and verdict", async () => {
        examples.use("current");
        nats.move("elsewhere");
        const said = await nats.up();
        expect(said).not.toContain("Proven");
        expect(said).not.toMatch(/creating|deleting|replac/);
        expect(await nats.verdict()).toBe("PASSED");
        expect(await attack()).toEqual([1, 1]);
    });

    it("disabled by this version: undone before anything else, and the servers have recovered", async () => {
        await nats.set({ enabled: "false" });
        const said = await nats.up();
        expect(said).toContain("Ended the attacks of nats-without-some-servers");
        expect(said).toContain("Recovered");
        expect(await nats.verdict()).toBe("disabled");
        expect(await attack()).toEqual([0, 0]);
    });

    it("killed in the middle of an attack: an empty folder with the state undoes it, and opens no pod", async () => {
        const namespace = "messaging";
        const spec = { podSelector: {}, policyTypes: ["Ingress", "Egress"], ingress: [{}], egress: [{}] };
        await cluster.networking.createNamespacedNetworkPolicy({
            namespace,
            body: { metadata: { name: "theirs" }, spec },
        });
        await nats.set({ enabled: "true", serversLost: "2" });
        const running = nats.beginUp();
        const letGo = async () => {
            const attacked = { namespace, labelSelector: labels.attacked };
            return (await cluster.core.listNamespacedPod(attacked)).items.length > 0;
        };
        const leavesOut = async () => {
            const { items } = await cluster.networking.listNamespacedNetworkPolicy({ namespace });
            return items.some((policy) => policy.metadata!.name === "theirs" && isExempting(policy));
        };
        await until("the other policy has let go of the targets", letGo, { timeoutMs: 60_000 });
        running.kill("SIGKILL");
        let isOver = false;
        let wereOpen = false;
        const watching = (async () => {
            // In this order: the policy selects all pods again before the attack's is gone.
            for (; !isOver; await sleep(20))
                wereOpen ||= (await attack())[0] === 0 && (await letGo()) && (await leavesOut());
        })();
        await nats.destroyFromElsewhere();
        isOver = true;
        await watching;
        expect(wereOpen).toBe(false);
        expect(await isGone(namespace)).toBe(true);
    });
});

const inAll = casesOf([], Object.keys(released));
describe.each(inAll)("a service with a pool of connections to PostgreSQL, by version %s first", (earlier) => {
    let postgres: ExampleProject;
    const attack = () => attackIn("library");

    beforeAll(async () => {
        examples.use(earlier);
        postgres = await examples.project("postgres", { enabled: "true" });
        await postgres.setSecret("password", "only-for-this-test");
    });
    afterAll(async () => {
        await postgres?.destroy();
        expect(await isGone("library")).toBe(true);
    });

    it("application and experiment in one update: PASSED, told that open connections survived, and over", async () => {
        const said = await postgres.up();
        expect(said).toContain("Established connections (inward): survived");
        expect(said).toContain("Recovered: /books of books succeeded again");
        expect(await postgres.verdict()).toBe("PASSED");
        expect(await attack()).toEqual([0, 0]);
    });

    itInAll("the package upgraded and the experiment removed from the program in one update: undone", async () => {
        examples.use("current");
        let whole: string;
        postgres.edit((program) => (whole = program).replace(/const experiment = [\s\S]*/, ""));
        const said = await postgres.up();
        expect(said).toContain("Recovered");
        expect(await attack()).toEqual([0, 0]);
        postgres.edit(() => whole);
    });

    itInAll("established connections must be cut: INCONCLUSIVE, since they survived", async () => {
        await postgres.set({ established: "cut" });
        expect(await postgres.up()).toContain("established connections into the targets survived the attack");
        expect(await postgres.verdict()).toBe("INCONCLUSIVE");
    });

    it("another plan and other pods in one update: the attack ends first, which no pod could start under", async () => {
        examples.use("current");
        postgres.edit((program) => program.replace("window: {", 'until: "disabled", window: {'));
        await postgres.up();
        expect(await attack()).toEqual([1, 1]);
        postgres.edit((program) => program.replace(/duration: "\d+s"/, 'duration: "4s"'));
        await postgres.set({ established: "any", connectionSeconds: "3" });
        const said = await postgres.up();
        expect(said).toContain("Ended the attacks of books-without-database");
        expect(await postgres.verdict()).toBe("FAILED");
    });
});
