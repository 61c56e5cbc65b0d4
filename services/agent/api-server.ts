import { type ApiServer, readApi, watchApi } from "../../chaos/cluster/in-cluster-api";

const responseTimeoutMs = 10_000;

export const readerOf = (server: ApiServer) => ({
    get: <Answer>(path: string) => readApi<Answer>(path, { silenceMs: responseTimeoutMs }, server),
    /** @param silenceMs the connection counts as lost when nothing arrives for this long, in milliseconds */
    watch: (path: string, onLine: (line: string) => void, silenceMs: number) =>
        watchApi(path, onLine, { silenceMs }, server),
});
export type ApiReader = ReturnType<typeof readerOf>;
