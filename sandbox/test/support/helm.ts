import { join } from "node:path";
import { goPart } from "../../../toolchain/parts/go";
import { folderOf } from "../../../toolchain/parts/store";

const HELM_VERSION = "3.18.6";

/** The rendered chart is installed with it. */
export const helm = goPart(
    { name: "helm", version: HELM_VERSION, title: "Helm", minutes: 1 },
    {
        sourceFolder: join(__dirname, "..", ".."),
        module: "helm",
        packages: ["helm.sh/helm/v3/cmd/helm"],
        variables: { "helm.sh/helm/v3/internal/version.version": `v${HELM_VERSION}` },
    },
);

/** The path of its program, which exists once the part is there. */
export const helmProgram = () => join(folderOf(helm), "helm");
