/** Makes the bundle that `start-program.js` loads: node bundle-program.ts ENTRY BUNDLE */
import type { Loader, Plugin } from "esbuild";
import { readFileSync } from "node:fs";
import { dirname, extname, relative } from "node:path";
import { buildOptions, esbuild, keepBuilt } from "./bundle";
import { project } from "./bundle-cache";

/** The program shares the state of these packages with the SDK, or needs them rarely. */
const external = ["@pulumi/*", "@grpc/*", "google-protobuf", "esbuild", "undici"];
/** Their files are loaded by name. */
const folders = ["experiments/saved"];

/** Files of this repository find others from where they are themselves, and not from where the bundle is. */
const inTheirPlaces = (bundle: string): Plugin => ({
    name: "in-their-places",
    setup(build) {
        build.onLoad({ filter: /\.[jt]s$/ }, ({ path }) => {
            if (relative(project, path).includes("node_modules")) return undefined;
            const text = readFileSync(path, "utf8");
            if (!/\b(?:__(?:file|dir)name|import\.meta)\b/.test(text)) return undefined;
            const place = JSON.stringify(relative(dirname(bundle), path));
            const file = `ofBundle.join(ofBundle.folder, ${place})`;
            const own =
                `const __filename = ${file}, __dirname = ofBundle.dirname(__filename), ` +
                "urlOfFile = ofBundle.pathToFileURL(__filename).href;";
            return { contents: `${own}\n${text}`, loader: extname(path).slice(1) as Loader };
        });
    },
});

/** A bundle is no module. */
const define = {
    "import.meta.url": "urlOfFile",
    "import.meta.filename": "__filename",
    "import.meta.dirname": "__dirname",
};

async function main(entry: string, bundle: string): Promise<void> {
    const banner = { js: 'const ofBundle = { ...require("node:path"), ...require("node:url"), folder: __dirname };' };
    const begunAt = Date.now();
    const options = { entryPoints: [entry], external, banner, define, plugins: [inTheirPlaces(bundle)] };
    keepBuilt(bundle, await esbuild().build({ ...buildOptions, ...options }), begunAt, folders);
}

const [, , entry, bundle] = process.argv;
void main(entry!, bundle!);
