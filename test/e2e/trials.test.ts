import { kinds } from "../trials/kinds";
import { describeTrials } from "./describe-trials";
import { casesOf } from "./which-tests";

const besideOthers = kinds.filter(({ alone }) => !alone);
const isUsual = ({ name }: { name: string }) => name === "label-removed";

describeTrials(
    casesOf(
        besideOthers.filter(isUsual),
        besideOthers.filter((kind) => !isUsual(kind)),
    ),
);
