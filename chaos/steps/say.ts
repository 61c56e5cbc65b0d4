/**
 * Tells what happens, as far as there is room: Pulumi gives all that a step has told to the next command of its
 * resource, as a variable, and no process can be started with a longer one (`maxVariableLength`).
 *
 * @param room in bytes
 */
export function sayWithin(room: number, write: (line: string) => void): (message: string) => void {
    let left = room;
    return (message) => {
        const line = `${message}\n`;
        left -= Buffer.byteLength(line);
        if (left >= 0) write(line);
    };
}
