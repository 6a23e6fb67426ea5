/**
 * The output of `systole dev` after a reload.
 *
 * @module
 */
import type { ReloadResult } from "../../loader/ReloadResult.ts"

/** The most names in a line. */
const MAX_NAMES = 10

/** Names in a line; of many the first ones. */
const list = (names: ReadonlyArray<string>): string =>
  names.slice(0, MAX_NAMES).join(", ") + (names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "")

/** The state of broken files. */
const state = ({ length }: ReadonlyArray<string>): string =>
  length === 1 ? "is broken, and its last version stays active" : "are broken, and their last versions stay active"

/** Names with the word for them, if there are any. */
const named = (word: string, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.length === 0 ? [] : [`${word}${names.length === 1 ? "" : "s"} ${list(names)}`]

/**
 * The lines of a reload. The reporter prints the reason for which a module is broken.
 */
export const lines = (reload: Omit<ReloadResult, "found">): ReadonlyArray<string> => {
  const { broken, enzymes, files, mended, millis, nodes, removed, restart } = reload
  const changed = [
    ...named("enzyme", enzymes),
    ...named("node", nodes),
    ...removed.length === 0 ? [] : [`${list(removed)} removed`],
    ...mended.length === 0 ? [] : [`${list(mended)} loads again`]
  ]
  return [
    ...changed.length === 0 ? [] : [`reloaded ${list(files)} in ${millis} ms: ${changed.join("; ")}`],
    ...broken.length === 0 ? [] : [`${list(files)} changed: ${list(broken)} ${state(broken)}`],
    ...restart.map((file) => `${file} changed: end systole dev and start it again to use the change`)
  ]
}
