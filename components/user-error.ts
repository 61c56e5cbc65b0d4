import { explain } from "../chaos/cluster/problem";
import { UserError } from "../chaos/values/user-error";
import { withoutCredentials } from "../chaos/values/without-credentials";

/** A stack's program whose errors are printed without a stack trace. */
export function withUserErrors<T>(program: () => Promise<T>): () => Promise<T> {
    return () =>
        program().catch((error: unknown) => {
            throw new UserError(withoutCredentials(explain(error)));
        });
}
