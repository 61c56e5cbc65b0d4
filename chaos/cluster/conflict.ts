import { statusOf } from "./client";

const maxTries = 5;

/**
 * Reads an object and changes it as it was read. The API server rejects the change (409) if somebody has changed the
 * object in between; then both are done again, five times at most.
 */
export async function againOnConflict<T>(readAndChange: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
        try {
            return await readAndChange();
        } catch (error) {
            if (statusOf(error) !== 409 || tries === maxTries) throw error;
        }
    }
}
