/**
 * Conditions of writes from outside: a write is executed only if the value at its address is the one that its caller read.
 *
 * The condition is a part of the command, so the beat that executes the write decides it. A value is recognized by its tag, a digest
 * of its canonical text.
 *
 * @module
 */
import * as Document from "../../cell/Document.ts"
import type { Value } from "../../cell/Value.ts"

/** The value has one of these tags, is any value, or is absent. */
export type Condition = ReadonlyArray<string> | "present" | "absent"

/** The number of hexadecimal digits of a tag. */
const LENGTH = 32

/**
 * The tag of a canonical text.
 */
export const tagOfText = (text: string, hash: (data: string) => string): string => hash(text).slice(0, LENGTH)

/** Whether a value meets a condition. */
export const isMet = (condition: Condition, value: Value, hash: (data: string) => string): boolean => {
  if (value === undefined) return condition === "absent"
  if (typeof condition === "string") return condition === "present"
  return condition.includes(tagOfText(Document.encode(value).text, hash))
}
