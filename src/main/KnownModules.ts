/**
 * The modules that a host has loaded, which it uses again until one of their inputs changes. So a reload bundles what changed alone.
 *
 * An input is a file of the bundle, a package of its imports, a setting of the bundler, or a name that another import would resolve
 * to. A file that a `tsconfig.json` extends is no input: a change of it alone needs a restart.
 *
 * @module
 */
import { existsSync } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { SETTINGS } from "./RegularFiles.ts"

/** The least age of an input when its bundle begins, in milliseconds: the times of files have steps of up to 10. */
const LEAST_AGE = 20

/** The most modules that are known. */
const MAX_KNOWN = 10_000

/** A value that was made of files. */
interface Made<A> {
  readonly value: A
  /** The files; `undefined` if they are not all that it was made of. */
  readonly inputs: ReadonlyArray<string> | undefined
  /** The files that it is kept in. It is made anew where one is gone. */
  readonly outputs: ReadonlyArray<string>
}

/** The state of inputs as a text, and the time of their newest change in milliseconds since 1970. */
interface Stamp {
  readonly text: string
  readonly newest: number
}

const stampOf = async (inputs: ReadonlyArray<string>): Promise<Stamp> => {
  const folders = new Set(inputs.flatMap((file) => [dirname(file), dirname(dirname(file))]))
  const above = new Set<string>()
  for (let folder of folders) for (; !above.has(folder); folder = dirname(folder)) above.add(folder)
  const settings = [...above].flatMap((folder) => SETTINGS.map((name) => join(folder, name)))
  const files = await Promise.all([...inputs, ...settings].map(async (file) => {
    const found = await stat(file).catch(() => undefined)
    return found === undefined ? [file] : [file, found.ctimeMs, found.mtimeMs, found.size, found.ino]
  }))
  const listed = await Promise.all([...folders].map(async (folder) => {
    const [names, found] = await Promise.all([readdir(folder).catch(() => []), stat(folder).catch(() => undefined)])
    // A host makes hidden folders of its own in a project.
    return { names: [folder, ...names.filter((name) => !name.startsWith(".")).toSorted()], changed: found?.mtimeMs ?? Infinity }
  }))
  const times = files.flatMap(([, changed = 0, modified = 0]) => [Number(changed), Number(modified)])
  return {
    text: JSON.stringify([files, listed.map(({ names }) => names)]),
    newest: Math.max(...times, ...listed.map(({ changed }) => changed))
  }
}

/** Values of files by their names. */
export class KnownModules<A> {
  readonly #known = new Map<string, Made<A> & { readonly stamp: string }>()

  /** The value of a file: the known one if no input has changed, or a new one. */
  async load(file: string, make: () => Promise<Made<A>>): Promise<A> {
    const known = this.#known.get(file)
    if (known?.inputs !== undefined && known.outputs.every((output) => existsSync(output)) &&
      (await stampOf(known.inputs)).text === known.stamp) return known.value
    this.#known.delete(file)
    const began = Date.now()
    const made = await make()
    if (made.inputs === undefined || this.#known.size >= MAX_KNOWN) return made.value
    const { newest, text } = await stampOf(made.inputs)
    // A file that changed since may be another one than the bundle has.
    if (newest < began - LEAST_AGE) this.#known.set(file, { ...made, stamp: text })
    return made.value
  }
}
