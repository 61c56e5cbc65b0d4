import { annotations, labels } from "../../../chaos/cluster/labels";
import { startApiServer } from "../../unit/services/support/api-server";

/** What the gateway reads of a pod, as in the API server's answers. */
export interface FakePod {
    metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
    status: { conditions: { type: string; status: string }[] };
}

const ready = (isReady: boolean) => ({ conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] });

/** A pod of the workload in its name, `hot-deals-1`, that an experiment attacks. */
export const fakePod = (name: string, targetLabel: string, effect?: string): FakePod => ({
    metadata: {
        name,
        labels: { app: name.replace(/(-[^-]*\d[^-]*)+$/, ""), [labels.target]: targetLabel },
        ...(effect !== undefined && { annotations: { [annotations.effect]: effect } }),
    },
    status: ready(true),
});

/** The proxy of a fault with these targets. */
export const proxyOf = (targets: readonly FakePod[], effect: string, isReady = true): FakePod => ({
    metadata: {
        name: "run-fault",
        labels: { [labels.proxy]: "run-fault" },
        annotations: {
            [annotations.effect]: effect,
            [annotations.targets]: targets.map(({ metadata }) => metadata.name).join(","),
        },
    },
    status: ready(isReady),
});

/**
 * An API server that lists pods, until the test ends.
 *
 * @param pods the pods at the time of a request
 * @returns the environment of a program that is to ask it
 */
export async function startPods(pods: () => FakePod[]): Promise<Record<string, string>> {
    const { host, port, account } = await startApiServer(
        (_request, response) => void response.end(JSON.stringify({ items: pods() })),
    );
    return {
        KUBERNETES_SERVICE_HOST: host!,
        KUBERNETES_SERVICE_PORT: String(port),
        ACCOUNT_FOLDER: account,
    };
}
