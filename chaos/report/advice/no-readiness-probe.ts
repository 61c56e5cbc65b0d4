import { type AdviceKind, patchCommand, templateWith } from "./advice-kind";
import { readinessOfPods, type Span, spansWithoutReadyPod } from "./failed-answers";
import { describeRemovals, spansAfterRemovals } from "./removals";
import { stoppingGracefully } from "./stop-gracefully";

/**
 * Requests failed after pods were removed, though others were ready, and still when the replacements counted as ready:
 * without a probe, they do from the start of their containers on, whether they serve or not.
 */
export const noReadinessProbe: AdviceKind = (journal, facts) => {
    const { containers, initContainers = [] } = facts.spec.template.spec!;
    const stopping = stoppingGracefully(facts);
    if (stopping === undefined || spansWithoutReadyPod(journal).length > 0) return undefined;
    if ([...containers, ...initContainers].some((one) => one.readinessProbe ?? one.startupProbe)) return undefined;
    const [serves, ...others] = containers.flatMap(({ name, ports = [] }) =>
        ports.flatMap(({ containerPort: port, protocol = "TCP" }) => (protocol === "TCP" ? { name, port } : [])),
    );
    if (serves === undefined || others.length > 0) return undefined;
    const spans = spansAfterRemovals(journal);
    const begins = readinessOfPods(journal).filter(({ ready }) => ready);
    const hasReplacement = ({ from, to }: Span) => begins.some(({ at }) => at >= from && at < to);
    if (!spans?.some(hasReplacement)) return undefined;
    const readinessProbe = { tcpSocket: { port: serves.port }, periodSeconds: 1 };
    const changes = (name: string) => ({
        ...(name === serves.name && { readinessProbe }),
        ...stopping.changes?.(name),
    });
    return {
        seen: `${describeRemovals(journal, facts, spans)}. The replacements counted as ready without a probe`,
        change: `Have pods be ready once they accept connections to port ${serves.port}${stopping.change}`,
        command: patchCommand(facts, { template: templateWith(facts, changes) }),
    };
};
