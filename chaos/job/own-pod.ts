import { hostname } from "node:os";
import { patch } from "./api";

/** Notes something on the pod that this program runs in, for others to read. @throws Error if it cannot */
export async function noteOnOwnPod(
    namespace: string,
    metadata: { labels?: Record<string, string>; annotations: Record<string, string> },
): Promise<void> {
    const { status } = await patch(`/api/v1/namespaces/${namespace}/pods/${hostname()}`, { metadata });
    if (status >= 300) throw new Error(`this pod cannot be annotated: ${status}`);
}
