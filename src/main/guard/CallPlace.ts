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

/** This file; "" on a host whose modules are no files, such as Workers. */
const here = plain((import.meta as { readonly url?: string }).url ?? "")

/** The folder of the package from the folder of this file: in its sources, in its JavaScript and in its bundled command. */
const [, home] = /^(.*\/)(?:src\/main\/guard|dist\/src\/main\/guard|dist\/command)\/$/.exec(here.slice(0, here.lastIndexOf("/") + 1)) ?? []

/** The folders of the runtime. A build is one file, beside the modules that it contains. */
const own: ReadonlyArray<string> = home === undefined
  ? [here.slice(0, here.lastIndexOf("/") + 1)].filter((folder) => folder !== "")
  : ["src/", "plugins/", "enzymes/", "dist/"].map((folder) => home + folder)

const inPackage = /[\\/]node_modules[\\/]/
const inRuntime = /[\\/]node_modules[\\/](?:systole|effect)[\\/]/

/**
 * Whether a file is one of the runtime or of a package, and so no place of a project.
 */
export const isForeign = (file: string): boolean => inPackage.test(file) || own.some((folder) => file.startsWith(folder))

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
 */
export const find = (thrown: unknown): string | undefined => {
  if (own.length === 0) return undefined
  const from = `${folder()}/`
  for (const text of stackOf(thrown).split("\n", LINES)) {
    const [file = "", place = ""] = frameOf(text) ?? []
    if (!/^(?:\/|[A-Za-z]:)/.test(file) || isForeign(file)) continue
    return `${file.startsWith(from) ? file.slice(from.length) : file}${place}`
  }
  return undefined
}

/** Whether a line of a stack is a frame of the runtime. */
const isOwn = (line: string): boolean => {
  const [file] = frameOf(line) ?? []
  return file !== undefined && (inRuntime.test(file) || own.some((folder) => file.startsWith(folder)))
}

/**
 * A stack without the frames of the runtime, so that it begins in the code that called it.
 */
export const withoutOwn = (stack: string): string => stack.split("\n").filter((line) => !isOwn(line)).join("\n")
