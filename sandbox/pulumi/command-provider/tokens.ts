/** The release of the command provider that this stands in for. */
export const COMMAND_VERSION = "1.2.1";

/** The one resource type that it has. */
export const COMMAND = "command:local:Command";

/** The one function that it has. */
export const RUN = "command:local:run";

/**
 * Lets only commands pass.
 *
 * @param urn ends in `type::name`, the type preceded by its parents' types and `$`.
 * @throws an error that names the type and says which provider has it.
 */
export function requireCommand(urn: string): void {
    const type = urn.split("::")[2]?.split("$").pop() ?? "";
    if (type !== COMMAND) {
        throw unsupported(type);
    }
}

/** The name that the program gave a resource. */
export function nameOf(urn: string): string {
    return urn.split("::").slice(3).join("::");
}

/** The error for a resource type or function that only the official provider has. */
export function unsupported(token: string): Error {
    return new Error(
        `${token} is not part of this stand-in for the command provider, which has ${COMMAND} and ${RUN}; ` +
            `the official provider has it: pulumi plugin install resource command ${COMMAND_VERSION} --reinstall`,
    );
}
