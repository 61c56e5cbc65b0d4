import { endNode } from "../../node/down";
import { withNodeLock } from "../../node/lock";
import { secondNode } from "../../node/nodes";
import { sandboxUp } from "../../node/up";

/** Ends the second node as a machine that loses its power: the cluster learns of it when reports are missing. */
export const killNode2 = () => withNodeLock(() => endNode(secondNode));

/** Starts the second node after {@link killNode2}; the first goes on. */
export const restoreNode2 = () => sandboxUp({ nodes: 2 });
