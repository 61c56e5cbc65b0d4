import { endSecondNode } from "../../node/down";
import { withNodeLock } from "../../node/lock";
import { sandboxUp } from "../../node/up";

/** Ends the second node as a machine that loses its power: the cluster learns of it when reports are missing. */
export const killSecondNode = () => withNodeLock(endSecondNode);

/** Starts the second node after {@link killSecondNode}; the first goes on. */
export const restoreSecondNode = () => sandboxUp({ nodes: 2 });
