/**
 * Views: ids without a stored document, rendered when they are read.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"

const views = ["/rt/beat", "/rt/receipts", "/rt/analytics", "/rt/io_reactors"]

/**
 * Tests whether an id names a view.
 */
export const isView = (id: string): boolean => views.some((view) => Address.isWithin(view, id))
