import { kubectlApply, removeNamespaces, untilProductsAnswer } from "../cluster";
import { describeSamples, type Figure, ratio } from "../figure";
import { manifestsOf } from "../manifests";
import { namespaces, type Session } from "../session";

const rounds = 5;

export function shopUp(session: Session): Figure {
    return {
        name: "shop-up",
        meaning: "pulumi up of the shop until /products answers, against kubectl apply of the same objects",
        bar: 1.3,
        unit: "ratio",
        async measure() {
            const { cluster, context, say } = session;
            const pulumi: number[] = [];
            const ended: number[] = [];
            const kubectl: number[] = [];
            for (let round = 1; round <= rounds; round++) {
                const stack = await session.newShopStack(namespaces.pulumi);
                const begun = performance.now();
                const [end, answered] = await Promise.all([
                    stack.up(),
                    untilProductsAnswer(cluster, namespaces.pulumi, begun),
                ]);
                pulumi.push(answered);
                ended.push(end);
                const manifests = manifestsOf(await stack.state(), namespaces.kubectl);
                await removeNamespaces(cluster, [namespaces.pulumi]);

                const applied = performance.now();
                const [, reached] = await Promise.all([
                    kubectlApply(context, manifests),
                    untilProductsAnswer(cluster, namespaces.kubectl, applied),
                ]);
                kubectl.push(reached);
                await removeNamespaces(cluster, [namespaces.kubectl]);
                say(
                    `round ${round} of ${rounds}: pulumi ${answered.toFixed(1)} s (ended after ${end.toFixed(1)} s), kubectl ${reached.toFixed(1)} s`,
                );
            }
            return {
                value: ratio(pulumi, kubectl),
                made: `pulumi ${describeSamples(pulumi)}, kubectl ${describeSamples(kubectl)}`,
                samples: { pulumi, pulumiEnded: ended, kubectl },
            };
        },
    };
}
