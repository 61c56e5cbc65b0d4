/** A part of this many bytes is kept as it came: copying smaller parts together costs less than holding each. */
const large = 4_096;

/**
 * Bytes in the order in which they came. However small the packets are, adding one and looking at all of them costs no
 * more than copying each byte a few times, and the memory is at most a third more than the bytes.
 */
export class Bytes {
    length = 0;
    private parts: Buffer[] = [];
    /** Where the last part is, with room for more behind it. Bytes in it are never overwritten. */
    private store = Buffer.alloc(0);
    private used = 0;

    add(chunk: Buffer): void {
        this.length += chunk.length;
        const last = this.parts.at(-1);
        if (last && chunk.length <= this.store.length - this.used) {
            chunk.copy(this.store, this.used);
            this.used += chunk.length;
            this.parts[this.parts.length - 1] = this.store.subarray(this.used - last.length - chunk.length, this.used);
        } else if (last && last.length < large && chunk.length < large) {
            this.parts.pop();
            this.join([last, chunk]);
        } else {
            this.parts.push(chunk);
            this.forgetStore();
        }
    }

    peek(): Buffer {
        if (this.parts.length > 1) this.join(this.parts.splice(0));
        return this.parts[0] ?? Buffer.alloc(0);
    }

    /** @param atMost how many bytes. @default one part as it is held */
    take(atMost = Infinity): Buffer {
        const first = this.parts.shift();
        if (first === undefined) return Buffer.alloc(0);
        const taken = first.subarray(0, atMost);
        if (taken.length < first.length) this.parts.unshift(first.subarray(taken.length));
        else if (this.parts.length === 0) this.forgetStore();
        this.length -= taken.length;
        return taken;
    }

    clear(): void {
        this.parts = [];
        this.length = 0;
        this.forgetStore();
    }

    private join(parts: readonly Buffer[]): void {
        const length = parts.reduce((sum, part) => sum + part.length, 0);
        this.store = Buffer.allocUnsafeSlow(Math.ceil(1.25 * length) + 256);
        this.used = 0;
        for (const part of parts) this.used += part.copy(this.store, this.used);
        this.parts.push(this.store.subarray(0, length));
    }

    private forgetStore(): void {
        this.store = Buffer.alloc(0);
        this.used = 0;
    }
}
