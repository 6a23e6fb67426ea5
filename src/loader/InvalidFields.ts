/**
 * The refusal of a configuration whose fields do not fit, in words.
 *
 * @module
 */
import type * as Fault from "../contract/Fault.ts"
import { InvalidConfig } from "./InvalidConfig.ts"

/**
 * The refusal for the faults of a definition, all of them in one sentence.
 */
export const refusal = (faults: ReadonlyArray<Fault.Fault>): InvalidConfig =>
  new InvalidConfig({
    reason: faults.map(told).join("; "),
    isUnset: faults.some(({ given, kind }) => kind !== "unknown" && given === "undefined")
  })

/** A fault as a clause. */
const told = ({ expected, field, given, kind, nearest }: Fault.Fault): string => {
  if (kind === "unknown") {
    const advice = nearest === undefined ? "" : `. Did you mean ${nearest}?`
    return `there is no field "${field}"; there are ${expected}${advice}`
  }
  if (kind === "missing") return `${field} is missing; give it ${expected}`
  return `${field === "" ? "it" : field} is ${given}; give ${expected}`
}
