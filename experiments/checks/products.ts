/** Where saved experiments of versions before 0.2 import it from. */
export { productsCheck } from "../products";
