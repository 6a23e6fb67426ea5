/**
 * The place of a call in the code of a module, from the stack of an error.
 *
 * @module
 */

/** The end of a line of a stack: a file, a line and a column. */
const frame = /((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/]|\.{0,2}\/)?[^\s()]+):(\d+):(\d+)\)?$/

/** The most lines of a stack that are looked at. */
const LINES = 30

const plain = (file: string): string => file.replace(/^file:\/\//, "").replace(/\?.*$/, "")

/** The folder of the runtime, whose frames are no places of a module; "" on a host whose modules are no files, such as Workers. */
const own = plain((import.meta as { readonly url?: string }).url ?? "").replace(/(?:main\/)?[^/]+$/, "")

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
    const [, path = "", line, column] = frame.exec(text.trimEnd()) ?? []
    const file = plain(path)
    if (!/^(?:\/|[A-Za-z]:)/.test(file) || file.startsWith(own) || /[\\/]node_modules[\\/]/.test(file)) continue
    return `${file.startsWith(from) ? file.slice(from.length) : file}:${line}:${column}`
  }
  return undefined
}
