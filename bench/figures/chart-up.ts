import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { render } from "../../cli/rendering/render";
import { type RenderOptions, renderOptions } from "../../cli/render-options";
import { ensureParts } from "../../toolchain/parts/ensure";
import { locateParts } from "../../sandbox/parts/locate";
import { helm as helmPart } from "../../sandbox/parts/programs";
import { timesOfInstall } from "../cluster";
import { describeSamples, type Figure, measureRounds, ratio } from "../figure";
import { namespaces, type Session } from "../session";

const rounds = 5;

export const chartUp: Figure = {
    name: "chart-up",
    meaning: "pulumi up until /products answers, compared with helm upgrade --install --wait of the rendered chart",
    bar: 1.15,
    unit: "ratio",
    async measure(session) {
        await ensureParts([helmPart]);
        const out = join(session.scratch, "rendering");
        const { configuration } = renderOptions(["--out", out, "--force"]) as RenderOptions;
        await render(configuration, out);
        const samples = await measureRounds(
            rounds,
            session,
            () => measureRound(session, join(out, "chart")),
            ({ pulumi, pulumiEnded, helm, helmEnded }) =>
                `pulumi ${pulumi.toFixed(1)} s (ended after ${pulumiEnded.toFixed(1)} s), ` +
                `helm ${helm.toFixed(1)} s (ended after ${helmEnded.toFixed(1)} s)`,
        );
        return {
            value: ratio(samples.pulumi, samples.helm),
            made: `pulumi ${describeSamples(samples.pulumi)}, helm ${describeSamples(samples.helm)}`,
            samples,
        };
    },
};

async function measureRound(session: Session, chart: string) {
    const { cluster, context } = session;
    const stack = await session.newShopStack(namespaces.pulumi);
    const pulumi = await timesOfInstall(cluster, namespaces.pulumi, () => stack.up());
    const place = ["--kube-context", context, "--namespace", namespaces.helm, "--create-namespace"];
    const install = ["upgrade", "--install", "--wait", "--timeout", "5m0s", ...place, "shop", chart];
    const helm = await timesOfInstall(cluster, namespaces.helm, () => promisify(execFile)(locateParts().helm, install));
    return { pulumi: pulumi.answered, pulumiEnded: pulumi.ended, helm: helm.answered, helmEnded: helm.ended };
}
