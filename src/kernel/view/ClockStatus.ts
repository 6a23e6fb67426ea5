/**
 * The clock of a space, as the outside sees it.
 *
 * @module
 */
import type * as Control from "../../contract/Control.ts"
import type { AnswerOf } from "../../contract/Endpoint.ts"

/** The clock of a space. */
export type ClockStatus = AnswerOf<typeof Control.clock>
