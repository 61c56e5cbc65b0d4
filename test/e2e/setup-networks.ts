import { setUp } from "./setup";

/** On the network that the sandbox has: `npm run test:networks` chooses one after the other. */
export default setUp({}, { onlyNetwork: true });
