/** How it is said that containers of a pod may not be stopped. The deadline Job does not have this file. */
import { isRejection, problemOf } from "../../../cluster/problem";
import { ReasonError } from "../../../values/reasons";

export const refused = (pod: string, problem: string): ReasonError =>
    new ReasonError(
        "attack-refused",
        `the containers of ${pod} may not be stopped: ${problem}`,
        "Allow the change of their images, or choose other targets",
    );

/** For `catch` of a change of a pod's images. @throws ReasonError if it was rejected; the error as it is otherwise */
export const abortIfRejected = (pod: string) => (error: unknown) => {
    throw isRejection(error) ? refused(pod, problemOf(error)) : error;
};
