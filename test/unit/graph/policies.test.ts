import type {
    V1NetworkPolicyPeer,
    V1NetworkPolicyPort,
    V1NetworkPolicySpec,
} from "../../../chaos/values/kubernetes-types";
import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, it } from "vitest";
import { labels } from "../../../chaos/cluster/labels";
import { selects } from "../../../chaos/policies/selector";
import { BuiltinAgent } from "../../../components/agent/builtin";
import { shopPolicies } from "../../../components/shop/policies";
import { Shop } from "../../../components/shop/shop";
import { type Asked, find, images, kinds, recordGraph } from "./support";

type Labels = Record<string, string>;
type Rule = { from?: V1NetworkPolicyPeer[]; to?: V1NetworkPolicyPeer[]; ports: V1NetworkPolicyPort[] };
type Spec = Pick<V1NetworkPolicySpec, "podSelector"> & { policyTypes: string[]; ingress?: Rule[]; egress?: Rule[] };
/** A pod of the shop's namespace by its labels, or somebody else. */
type End = Labels | "outside";
interface Connection {
    from: End;
    to: End;
    port: number;
    protocol?: string;
}

const promiseOf = <T>(output: pulumi.Output<T>) => new Promise<T>((resolve) => output.apply(resolve));

const specsOf = (graph: readonly Asked[]) =>
    graph.filter(({ type }) => type === kinds.policy).map(({ inputs }) => inputs.spec as Spec);

/** Whether NetworkPolicies let a pod connect: those of both ends must. */
function isAllowed(graph: readonly Asked[], { from, to, port, protocol = "TCP" }: Connection): boolean {
    const hasPort = ({ ports }: Rule) => ports.some((one) => one.port === port && one.protocol === protocol);
    const hasPeer = (peers: V1NetworkPolicyPeer[] | undefined, other: End) =>
        peers === undefined || (other !== "outside" && peers.some(({ podSelector }) => selects(podSelector, other)));
    const side = (end: End, way: "ingress" | "egress", other: End) => {
        if (end === "outside") return true;
        const type = way === "ingress" ? "Ingress" : "Egress";
        const specs = specsOf(graph).filter(
            ({ podSelector, policyTypes }) => policyTypes.includes(type) && selects(podSelector, end),
        );
        const rules = specs.flatMap((spec) => spec[way] ?? []);
        return specs.length === 0 || rules.some((rule) => hasPort(rule) && hasPeer(rule.from ?? rule.to, other));
    };
    return side(from, "egress", to) && side(to, "ingress", from);
}

let graphs: Record<"four" | "seven", Asked[]>;
beforeAll(async () => {
    const shop = (variant: "four" | "seven") =>
        recordGraph(async () => new Shop("shop", { namespace: "demo", variant, images }));
    graphs = { four: await shop("four"), seven: await shop("seven") };
});
const pod = (workload: string, of = graphs.seven): Labels =>
    find(of, kinds.deployment, workload).spec.template.metadata.labels;
const workloads = () => graphs.seven.filter(({ type }) => type === kinds.deployment).map(({ name }) => name);
const ports = { database: 5432, "message-broker": 4222 } as Record<string, number>;

/** Each pair of workloads of which one may connect to the other. */
const calls = [
    ...["fashion-bestseller", "toys-bestseller", "hot-deals", "orders"].map((callee) => `gateway to ${callee}`),
    ...["fashion-bestseller", "toys-bestseller", "hot-deals", "orders", "inventory"].map(
        (caller) => `${caller} to database`,
    ),
    ...["orders", "inventory"].map((caller) => `${caller} to message-broker`),
].sort();

describe("in the shop", () => {
    it("these workloads may connect to each other's port, and no others", () => {
        const allowed = workloads().flatMap((from) =>
            workloads()
                .filter((to) => isAllowed(graphs.seven, { from: pod(from), to: pod(to), port: ports[to] ?? 8080 }))
                .map((to) => `${from} to ${to}`),
        );
        expect(allowed.sort()).toEqual(calls);
    });

    it("these are the same in variant four, as far as the workloads are there", () => {
        for (const call of calls.filter((one) => !/orders|inventory|broker/.test(one))) {
            const [from, to] = call.split(" to ") as [string, string];
            const ends = { from: pod(from, graphs.four), to: pod(to, graphs.four) };
            expect(isAllowed(graphs.four, { ...ends, port: ports[to] ?? 8080 }), call).toBe(true);
        }
    });

    it("callers may connect to the Service of a callee itself, which refuses while it has no ready pod", async () => {
        const of = (last: number) => ({ ips: [`10.0.0.${last}`, `fd00::${last}`], port: 80 });
        const { allowed } = shopPolicies({ gateway: of(1), orders: of(2), "hot-deals": of(3), database: of(4) });
        const egress = (await promiseOf(pulumi.output(allowed.gateway!.egress))) as Rule[];
        const blocks = egress.flatMap(({ to = [], ports }) =>
            to.flatMap(({ ipBlock }) => ipBlock?.cidr ?? []).map((cidr) => `${cidr} ${ports[0]!.port}`),
        );
        expect(blocks).toEqual(["10.0.0.3/32 80", "fd00::3/128 80", "10.0.0.2/32 80", "fd00::2/128 80"]);
        expect(allowed.database!.egress).toBeUndefined();
    });

    it("changing the variant changes no other policy", () => {
        for (const { name, inputs } of graphs.four.filter(({ type }) => type === kinds.policy))
            expect(find(graphs.seven, kinds.policy, name), name).toEqual(inputs);
    });

    it.each([5432, 8222, 22])("a caller may use no other port of its callee, such as %i", (port) =>
        expect(isAllowed(graphs.seven, { from: pod("gateway"), to: pod("hot-deals"), port })).toBe(false),
    );

    it("everybody may connect to the gateway's port, and nobody from outside to another workload", () => {
        const open = workloads().filter((name) =>
            [8080, 5432, 4222, 8222].some((port) => isAllowed(graphs.seven, { from: "outside", to: pod(name), port })),
        );
        expect(open).toEqual(["gateway"]);
        expect(isAllowed(graphs.seven, { from: "outside", to: pod("gateway"), port: 22 })).toBe(false);
    });

    it("nobody but its clients reaches the database's port: neither a pod without labels nor the gateway", () => {
        for (const from of [{}, { app: "other" }, pod("gateway")])
            expect(isAllowed(graphs.seven, { from, to: pod("database"), port: 5432 })).toBe(false);
    });

    it("each workload that calls another may look up names, on both of the ports where DNS may listen", () => {
        for (const port of [53, 5353])
            for (const protocol of ["UDP", "TCP"]) {
                const may = workloads().filter((name) =>
                    isAllowed(graphs.seven, { from: pod(name), to: "outside", port, protocol }),
                );
                const silent = ["database", "message-broker"];
                expect(may.sort()).toEqual(
                    workloads()
                        .filter((name) => !silent.includes(name))
                        .sort(),
                );
            }
    });

    it.each([443, 6443, 8443, 16443])("only the gateway may call an API server, also at port %i", (port) =>
        expect(workloads().filter((name) => isAllowed(graphs.seven, { from: pod(name), to: "outside", port }))).toEqual(
            ["gateway"],
        ),
    );

    it("policies leave the other pods of the namespace alone, such as the Job that watches an experiment", () => {
        const job = { "job-name": "experiment-deadline" };
        expect(isAllowed(graphs.seven, { from: job, to: "outside", port: 6443 })).toBe(true);
        expect(isAllowed(graphs.seven, { from: "outside", to: job, port: 8080 })).toBe(true);
    });

    it("no label that somebody could give a pod is a way out of them", () => {
        for (const { podSelector } of specsOf(graphs.seven))
            for (const name of workloads())
                expect(selects(podSelector, { ...pod(name), [labels.attacked]: "x" })).toBe(
                    selects(podSelector, pod(name)),
                );
    });

    it("there are no policies if the stack wants none", async () => {
        const graph = await recordGraph(
            async () => new Shop("shop", { namespace: "demo", images, networkPolicies: false }),
        );
        expect(specsOf(graph)).toEqual([]);
    });
});

describe("the builtin agent", () => {
    const args = { namespace: "demo-agent", shop: "demo", clusterName: "c", key: "a-key", image: images.node };
    let graph: Asked[];
    let agent: Labels;
    beforeAll(async () => {
        graph = await recordGraph(async () => new BuiltinAgent("agent", args));
        agent = find(graph, "kubernetes:apps/v1:DaemonSet", "agent").spec.template.metadata.labels;
    });

    it("answers everybody at its port, and calls only the API server", () => {
        expect(isAllowed(graph, { from: "outside", to: agent, port: 8080 })).toBe(true);
        expect(isAllowed(graph, { from: agent, to: "outside", port: 6443 })).toBe(true);
        for (const port of [53, 80, 5432]) expect(isAllowed(graph, { from: agent, to: "outside", port })).toBe(false);
        expect(isAllowed(graph, { from: "outside", to: agent, port: 80 })).toBe(false);
    });

    it("has no policies if the stack wants none", async () => {
        const without = await recordGraph(async () => new BuiltinAgent("agent", { ...args, networkPolicies: false }));
        expect(specsOf(without)).toEqual([]);
    });
});
