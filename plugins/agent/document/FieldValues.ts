/**
 * Values of fields with which an attempt would fail: unknown words, and commands that need a shell.
 *
 * @module
 */
import * as Result from "effect/Result"
import * as CommandLine from "../text/CommandLine.ts"
import type { Finding } from "../text/Issue.ts"
import * as Outputs from "../text/Outputs.ts"
import type { Parameter } from "./ActionFields.ts"
import * as ActionFields from "./ActionFields.ts"

/** A finding about the value of a field. */
export interface Misfit extends Pick<Finding, "code" | "message" | "suggestion"> {
  readonly key: string
}

const misfit = (key: string, message: string, suggestion: string): Misfit => ({ code: "agent/field-invalid", key, message, suggestion })

/** The remedies for values that other agents know. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ["watch", "write - **schedule**: on_change:PATH in an action that runs at a change"],
  ["telegram", "write channel: webhook, or add a type in a plugin with ActionType.make"],
  ["email", "write channel: webhook, or add a type in a plugin with ActionType.make"]
])

/** The words that are unknown. */
const words = (type: string, params: ReadonlyMap<string, Parameter>): ReadonlyArray<Misfit> =>
  Object.entries(ActionFields.TYPES.get(type)?.words ?? {}).flatMap(([key, known]) => {
    const value = params.get(key) ?? ""
    if (typeof value !== "string" || value === "" || known.includes(value)) return []
    const message = `The ${key} "${value.slice(0, 100)}" of the type ${type} is unknown`
    return [misfit(key, message, HINTS.get(value.toLowerCase()) ?? `write one of ${known.join(", ")}`)]
  })

/** The faults of the command of a program. */
const command = (text: string): ReadonlyArray<Misfit> => {
  const found = CommandLine.split(text)
  if (Result.isFailure(found)) {
    const [reason = "", remedy = ""] = found.failure.split(". ")
    return [misfit("command", `The command is no line of words: ${reason}`, `${remedy.charAt(0).toLowerCase()}${remedy.slice(1)}`)]
  }
  const isOutput = Outputs.references(found.success[0] ?? "").length > 0
  const message = "The program of the command is an output of an action"
  return isOutput ? [misfit("command", message, "name the program; outputs are arguments alone")] : []
}

/**
 * Finds values of the fields of a type with which an attempt would fail.
 */
export const misfits = (type: string, params: ReadonlyMap<string, Parameter>): ReadonlyArray<Misfit> => {
  const line = type === "shell" ? params.get("command") : undefined
  return [...words(type, params), ...typeof line === "string" && line !== "" ? command(line) : []]
}
