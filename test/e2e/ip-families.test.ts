import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TypedCluster as Cluster } from "../support/typed-cluster";
import type { AttackDefinition } from "../../chaos/definition/definition";
import type { Check } from "../../chaos/kinds/checks/registry";
import { Experiment } from "../../chaos/face/experiment";
import { tryWithin } from "../../chaos/proof/try-within";
import type { Conclusion } from "../../chaos/report/conclusion";
import { type Discovered, isReady } from "../../chaos/targets/containers";
import { containersByApiServer } from "../../chaos/targets/discover";
import { addresses } from "../../sandbox/node/addresses";
import { choices } from "../../sandbox/node/choices";
import { withNodeLock } from "../../sandbox/node/lock";
import { kubeRouter } from "../../sandbox/node/networks/kube-router";
import { sandboxNodes } from "../../sandbox/node/nodes";
import { startComponent } from "../../sandbox/node/processes";
import { askFromPod, nodePod } from "../../sandbox/test/e2e/support";
import { startEnforcer, stopEnforcer } from "../../sandbox/test/support/enforcer";
import { experimentPrograms } from "../../toolchain/experiment-programs";
import { attackPolicies } from "../support/attack-policies";
import { until } from "../support/until";
import { openNamespace } from "./shop/support";

const namespace = "e2e-ip-families";
const port = 8080;
const of = (pod: string) => `k8s.pod.name=${pod}`;
const serving = (pod: string, at = "") =>
    `require("http").createServer((_, answer) => answer.end("${pod}")).listen(${port}${at});`;
const pods = { both: serving("both"), ipv4: serving("ipv4", `, "0.0.0.0"`), bystander: serving("bystander") };
const staysReady: Check = { kind: "podsReady", of: of("bystander") };

const isDual = choices().ipFamilies === "ipv4,ipv6";
const title = "pods and Services of both address families (needs: npm run sandbox -- up --ip-families ipv4,ipv6)";

describe.skipIf(!isDual)(title, () => {
    let cluster: Cluster;
    let folder: string;
    let stack: Stack;
    let said = "";
    let attack: AttackDefinition | undefined;
    let check: Check;

    const program = async () => {
        const experiment = new Experiment("families", {
            enabled: attack !== undefined,
            context: cluster.kubeconfig.getCurrentContext(),
            hypothesis: "What is not attacked goes on.",
            namespace,
            attacks: [attack ?? { kind: "blackhole", target: of("both") }],
            checks: [check],
            // What becomes of established connections shows within 10 s.
            window: { duration: "12s", grace: "0s" },
            until: "disabled",
            reports: join(folder, "reports"),
            programs: experimentPrograms,
        });
        return { conclusion: experiment.conclusion };
    };

    async function up(wanted?: AttackDefinition, holds = staysReady): Promise<Conclusion> {
        [attack, check, said] = [wanted, holds, ""];
        const { outputs } = await stack.up({ onOutput: (text) => (said += text) });
        return outputs.conclusion?.value as Conclusion;
    }

    beforeAll(async () => {
        const opened = await openNamespace(namespace);
        ({ folder, cluster } = opened);
        for (const [name, listening] of Object.entries(pods)) {
            const ports = [{ containerPort: port }];
            const body = nodePod(name, listening, { terminationGracePeriodSeconds: 0 }, { ports });
            await cluster.core.createNamespacedPod({ namespace, body });
        }
        const ipFamilyPolicy = "PreferDualStack";
        const spec = { ipFamilyPolicy, selector: { app: "both" }, ports: [{ port: 80, targetPort: port }] };
        await cluster.core.createNamespacedService({ namespace, body: { metadata: { name: "both" }, spec } });
        const readyPods = async () => (await cluster.core.listNamespacedPod({ namespace })).items.filter(isReady);
        await until("all pods are ready", async () => (await readyPods()).length === Object.keys(pods).length);
        stack = await LocalWorkspace.createStack(
            { stackName: "dev", projectName: "families", program },
            { pulumiCommand: opened.pulumiCommand },
        );
    });
    afterAll(async () => {
        await stack?.destroy().catch(() => undefined);
        await cluster.core.deleteNamespace({ name: namespace }).catch(() => undefined);
        rmSync(folder, { recursive: true, force: true });
    });

    const podNamed = async (name: string): Promise<Discovered> =>
        (await containersByApiServer(cluster, "sandbox")).find(
            (one) => one.namespace === namespace && one.pod === name,
        )!;
    const ipsOf = async (name: string) => (await podNamed(name)).addresses!;
    const serviceIps = async () => {
        const { spec } = await cluster.core.readNamespacedService({ namespace, name: "both" });
        return spec!.clusterIPs!;
    };
    /** At which addresses of the pod and the Service `both` the bystander is answered. */
    async function answering(): Promise<string[]> {
        const bystander = await podNamed("bystander");
        const at = [
            ...(await ipsOf("both")).map((host) => ({ host, port })),
            ...(await serviceIps()).map((host) => ({ host, port: 80 })),
        ];
        const tried = await Promise.all(at.map((connect) => tryWithin(cluster, bystander, { connect }, 2_000)));
        return at.filter((_, index) => "worked" in tried[index]! && tried[index].worked).map(({ host }) => host);
    }
    async function disable(): Promise<void> {
        await up();
        expect(await attackPolicies(cluster, namespace)).toEqual([]);
        const all = [...(await ipsOf("both")), ...(await serviceIps())];
        await until("all addresses answer", async () => (await answering()).length === all.length);
    }

    it("have an address of each, which answers", async () => {
        const all = [...(await ipsOf("both")), ...(await serviceIps())];
        expect(all.map((one) => one.includes(":"))).toEqual([false, true, false, true]);
        expect(await answering()).toEqual(all);
    });

    it("a blackhole is proven in both families, and looks at established connections in both", async () => {
        const conclusion = await up({ kind: "blackhole", target: of("both") });
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(said).not.toContain("Not part of the proof");
        expect(said).toContain("Established connections (inward): survived");
        expect(await answering()).toEqual([]);
        await disable();
    });

    it("a target that listens in one family is proven in that: the other is named as left out", async () => {
        const [, ipv6] = await ipsOf("ipv4");
        const conclusion = await up({ kind: "blackhole", target: of("ipv4") });
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(said).toContain(`connections to [${ipv6}]:${port}`);
        await disable();
    });

    it("a fault is proven at each address of its Service", async () => {
        const asked: Check = { kind: "http", service: "both", path: "/" };
        const conclusion = await up({ kind: "fault", service: "both", abort: 503 }, asked);
        expect(conclusion.verdict, conclusion.reason).toBe("FAILED");
        const [, ipv6] = await serviceIps();
        const answer = () => askFromPod(namespace, "bystander", `http://[${ipv6}]/`);
        expect(await answer()).not.toBe("both");
        await disable();
        await until("the Service answers over IPv6", async () => (await answer()) === "both");
    });

    describe.skipIf(choices().network !== "kube-router")("on a network that enforces policies for IPv4 alone", () => {
        beforeAll(async () => {
            await stopEnforcer();
            const { denied } = choices();
            const isOfIpv6 = (flag: string) => flag.startsWith("--enable-ipv") || flag.endsWith(addresses.servicesIpv6);
            const ofIpv4 = sandboxNodes().map((node) => {
                const enforcer = kubeRouter.enforcer(node, denied);
                return { ...enforcer, args: enforcer.args.filter((flag) => !isOfIpv6(flag)) };
            });
            await withNodeLock(() => Promise.all(ofIpv4.map(startComponent)));
        });
        afterAll(async () => {
            // Removes the rules of IPv4, too: what comes is as after an `up`.
            await stopEnforcer();
            await startEnforcer();
        });

        it.each<["ingress" | "egress", () => Promise<string>]>([
            ["ingress", async () => `[${(await ipsOf("both"))[1]}]:${port} still accepted fresh connections`],
            ["egress", async () => "from both/web to another pod over IPv6 at port"],
        ])("a blackhole of %s is INCONCLUSIVE, and the reason has the family", async (direction, what) => {
            const conclusion = await up({ kind: "blackhole", target: of("both"), direction });
            expect(conclusion).toMatchObject({ verdict: "INCONCLUSIVE", code: "attack-not-proven" });
            expect(conclusion.reason).toContain(await what());
            await disable();
        });
    });
});
