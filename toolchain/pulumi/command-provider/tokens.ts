import { COMMAND_PROVIDER_VERSION } from "../versions";

/** The only resource type. */
export const COMMAND = "command:local:Command";

/** The only function. */
export const RUN = "command:local:run";

/**
 * Rejects every other resource type.
 *
 * @param urn ends in `type::name`; the type follows its parents' types and `$`.
 * @throws an error with the type, and the provider that has it.
 */
export function requireCommand(urn: string): void {
    const type = urn.split("::")[2]?.split("$").pop() ?? "";
    if (type !== COMMAND) {
        throw unsupported(type);
    }
}

/** The name of a resource in the program. */
export function nameOf(urn: string): string {
    return urn.split("::").slice(3).join("::");
}

/** The error for a resource type or function that only the official provider has. */
export function unsupported(token: string): Error {
    return new Error(
        `${token} is not part of this stand-in for the command provider, which has ${COMMAND} and ${RUN}; ` +
            `the official provider has it: ` +
            `pulumi plugin install resource command ${COMMAND_PROVIDER_VERSION} --reinstall`,
    );
}
