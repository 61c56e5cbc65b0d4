import { afterEach, describe, expect, it, vi } from "vitest";
import { runNamed } from "../../../services/shared/program";

const { argv } = process;
afterEach(() => void (process.argv = argv));

describe("a bundle with several programs", () => {
    const gateway = vi.fn(async () => undefined);
    const catalogue = vi.fn(async () => undefined);

    it("runs the program that its first argument names, and loads no other", () => {
        process.argv = ["node", "bundle.js", "catalogue"];
        runNamed({ gateway, catalogue });
        expect(catalogue).toHaveBeenCalledOnce();
        expect(gateway).not.toHaveBeenCalled();
    });

    it("names its programs if the argument is none of them", () => {
        process.argv = ["node", "bundle.js", "orders"];
        expect(() => runNamed({ gateway, catalogue })).toThrow(
            'unknown program "orders"; this bundle has gateway, catalogue',
        );
    });
});
