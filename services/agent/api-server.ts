import { type ApiServer, callApi, openApi, readLines } from "../../chaos/cluster/in-cluster-api";

const responseTimeoutMs = 10_000;

/** The API server refused a request. */
export class ApiError extends Error {
    constructor(
        readonly status: number,
        path: string,
    ) {
        super(`the API server answered ${status} to ${path.split("?")[0]}`);
        this.name = "ApiError";
    }
}

/** What the agent reads from the API server. */
export function readerOf(server: ApiServer) {
    return {
        /** @throws ApiError for any status but 200 */
        async get<Answer>(path: string) {
            const { status, body } = await callApi(path, { silenceMs: responseTimeoutMs }, server);
            if (status !== 200) throw new ApiError(status, path);
            return JSON.parse(body) as Answer;
        },
        /**
         * Reads a watch line by line until the server ends it.
         *
         * @param silenceMs the connection counts as lost when nothing arrives for this long, in milliseconds
         */
        async watch(path: string, onLine: (line: string) => void, silenceMs: number) {
            const response = await openApi(path, { silenceMs }, server);
            if (response.statusCode !== 200) {
                response.resume();
                throw new ApiError(response.statusCode!, path);
            }
            await readLines(response, onLine);
        },
    };
}
export type ApiReader = ReturnType<typeof readerOf>;
