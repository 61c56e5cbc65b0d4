import { Histogram } from "prom-client";
import { reasonOf } from "../shared/log";
import { LATENCY_BUCKETS, type Metrics } from "../shared/metrics";
import type { Backend, Exchange } from "./call";
import { BackendFailure, type Kind } from "./failure";

type Asking<Question extends unknown[], Answer> = (
    backend: Backend,
    exchange: Exchange,
    ...question: Question
) => Promise<Answer>;

/**
 * Gives a way of asking backends to be seen by those who run the shop: `upstream_request_duration_seconds` by backend and
 * outcome (`ok`, or the kind of failure), and a line in the log for each failure. What was cut short tells nothing of its
 * backend, and is left out.
 *
 * The function returned also takes `failureIn`, which says in words why an answer counts as a failure.
 */
export function createObserver(metrics: Metrics) {
    const duration = new Histogram({
        name: "upstream_request_duration_seconds",
        help: "How long backends took to answer, or to fail, by outcome",
        labelNames: ["backend", "outcome"],
        buckets: LATENCY_BUCKETS,
        registers: [metrics],
    });
    return <Question extends unknown[], Answer>(
            ask: Asking<Question, Answer>,
            failureIn: (answer: Answer) => string | undefined = () => undefined,
        ): Asking<Question, Answer> =>
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
