import { describe, expect, it } from "vitest";
import { readYaml } from "../../../../components/manifest/yaml";

const read = (text: string) => readYaml(text).documents;
const refusal = (text: string): string => {
    try {
        read(text);
    } catch (error) {
        return (error as Error).message;
    }
    throw new Error("it was read");
};

/** What sigs.k8s.io/yaml 1.6.0 makes of them, from a run of its `YAMLToJSON`. */
const scalars: [written: string, read: unknown][] = [
    ["0755", 493],
    ["0400", 256],
    ["0o755", 493],
    ["-0755", -493],
    ["0_7", 7],
    ["089", 89],
    ["00", 0],
    ["0o9", "0o9"],
    ["0b101", 5],
    ["-0B101", -5],
    ["0x1F", 31],
    ["0x", "0x"],
    ["1_000", 1000],
    ["_1", "_1"],
    ["4294967296", 4294967296],
    ["yes", true],
    ["y", true],
    ["On", true],
    ["N", false],
    ["OFF", false],
    ["oN", "oN"],
    ["tRUE", "tRUE"],
    ["~", null],
    ["", null],
    ["nULL", "nULL"],
    ["1.", 1],
    ["-.5", -0.5],
    ["010.5", 10.5],
    ["1_0.5", 10.5],
    ["1E+3", 1000],
    ["1e20", 1e20],
    ["1e400", "1e400"],
    ["._5", "._5"],
    [".", "."],
    ["1.2.3", "1.2.3"],
    ["NaN", "NaN"],
    ["12:30:45", "12:30:45"],
    ["80:80", "80:80"],
    ["2015-01-01", "2015-01-01"],
    ["2015-02-24T18:19:39.12Z", "2015-02-24T18:19:39.12Z"],
    ["<<", "<<"],
    ["! 12", "12"],
    ["!!str 0755", "0755"],
    ['!!int "0755"', 493],
    ["!!float 1", 1],
    ['!!bool "yes"', true],
    ["'0755'", "0755"],
    ['"yes"', "yes"],
];

describe("YAML is read as kubectl reads it:", () => {
    it.each(scalars)("the scalar %s", (written, expected) => expect(read(`a: ${written}`)).toEqual([{ a: expected }]));

    it.each([
        ["a number", "1: a", { 1: "a" }],
        ["an octal number", "0755: a", { 493: "a" }],
        ["a boolean", "y: a", { true: "a" }],
    ])("%s as a key", (_, text, expected) => expect(read(text)).toEqual([expected]));

    it.each([
        ["above own keys, which win", "a: { <<: *b, x: 3 }", { x: 3, z: 2 }],
        ["below own keys, which lose", "a: { x: 3, <<: *b }", { x: 1, z: 2 }],
        ["with a list, whose first wins", "a: { <<: [*b, { x: 5, w: 6 }] }", { x: 1, z: 2, w: 6 }],
        ["in a merged mapping", "c: &c { <<: *b, x: 4 }\na: { <<: *c }", { x: 4, z: 2 }],
    ])("a merge key %s", (_, text, expected) =>
        expect(read(`b: &b { x: 1, z: 2 }\n${text}`)[0]).toMatchObject({ a: expected, b: { x: 1, z: 2 } }),
    );

    it("a merge key above a key that is a number", () =>
        expect(read("b: &b { 80: old, 81: kept }\na: { <<: *b, 80: new }")[0]).toMatchObject({
            a: { 80: "new", 81: "kept" },
        }));

    it("several documents, some of them empty", () =>
        expect(read("# nothing\n---\na: 1\n---\n# nothing\n---\nb: 2\n...\n").filter(Boolean)).toEqual([
            { a: 1 },
            { b: 2 },
        ]));

    it("JSON, with tabs and escapes", () =>
        expect(read('{\n\t"a": [1, true, null, "0755", "\\/\\u00e9\\ud83d\\ude00"]\n}\n')).toEqual([
            { a: [1, true, null, "0755", "/é😀"] },
        ]));
});

describe("YAML is rejected with line and column, without quoting it:", () => {
    it.each([
        ["a mapping that is not closed", "a: 1\nb: {c", /^line 3, column 1: unexpected end of the stream/],
        ["a tab as indentation", "a:\n\t- b", /^line 2, column 1: tab characters must not be used/],
        ["a key twice", "a: 1\nb: { c: 2,\n  c: 3 }", /^line 3, column 3: duplicated mapping key$/],
        [
            "an integer that a double does not hold",
            "a:\n  b: 9007199254740993",
            /^line 2, column \d: an integer beyond 2\^53/,
        ],
        ["what JSON does not have", "a: .inf", /^line 1, column \d: JSON has no such number/],
        ["a tag", "a: 1\npassword: !s3cret x", /^line 2, column \d+: unknown tag …$/],
        ["binary data", "a: !!binary czNjcmV0", /^line 1, column \d+: unknown tag …$/],
        ["an alias without an anchor", "password: *s3cret", /^line 1, column \d+: unidentified alias …$/],
        ["a merge key without a mapping", "a: { <<: s3cret }", /^line 1, column \d: a merge key << needs a mapping/],
        ["a template", "a: 1\nb: {{ .Values.s3cret }}", /^line 2, column \d: a key is a mapping; was \{\{ … \}\}/],
        ["a file in UTF-16", Buffer.from("a: s3cret", "utf16le").toString(), /: null byte is not allowed in input$/],
    ])("%s", (_, text, expected) => {
        expect(refusal(text)).toMatch(expected);
        expect(refusal(text)).not.toContain("s3cret");
    });
});
