import { backendResponseSchema, type BackendResponse } from "../shared/products";
import { call, type Backend, type Exchange } from "./call";
import { BackendFailure } from "./failure";

/** Requests a backend's products. @throws BackendFailure */
export type Ask = (backend: Backend, exchange: Exchange) => Promise<BackendResponse>;

export const askBackend: Ask = async (backend, exchange) => {
    const { status, text } = await call(backend, exchange, { path: "/products" });
    if (status !== 200) throw new BackendFailure(backend.name, "bad-answer", `answered with status ${status}.`);
    try {
        return backendResponseSchema.parse(JSON.parse(text));
    } catch (cause) {
        const what = "answered with something that is not a product list.";
        throw new BackendFailure(backend.name, "bad-answer", what, cause);
    }
};
