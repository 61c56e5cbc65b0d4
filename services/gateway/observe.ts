import { callDurations } from "../shared/calls";
import { reasonOf } from "../shared/log";
import type { Metrics } from "../shared/metrics";
import type { Backend, Exchange } from "./call";
import { BackendFailure, type Kind } from "./failure";

type Calling<Question extends unknown[], Answer> = (
    backend: Backend,
    exchange: Exchange,
    ...question: Question
) => Promise<Answer>;

/**
 * Wraps calls to backends with a metric and a log: `upstream_request_duration_seconds` by backend and outcome (`ok` or
 * the kind of failure), and one log line per failure. Aborted calls say nothing about a backend and are not counted.
 *
 * `failureIn` says why a response counts as a failure, or returns undefined.
 */
export function createObserver(metrics: Metrics) {
    const duration = callDurations(metrics);
    return <Question extends unknown[], Answer>(
            ask: Calling<Question, Answer>,
            failureIn: (answer: Answer) => string | undefined = () => undefined,
        ): Calling<Question, Answer> =>
        async (backend, exchange, ...question) => {
            const begun = performance.now();
            const note = (outcome: "ok" | Kind) =>
                duration.observe({ backend: backend.name, outcome }, (performance.now() - begun) / 1000);
            const warn = (kind: Kind, message: string, cause?: unknown) => {
                note(kind);
                exchange.scope.log.warn({ backend: backend.name, kind, cause: reasonOf(cause) }, message);
            };
            try {
                const answer = await ask(backend, exchange, ...question);
                const failure = failureIn(answer);
                if (failure === undefined) note("ok");
                else warn("bad-answer", failure);
                return answer;
            } catch (error) {
                if (error instanceof BackendFailure && !exchange.cancelled?.aborted)
                    warn(error.kind, error.message, error.cause);
                throw error;
            }
        };
}
