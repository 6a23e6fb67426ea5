/**
 * The environment variables that a configuration reads and the process does not have.
 *
 * A refusal of a value that is not there names them, since the value alone does not show its variable.
 *
 * @module
 */
import { InvalidConfig } from "./InvalidConfig.ts"
import type { Variables } from "./Secrets.ts"

/** A read of a variable. One with a default behind it, as of `process.env.PORT ?? 80`, is none. */
const READ = /(?:\b(?:process|Bun)\.env(?:\.(\w{1,100})\b|\["(\w{1,100})"\])|\bDeno\.env\.get\("(\w{1,100})"\))(?! ?(?:\?\?|\|\|))/g

/** The names of the variables that a text reads without a default and that are not set, each once, in the order of the text. */
const unsetIn = (text: string, variables: Variables): ReadonlyArray<string> => {
  const names = Array.from(text.matchAll(READ), ([, property, key, called]) => property ?? key ?? called ?? "")
  return [...new Set(names)].filter((name) => (variables[name] ?? "") === "")
}

/**
 * The refusal with the unset variables that the text of the configuration reads, if it refuses a value that is not there.
 */
export const explain = (refusal: InvalidConfig, text: string | undefined, variables: Variables): InvalidConfig => {
  const names = refusal.isUnset ? unsetIn(text ?? "", variables) : []
  if (names.length === 0) return refusal
  const many = names.length > 1
  const end = refusal.reason.endsWith("?") ? "" : "."
  return new InvalidConfig({
    reason: `${refusal.reason}${end} It reads the variable${many ? "s" : ""} ${names.join(", ")}, which ${many ? "are" : "is"} not set`,
    isUnset: true
  })
}
