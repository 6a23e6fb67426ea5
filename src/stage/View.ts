/**
 * Views: ids without a stored document, rendered when they are read.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"

const views = ["/rt/beat", "/rt/receipts", "/rt/analytics", "/rt/io_reactors"]

/**
 * Tests whether an id names a view.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isView = (id: string): boolean => views.some((view) => Address.isWithin(view, id))
