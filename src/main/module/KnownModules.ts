/**
 * The modules that a host has loaded, which it uses again until one of their inputs changes. So a reload bundles what changed alone.
 *
 * An input is a file of the bundle, a package of its imports, a setting of the bundler, or a name that another import would resolve
 * to.
 *
 * @module
 */
import { existsSync } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { dirname } from "node:path"
import * as RegularFiles from "./RegularFiles.ts"

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

/** A value with the state of its inputs. */
interface Known<A> extends Made<A> {
  readonly inputs: ReadonlyArray<string>
  readonly stamp: string
}

/** The names in folders, by the folders. */
type Names = ReadonlyMap<string, string>

/** The state of inputs as a text, and the time of their newest change in milliseconds since 1970. */
interface Stamp {
  readonly text: string
  readonly newest: number
}

/** The names in a folder. A host makes hidden folders of its own in a project. */
const namesIn = async (folder: string): Promise<string> =>
  (await readdir(folder).catch(() => [])).filter((name) => !name.startsWith(".")).toSorted().join("/")

const namesOf = async (folders: ReadonlyArray<string>): Promise<Names> =>
  new Map(await Promise.all(folders.map(async (folder) => [folder, await namesIn(folder)] as const)))

/** The folders in which another import would be found. */
const foldersOf = (files: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(files.flatMap((file) => [dirname(file), dirname(dirname(file))]))]

/** The state of inputs. A folder with the names that it had `before` counts as old. */
const stampOf = async (inputs: ReadonlyArray<string>, before: Names = new Map()): Promise<Stamp> => {
  const folders = foldersOf(inputs)
  const files = await Promise.all([...inputs, ...RegularFiles.settingsOf(folders)].map(async (file) => {
    const found = await stat(file).catch(() => undefined)
    return found === undefined ? [file] : [file, found.ctimeMs, found.mtimeMs, found.size, found.ino]
  }))
  const listed = await Promise.all(folders.map(async (folder) => {
    const [names, found] = await Promise.all([namesIn(folder), stat(folder).catch(() => undefined)])
    return { names: [folder, names], changed: before.get(folder) === names ? 0 : found?.mtimeMs ?? Infinity }
  }))
  const isGone = files.slice(0, inputs.length).some(({ length }) => length === 1)
  const times = files.flatMap(([, changed = 0, modified = 0]) => [Number(changed), Number(modified)])
  return {
    text: JSON.stringify([files, listed.map(({ names }) => names)]),
    newest: isGone ? Infinity : Math.max(...times, ...listed.map(({ changed }) => changed))
  }
}

/** Values of files by their names. */
export class KnownModules<A> {
  /** The states are taken beside the use of the value, and do not delay it. */
  readonly #known = new Map<string, Promise<Known<A> | undefined>>()

  /** The value of the file at a path: the known one if no input has changed, or a new one. */
  async load(path: string, make: () => Promise<Made<A>>): Promise<A> {
    const known = await this.#known.get(path)
    if (known !== undefined && known.outputs.every((output) => existsSync(output)) &&
      (await stampOf(known.inputs)).text === known.stamp) return known.value
    this.#known.delete(path)
    // The first bundle of a project makes a hidden folder beside the modules, and so changes the time of their folder.
    const before = await namesOf(foldersOf([path]))
    const began = Date.now()
    const made = await make()
    if (made.inputs !== undefined && this.#known.size < MAX_KNOWN) this.#known.set(path, knownOf(made, made.inputs, { began, before }))
    return made.value
  }
}

const knownOf = async <A>(
  made: Made<A>,
  inputs: ReadonlyArray<string>,
  { before, began }: { readonly before: Names; readonly began: number }
): Promise<Known<A> | undefined> => {
  const { newest, text } = await stampOf(inputs, before)
  // A file that changed since may be another one than the bundle has.
  return newest < began - LEAST_AGE ? { ...made, inputs, stamp: text } : undefined
}
