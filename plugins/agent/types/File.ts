/**
 * The type `file`: files in the jail of the channel `file`.
 *
 * @module
 */
import * as ActionType from "../order/ActionType.ts"

/** An operation on one file. `to` is the target. */
type Operation = (request: ActionType.Attempt["request"], path: string, to: string) => Promise<unknown>

/** The operations that also work on a pattern. */
const operations: Readonly<Record<string, Operation>> = {
  delete: (request, path) => request("file", "delete", { path }),
  copy: (request, from, to) => request("file", "copy", { from, to }),
  move: (request, from, to) => request("file", "move", { from, to })
}

const past: Readonly<Record<string, string>> = { delete: "deleted", copy: "copied", move: "moved" }

const needed = ({ insert, raw }: ActionType.Attempt, ...names: ReadonlyArray<string>): string => {
  const found = names.map(raw).find((text) => text !== "")
  if (found === undefined) throw ActionType.invalid(`The action has no ${names[0]}. Write - **${names[0]}**: …`)
  return insert(found)
}

/** The text of a file, which is content if it is long. */
const read = async (attempt: ActionType.Attempt): Promise<ActionType.Done> => {
  const path = needed(attempt, "source", "target")
  const { bytes, content, text } = await attempt.request("file", "read", { path }) as {
    readonly bytes: number
    readonly text?: string
    readonly content?: string
  }
  const stored = (): string => {
    const found = content === undefined ? undefined : attempt.tx.get(content)
    return found instanceof Uint8Array ? new TextDecoder().decode(found) : ""
  }
  return { result: `${bytes} bytes`, output: text ?? stored, ...content === undefined ? {} : { content } }
}

const write = async (attempt: ActionType.Attempt): Promise<ActionType.Done> => {
  const path = needed(attempt, "target")
  const { bytes } = await attempt.request("file", "write", { path, text: attempt.text("content") }) as { readonly bytes: number }
  return { result: `${bytes} bytes` }
}

/** The files of a pattern that are older than a time, in the order of their names. */
const matching = async ({ now, raw, request }: ActionType.Attempt, pattern: string): Promise<ReadonlyArray<string>> => {
  const { paths } = await request("file", "glob", { pattern }) as { readonly paths: ReadonlyArray<string> }
  const age = raw("older_than")
  if (age === "") return paths
  const millis = ActionType.duration(age)
  const found: Array<string> = []
  for (const path of paths) {
    const { modified } = await request("file", "stat", { path }) as { readonly modified?: number }
    if (modified !== undefined && now() - modified > millis) found.push(path)
  }
  return found
}

const baseOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

export default ActionType.make({
  type: "file",
  run: async (attempt) => {
    const name = attempt.raw("operation")
    if (name === "read") return read(attempt)
    if (name === "write") return write(attempt)
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined
    if (operation === undefined) {
      const known = ["read", "write", ...Object.keys(operations)].join(", ")
      throw ActionType.invalid(`The operation ${name} is unknown; known are ${known}`)
    }
    const pattern = attempt.raw("pattern")
    if (pattern === "") {
      const path = name === "delete" ? needed(attempt, "source", "target") : needed(attempt, "source")
      await operation(attempt.request, path, name === "delete" ? "" : needed(attempt, "target"))
      return { result: past[name] ?? name }
    }
    const folder = name === "delete" ? "" : needed(attempt, "target").replace(/(?<!\/)\/+$/, "")
    const paths = await matching(attempt, pattern)
    for (const path of paths) await operation(attempt.request, path, `${folder}/${baseOf(path)}`)
    return { result: `${paths.length} ${paths.length === 1 ? "file" : "files"} ${past[name] ?? name}`, output: paths.join("\n") }
  }
})
