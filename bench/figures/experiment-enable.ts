import { resources } from "../../chaos/cluster/resources";
import { labels } from "../../chaos/cluster/labels";
import type { Conclusion } from "../../chaos/report/conclusion";
import type { ManifestObject } from "../../components/manifest/read";
import { kubectlApply } from "../on-cluster";
import { type Figure, measureRounds, median } from "../figure";
import { namespaces, type Session, windowSeconds } from "../session";
import { manifestsOf } from "../stack";
import { timed } from "../time";

export const experimentEnable: Figure = {
    name: "experiment-enable",
    meaning:
        `time of pulumi up to enable the experiment, without the check's window of ${windowSeconds} s, ` +
        "minus the time of kubectl apply of only the policy",
    bar: 6,
    unit: "s",
    async measure(session) {
        const samples = await measureRounds(5, session, () => measureRound(session));
        return { value: median(samples.enable) - median(samples.kubectl), samples };
    },
};

async function measureRound(session: Session) {
    const shop = await session.runningShop();
    await shop.set({ "experiment.enabled": "true" });
    const enable = (await shop.up()) - windowSeconds;
    requireFailed(await shop.output<Conclusion>("experiment"));
    // The shop has policies, too.
    const policy = manifestsOf(await shop.state(), namespaces.shop).find(
        ({ kind, metadata }) => kind === "NetworkPolicy" && metadata.labels?.[labels.experiment] !== undefined,
    )!;
    const kubectl = await applyHarmlessly(session, policy);
    await shop.set({ "experiment.enabled": "false" });
    await shop.up();
    return { enable, kubectl };
}

/** @throws Error if the verdict is not FAILED: with one replica of hot-deals, an attack must break the listing */
export function requireFailed({ verdict, reason }: Conclusion): void {
    if (verdict !== "FAILED") throw new Error(`the verdict was ${verdict} instead of FAILED: ${reason}`);
}

/** The seconds of `kubectl apply` of the policy, changed to select no pod. */
async function applyHarmlessly({ cluster, context }: Session, policy: ManifestObject): Promise<number> {
    const metadata = { name: "bench-policy", namespace: namespaces.shop };
    const podSelector = { matchLabels: { "chaos-shop/bench": "nobody" } };
    const manifest = { ...policy, metadata, spec: { ...(policy.spec as object), podSelector } };
    const seconds = await timed(() => kubectlApply(context, [manifest]));
    await cluster.delete({ resource: resources.networkPolicy, ...metadata });
    return seconds;
}
