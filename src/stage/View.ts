/**
 * Views: ids that stand for no document, but for what is rendered when it is read.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"

const views = ["/rt/beat", "/rt/receipts", "/rt/analytics", "/rt/io_reactors"]

/**
 * Whether an id names a view rather than a document.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isView = (id: string): boolean => views.some((view) => Address.isWithin(view, id))
