import { type Answer, answerOf } from "./answer";
import type { EndpointSettings } from "./endpoint";
import type { Endpoint } from "./endpoints";
import type { CheckContext } from "./kind";

/**
 * Looks at an endpoint. If that is not found, or the API server through which it is asked does not answer, nothing is
 * known about the application. Finding it is not part of the latency.
 */
export async function askEndpoint(
    check: EndpointSettings & { kind: string },
    { endpoints, pulse }: CheckContext,
    timeoutMs: number,
    ask: (endpoint: Endpoint) => Promise<Answer>,
): Promise<Answer> {
    const found: { endpoint?: Endpoint } = {};
    const finding = await answerOf(async () => {
        found.endpoint = await endpoints.of(check);
        return {};
    }, timeoutMs);
    const { endpoint } = found;
    if (!finding.good || !endpoint) return { ...finding, unseen: true };
    const begun = performance.now();
    const answer = await ask(endpoint);
    const known = answer.good || answer.unseen || endpoint.route.kind !== "apiServer" || !pulse;
    if (known || (await pulse.answeredSince(begun))) return answer;
    const problem = `${answer.problem}, while the API server did not answer other requests either`;
    return { ...answer, problem, unseen: true };
}
