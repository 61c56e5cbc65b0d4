import { kubectlApply, timesOfInstall } from "../cluster";
import { describeSamples, type Figure, measureRounds, ratio } from "../figure";
import { manifestsOf } from "../manifests";
import { namespaces, type Session } from "../session";

const rounds = 5;

export const shopUp: Figure = {
    name: "shop-up",
    meaning: "pulumi up of the shop until /products answers, compared with kubectl apply of the same objects",
    bar: 1.4,
    unit: "ratio",
    async measure(session) {
        const samples = await measureRounds(
            rounds,
            session,
            () => measureRound(session),
            ({ pulumi, pulumiEnded, kubectl }) =>
                `pulumi ${pulumi.toFixed(1)} s (ended after ${pulumiEnded.toFixed(1)} s), ` +
                `kubectl ${kubectl.toFixed(1)} s`,
        );
        return {
            value: ratio(samples.pulumi, samples.kubectl),
            made: `pulumi ${describeSamples(samples.pulumi)}, kubectl ${describeSamples(samples.kubectl)}`,
            samples,
        };
    },
};

async function measureRound(session: Session) {
    const { cluster, context } = session;
    const stack = await session.newShopStack(namespaces.pulumi);
    const pulumi = await timesOfInstall(cluster, namespaces.pulumi, () => stack.up());
    const manifests = manifestsOf(await stack.state(), namespaces.kubectl);
    const kubectl = await timesOfInstall(cluster, namespaces.kubectl, () => kubectlApply(context, manifests));
    return { pulumi: pulumi.answered, pulumiEnded: pulumi.ended, kubectl: kubectl.answered };
}
