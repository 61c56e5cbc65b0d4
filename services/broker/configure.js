// Writes NATS's configuration with the passwords: node configure.js PASSWORDS OUT. PASSWORDS is a folder with a file
// for each account. An init container runs it on Node, because NATS cannot read passwords from files, and its image may
// have no shell.
const { readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const [, , passwords, out] = process.argv;
const password = (account) => readFileSync(join(passwords, account), "utf8").replace(/\n$/, "");
// NATS reads a quoted text like JSON's.
const variable = (account) => `${account.toUpperCase()}_PASSWORD: ${JSON.stringify(password(account))}\n`;
const settings = readFileSync(join(__dirname, "nats.conf"), "utf8");
writeFileSync(out, variable("orders") + variable("inventory") + settings, { mode: 0o600 });
