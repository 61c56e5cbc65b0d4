import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { render } from "../../cli/rendering/render";
import { type RenderOptions, renderOptions } from "../../cli/renderOptions";
import { ensureParts } from "../../sandbox/parts/ensure";
import { locateParts } from "../../sandbox/parts/locate";
import { removeNamespaces, untilProductsAnswer } from "../cluster";
import { describeSamples, type Figure, ratio } from "../figure";
import { namespaces, type Session } from "../session";
import { timed } from "../time";

const rounds = 5;

export function chartUp(session: Session): Figure {
    return {
        name: "chart-up",
        meaning:
            "pulumi up of the shop until /products answers, against helm upgrade --install --wait of the rendered chart",
        bar: 1.15,
        unit: "ratio",
        async measure() {
            const { cluster, context, say, scratch } = session;
            await ensureParts("helm");
            const out = join(scratch, "rendering");
            const { configuration } = renderOptions(["--out", out, "--force"]) as RenderOptions;
            await render(configuration, out);
            const install = [
                "upgrade",
                "--install",
                "--wait",
                "--timeout",
                "5m0s",
                "--kube-context",
                context,
                "--namespace",
                namespaces.helm,
                "--create-namespace",
                "shop",
                join(out, "chart"),
            ];
            const pulumi: number[] = [];
            const helm: number[] = [];
            const ended: Record<"pulumi" | "helm", number[]> = { pulumi: [], helm: [] };
            for (let round = 1; round <= rounds; round++) {
                const stack = await session.newShopStack(namespaces.pulumi);
                const begun = performance.now();
                const [up, answered] = await Promise.all([
                    stack.up(),
                    untilProductsAnswer(cluster, namespaces.pulumi, begun),
                ]);
                pulumi.push(answered);
                ended.pulumi.push(up);
                await removeNamespaces(cluster, [namespaces.pulumi]);

                const installing = performance.now();
                const [installed, reached] = await Promise.all([
                    timed(() => promisify(execFile)(locateParts().helm, install)),
                    untilProductsAnswer(cluster, namespaces.helm, installing),
                ]);
                helm.push(reached);
                ended.helm.push(installed);
                await removeNamespaces(cluster, [namespaces.helm]);
                say(
                    `round ${round} of ${rounds}: pulumi ${answered.toFixed(1)} s (ended after ${up.toFixed(1)} s), helm ${reached.toFixed(1)} s (ended after ${installed.toFixed(1)} s)`,
                );
            }
            return {
                value: ratio(pulumi, helm),
                made: `pulumi ${describeSamples(pulumi)}, helm ${describeSamples(helm)}`,
                samples: { pulumi, pulumiEnded: ended.pulumi, helm, helmEnded: ended.helm },
            };
        },
    };
}
