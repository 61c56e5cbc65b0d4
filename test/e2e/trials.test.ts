import { kinds } from "../trials/kinds";
import { describeTrials } from "./describe-trials";
import { casesOf } from "./which-tests";

const besideOthers = kinds.filter(({ alone }) => !alone);
const isUsual = ({ name }: { name: string }) => ["label-removed", "load-one-replica"].includes(name);

describeTrials(
    casesOf(
        besideOthers.filter(isUsual),
        besideOthers.filter((kind) => !isUsual(kind)),
    ),
);
