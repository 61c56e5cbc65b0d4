/**
 * Keeps secrets out of debug messages, for programs that import this first. In them the Pulumi SDK quotes the engine's
 * answers, with secrets in the clear: `--debug` would print them and `--event-log` store them.
 */
import { Message } from "google-protobuf";

Message.prototype.toString = () => "[not shown]";
