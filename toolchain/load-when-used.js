const Module = require("node:module");

/**
 * Has packages load when something of them is used, not when they are required.
 *
 * @param {string[]} names
 */
exports.loadWhenUsed = (names) => {
    const load = Module._load;
    Module._load = function (name, ...from) {
        if (!names.includes(name)) return load.call(this, name, ...from);
        let loaded;
        const used = () => (loaded ??= load.call(this, name, ...from));
        // Compiled imports ask first whether it is an ES module, and copy all of one that is not.
        return new Proxy({}, { get: (_, key) => (key === "__esModule" ? true : used()[key]) });
    };
};
