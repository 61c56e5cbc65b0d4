import tseslint from "typescript-eslint";

const typescript = ["**/*.ts", "**/*.mts"];

export default tseslint.config(
    { ignores: ["reports", ".pulumi", "chaos/dist"] },
    ...tseslint.configs.recommendedTypeChecked.map((config) => ({ ...config, files: typescript })),
    {
        files: typescript,
        // The same program as check:types: an example's own tsconfig.json would look for the built package.
        languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: import.meta.dirname } },
        rules: {
            // `const { unwanted: _, ...rest }` leaves a field out.
            "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_+$", argsIgnorePattern: "^_" }],
            "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
            // An async function without an await implements an interface, and turns what it throws into a rejection.
            "@typescript-eslint/require-await": "off",
        },
    },
    {
        // esbuild bundles all files that this `require` may name.
        files: ["experiments/saved.ts"],
        rules: { "@typescript-eslint/no-require-imports": "off" },
    },
    {
        // Tests read rendered manifests and JSON, whose shape is what they assert.
        files: ["test/**/*.ts"],
        rules: {
            "@typescript-eslint/no-explicit-any": "off",
            "@typescript-eslint/no-unsafe-argument": "off",
            "@typescript-eslint/no-unsafe-assignment": "off",
            "@typescript-eslint/no-unsafe-call": "off",
            "@typescript-eslint/no-unsafe-member-access": "off",
            "@typescript-eslint/no-unsafe-return": "off",
        },
    },
    {
        files: [...typescript, "**/*.{js,cjs,mjs}"],
        linterOptions: { noInlineConfig: true },
        rules: { "max-len": ["error", { code: 120 }], eqeqeq: "error" },
    },
);
