/**
 * The folder of a build.
 *
 * @module
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"

/** A file of a build. */
export interface Output {
  readonly file: string
  readonly contents: Uint8Array
}

/** A text of a build. */
export interface Text {
  readonly file: string
  readonly contents: string
}

/** A file that belongs to the user as soon as it is there, and the lines that it needs. */
export interface UserFile extends Text {
  readonly needs: ReadonlyArray<Need>
}

/** A line that a file has to contain, without regard to white space, and texts that are as good. */
export interface Need {
  readonly line: string
  readonly texts?: ReadonlyArray<string>
}

/** The contents of the folder. */
export interface Files {
  readonly outputs: ReadonlyArray<Output>
  readonly described: ReadonlyArray<Text>
  /** The texts of modules. Those of earlier builds stay. */
  readonly texts: ReadonlyArray<Text>
  readonly kept: UserFile | undefined
}

/** The folder of the files that a platform serves beside the bundle. */
export const ASSETS = "assets"

/** A file of a build: in its folder, or in that of its assets. */
const FILE = /^(?:assets\/)?[\w.-]+$/

/** The file that lists the files of a build, and so tells its folder from every other. */
const MANIFEST = "files.json"

/**
 * The first file that no build wrote, in a folder without a build; `undefined` if a build may be written there. A build writes no
 * hidden file, so those of other tools may be there.
 */
export const foreign = async (folder: string, kept: UserFile | undefined): Promise<string | undefined> => {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): ReadonlyArray<string> => {
    if (error.code === "ENOENT") return []
    throw error
  })
  const isBuild = await listed(folder) !== undefined
  return isBuild ? undefined : names.find((name) => name !== kept?.file && !name.startsWith("."))
}

/**
 * Writes a build over an earlier one, and removes the files of that one. Returns the lines that a kept file lacks.
 */
export const write = async (folder: string, { described, kept, outputs, texts }: Files): Promise<ReadonlyArray<string>> => {
  const files = [...outputs, ...described]
  const names = files.map(({ file }) => file)
  const before = await listed(folder) ?? []
  // First of all, so that an interrupted build is known as one.
  await put(join(folder, MANIFEST), manifest([...new Set([...before, ...names])]))
  for (const { contents, file } of [...texts, ...files]) await put(join(folder, file), contents)
  await put(join(folder, MANIFEST), manifest(names))
  for (const file of before) if (!names.includes(file)) await rm(join(folder, file), { force: true })
  return kept === undefined ? [] : keep(folder, kept)
}

const manifest = (files: ReadonlyArray<string>): string => `${JSON.stringify({ systole: files })}\n`

/** The files of the build in a folder; `undefined` if there is none. */
const listed = async (folder: string): Promise<ReadonlyArray<string> | undefined> => {
  try {
    const { systole } = JSON.parse(await readFile(join(folder, MANIFEST), "utf8")) as { readonly systole?: unknown }
    if (!Array.isArray(systole)) return undefined
    return systole.filter((file): file is string => typeof file === "string" && FILE.test(file))
  } catch {
    return undefined
  }
}

/** Writes the file, unless it is there. One that cannot be read stays, too. */
const keep = async (folder: string, { contents, file, needs }: UserFile): Promise<ReadonlyArray<string>> => {
  const place = join(folder, file)
  const found = await readFile(place, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw error
  })
  if (found === undefined) {
    await writeFile(place, contents, { flag: "wx" })
    return []
  }
  const plain = (text: string) => text.replaceAll(/\s+/g, "")
  const has = (text: string) => plain(found).includes(plain(text))
  const missing = needs.filter(({ line, texts = [] }) => ![line, ...texts].some(has)).map(({ line }) => line)
  return missing.length === 0 ? [] : [`${place} is there already and stays. Add to it:`, ...missing]
}

/** Writes a file by a rename, so that a starting process reads no half of it. */
const put = async (place: string, contents: string | Uint8Array): Promise<void> => {
  const draft = `${place}.draft`
  await mkdir(dirname(place), { recursive: true })
  await writeFile(draft, contents)
  await rename(draft, place)
}
