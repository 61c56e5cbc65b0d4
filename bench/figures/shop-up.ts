import { kubectlApply, timesOfInstall } from "../on-cluster";
import { type Figure, measureRounds, ratio } from "../figure";
import { namespaces, type Session } from "../session";
import { manifestsOf } from "../stack";

export const shopUp: Figure = {
    name: "shop-up",
    meaning: "pulumi up of the shop until /products answers, compared with kubectl apply of the same objects",
    bar: 1.3,
    unit: "ratio",
    async measure(session) {
        const samples = await measureRounds(5, session, () => measureRound(session));
        return { value: ratio(samples.pulumi, samples.kubectl), samples };
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
