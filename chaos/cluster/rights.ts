/** What Kubernetes RBAC lets an account do with some objects. */
export interface Right {
    /** Namespace of the objects. Absent: the right is for the whole cluster. */
    namespace?: string;
    /** @default "", the core group */
    apiGroup?: string;
    /** In the plural, with a subresource if it is meant: `pods`, `pods/exec`. */
    resource: string;
    verbs: readonly string[];
    /** Names of the objects. RBAC cannot limit `create` to names. @default all objects */
    names?: readonly string[];
    /** What needs it, as a phrase: "label the targets". */
    why: string;
    /** What is lost without it, in a sentence without a period. Absent: the experiment needs it. */
    without?: string;
}

/** Whether an experiment needs a right. */
export const isRequired = ({ without }: Right) => without === undefined;
