import { kinds } from "../../trials/kinds";
import { describeTrials } from "../describe-trials";

describeTrials(kinds.filter(({ alone }) => alone));
