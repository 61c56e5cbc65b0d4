import { quote } from "shlex";
import type { Advice } from "../conclusion";
import type { Journal } from "../journal-schema";
import type { Facts } from "./facts";

/** What would have made another verdict. One kind is a function: a file in this folder, and a line in `registry.ts`. */
export type AdviceKind = (journal: Journal, facts: Facts) => Pick<Advice, "seen" | "change" | "command"> | undefined;

/** A command that changes the Deployment. @param spec a strategic-merge patch of its `spec` */
export const patchCommand = ({ kubectl, name }: Facts, spec: object): string =>
    `${kubectl} patch deployment ${name} --patch ${quote(JSON.stringify({ spec }))}`;

/** A patch of the Deployment's template. @param changes of each container, by its name */
export const templateWith = ({ spec }: Facts, changes: (container: string) => object): object => ({
    spec: {
        containers: spec.template
            .spec!.containers.map(({ name }) => ({ name, ...changes(name) }))
            .filter((changed) => Object.keys(changed).length > 1),
    },
});
