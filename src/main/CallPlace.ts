/**
 * The place of a call in the code of a module, from the stack of an error.
 *
 * @module
 */

/** The most lines of a stack that are looked at. */
const LINES = 30

/** A file without its protocol and its query. */
const plain = (file: string): string => {
  const [path = ""] = file.split("?", 1)
  return path.startsWith("file://") ? path.slice("file://".length) : path
}

/** The folder of a file, with a slash at its end; of a file in `main/` the one above. */
const folderOf = (file: string): string => {
  const own = file.slice(0, file.lastIndexOf("/") + 1)
  return own.endsWith("/main/") ? own.slice(0, -"main/".length) : own
}

/** The folder of the runtime, whose frames are no places of a module; "" on a host whose modules are no files, such as Workers. */
const own = folderOf(plain((import.meta as { readonly url?: string }).url ?? ""))

/** The file and the place of a line of a stack, which ends with them. */
const frameOf = (text: string): readonly [file: string, place: string] | undefined => {
  const line = text.trimEnd()
  const end = line.endsWith(")") ? line.slice(0, -1) : line
  const [place] = /:\d{1,9}:\d{1,9}$/.exec(end) ?? []
  if (place === undefined) return undefined
  const file = end.slice(0, -place.length)
  return [plain(file.slice(Math.max(file.lastIndexOf(" "), file.lastIndexOf("(")) + 1)), place]
}

/** The working folder; "" on a host without one. */
const folder = (): string => (globalThis as { readonly process?: { readonly cwd?: () => string } }).process?.cwd?.() ?? ""

/** The text of the stack of a thrown value. The value may have any type, and its getters may throw. */
const stackOf = (thrown: unknown): string => {
  try {
    const { stack } = thrown as { readonly stack?: unknown }
    return typeof stack === "string" ? stack : ""
  } catch {
    return ""
  }
}

/**
 * The first place of a stack that is neither in the runtime nor in a package, from the working folder on if it lies there.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (thrown: unknown): string | undefined => {
  if (own === "") return undefined
  const from = `${folder()}/`
  for (const text of stackOf(thrown).split("\n", LINES)) {
    const [file = "", place = ""] = frameOf(text) ?? []
    if (!/^(?:\/|[A-Za-z]:)/.test(file) || file.startsWith(own) || /[\\/]node_modules[\\/]/.test(file)) continue
    return `${file.startsWith(from) ? file.slice(from.length) : file}${place}`
  }
  return undefined
}
