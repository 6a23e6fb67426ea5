/**
 * The channel `file`: files below one folder.
 *
 * | opcode | payload | value | repeatable |
 * |---|---|---|---|
 * | `read` | `{ path }` | `{ path, bytes, text }`, or `{ path, bytes, content }` | yes |
 * | `write` | `{ path }` and `text`, `data` or `content` | `{ path, bytes }` | yes: the same whole file again |
 * | `append` | as `write` | `{ path, bytes }` | no: it would append twice |
 * | `copy` | `{ from, to }` | `{ from, to, bytes }` | yes: the target is written as a whole |
 * | `move` | `{ from, to }` | `{ from, to }` | no: its source is gone, or another file has its name |
 * | `delete` | `{ path }` | `{ path, deleted }` | yes: an absent file counts as deleted |
 * | `list` | `{ path }` | `{ path, entries }`, each `{ name, kind }` | yes |
 * | `glob` | `{ pattern }` | `{ paths }` of files | yes |
 * | `stat` | `{ path }` | `{ path, kind }`, and `bytes` and `modified` (ms since 1970) unless absent | yes |
 * | `watch` | `{ path }` | `{ path, changed }`, the first change below the path | yes |
 *
 * A path is relative to the option `root`, by default `<project>/files`, with `/` between its segments; "" is the root, for
 * `list`, `stat` and `watch`. Paths that leave the root, also over symbolic links, fail with `file/refused`.
 *
 * A file of UTF-8 is read as `text` if the value then has at most 64 KiB of JSON. Others become content of the space. `data` is
 * bytes, and `content` is an address. A value of `list` or `glob` over 64 KiB is content, as of any channel.
 *
 * `write` and `copy` create missing folders, replace the file at once and return when the disk has it. `move` replaces a file of
 * that name. `delete` removes files and empty folders.
 *
 * In a pattern, `*` is any text of a segment, `?` is one character and `**` is any number of folders. They match no leading dot,
 * and globs follow no links. `watch` hears changes from its start on, and ends at an abort.
 *
 * On Linux, no link that another program makes meanwhile leads out of the root. On other systems, the root must be the server's
 * alone: a program that changes links below it all the time can lead a request out of it.
 *
 * Options: `root`; `maxBytes` of one operation (default 64 MiB, `file/size`); `maxEntries` of one `list`, `glob` or `watch`
 * (default 10,000, `file/entries`). At most 32 watches are in progress (`file/watches`).
 *
 * @module
 */
import { constants } from "node:fs"
import { type FileHandle, lstat, rename, rmdir, unlink } from "node:fs/promises"
import { basename, dirname, resolve } from "node:path"
import { type Channel, type ChannelOptions, Plugin } from "systole"
import * as Body from "./channel/Body.ts"
import * as Fields from "./channel/Fields.ts"
import { Jail, type JailPath, path, ifPresent } from "./channel/Jail.ts"
import type { OpenFolder } from "./channel/OpenFolder.ts"
import * as Operations from "./channel/Operations.ts"
import * as Temporary from "./file/Temporary.ts"
import { kindOf, Tree } from "./file/Tree.ts"
import { Watches } from "./file/Watches.ts"

/** The parts in which files are read, in bytes. A smaller file is read at once. */
const PART = 65_536
/** The most segments of a pattern. */
const SEGMENTS = 64
const JOBS = 128

/** The jail and the limits of a channel. */
interface Site {
  readonly jail: Jail
  readonly maxBytes: number
  readonly maxEntries: number
}

/** Two paths of a request. */
interface Pair {
  readonly from: string
  readonly to: string
}

const bounded = (bytes: Uint8Array, limit: number): Uint8Array => {
  if (bytes.length > limit) throw Temporary.tooLarge(limit)
  return bytes
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** The bytes of an open file. */
async function* bytesFrom(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (;;) {
    const part = new Uint8Array(PART)
    const { bytesRead } = await file.read(part, 0, part.length, null)
    if (bytesRead === 0) return
    yield part.subarray(0, bytesRead)
  }
}

const readBytes = async (file: FileHandle, size: number): Promise<Uint8Array> => {
  const bytes = new Uint8Array(size)
  let filled = 0
  for (;;) {
    const { bytesRead } = await file.read(bytes, filled, size - filled, null)
    filled += bytesRead
    if (bytesRead === 0 || filled === size) return bytes.subarray(0, filled)
  }
}

const withFile = async <A>(file: FileHandle, use: (file: FileHandle) => Promise<A>): Promise<A> => {
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

const read = async ({ jail, maxBytes }: Site, path: string, job: Channel.Job): Promise<Channel.JobResult> =>
  withFile(await jail.open(await jail.locate(path), constants.O_RDONLY), async (file) => {
    const { size } = await file.stat()
    if (size > maxBytes) throw Temporary.tooLarge(maxBytes)
    if (size <= PART) {
      const bytes = await readBytes(file, size)
      return Body.result({ path, bytes: bytes.length }, bytes, job)
    }
    const { address, bytes } = await job.keep(Temporary.limited(bytesFrom(file), maxBytes, job.signal), maxBytes)
    return { value: { path, bytes, content: address }, bytes }
  })

const append = async ({ jail, maxBytes }: Site, payload: Body.Body & { readonly path: string }, job: Channel.Job) => {
  const bytes = bounded(await Body.bytesOf(payload, job), maxBytes)
  const at = await jail.locate(payload.path)
  const parent = dirname(at.target)
  await jail.make(at.path, parent)
  return jail.within(at.path, parent, async (folder) => {
    job.signal.throwIfAborted()
    await Temporary.fill(await jail.openIn(folder, at, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND), once(bytes))
    await folder.sync()
    return { value: { path: payload.path, bytes: bytes.length }, bytes: bytes.length }
  })
}

/** Refuses the root, which is not moved and not deleted. */
const belowRoot = async (jail: Jail, path: string): Promise<JailPath> => {
  const at = await jail.locate(path)
  if (path === "") throw jail.refused(path, "is the root; give one below it")
  return at
}

const move = async ({ jail }: Site, { from, to }: Pair, job: Channel.Job) => {
  const [source, target] = [await belowRoot(jail, from), await belowRoot(jail, to)]
  return jail.within(from, source.parent, async (old) => {
    const entry = old.at(basename(source.entry))
    await lstat(entry)
    await jail.make(to, target.parent)
    return jail.within(to, target.parent, async (next) => {
      job.signal.throwIfAborted()
      await rename(entry, next.at(basename(target.entry)))
      await next.sync()
      if (source.parent !== target.parent) await old.sync()
      return { value: { from, to }, bytes: 0 }
    })
  })
}

const remove = async ({ jail }: Site, path: string, job: Channel.Job) => {
  const at = await belowRoot(jail, path)
  const deleted = await ifPresent(jail.within(path, at.parent, async (folder) => {
    const entry = folder.at(basename(at.entry))
    const found = await lstat(entry)
    job.signal.throwIfAborted()
    await ifPresent(found.isDirectory() ? rmdir(entry) : unlink(entry))
    await folder.sync()
    return true
  }))
  return { value: { path, deleted: deleted === true }, bytes: 0 }
}

/** The segments of a pattern, to which the rules of paths apply. */
const segmentsOf = async (jail: Jail, pattern: string, job: Channel.Job): Promise<ReadonlyArray<string>> => {
  const segments = pattern.split("/")
  if (pattern === "" || segments.length > SEGMENTS) throw Fields.invalid(job, `its pattern has to have 1 to ${SEGMENTS} segments`)
  const first = segments.findIndex((segment) => /[*?]/.test(segment))
  await jail.locate(pattern)
  // A link out of the root in the literal beginning is refused, as in a path.
  await jail.locate(segments.slice(0, first === -1 ? segments.length : first).join("/"))
  return segments
}

const statOf = async ({ jail }: Site, path: string) => {
  const { target } = await jail.locate(path)
  const look = (folder: OpenFolder) => lstat(folder.at(path === "" ? "." : basename(target)))
  const found = await ifPresent(jail.within(path, path === "" ? target : dirname(target), look))
  if (found === undefined) return { value: { path, kind: "absent" }, bytes: 0 }
  return { value: { path, kind: kindOf(found), bytes: found.size, modified: Math.floor(found.mtimeMs) }, bytes: 0 }
}

const quoted = ({ path }: { readonly path: string }): string => JSON.stringify(path.slice(0, 200))
const both = ({ from, to }: Pair): string => `${quoted({ path: from })} to ${quoted({ path: to })}`

const writing = (site: Site): Operations.Operations => ({
  write: Operations.operation({
    repeatable: true,
    fields: { path, ...Body.fields },
    about: quoted,
    execute: async (payload, job) => {
      const bytes = bounded(await Body.bytesOf(payload, job), site.maxBytes)
      await Temporary.write(site.jail, await belowRoot(site.jail, payload.path), { source: once(bytes), job })
      return { value: { path: payload.path, bytes: bytes.length }, bytes: bytes.length }
    }
  }),
  append: Operations.operation({ fields: { path, ...Body.fields }, about: quoted, execute: (payload, job) => append(site, payload, job) }),
  copy: Operations.operation({
    repeatable: true,
    fields: { from: path, to: path },
    about: both,
    execute: async ({ from, to }, job) => {
      const { jail, maxBytes } = site
      const target = await belowRoot(jail, to)
      return withFile(await jail.open(await jail.locate(from), constants.O_RDONLY), async (file) => {
        const source = Temporary.limited(bytesFrom(file), maxBytes, job.signal)
        const bytes = await Temporary.write(jail, target, { source, job })
        return { value: { from, to, bytes }, bytes }
      })
    }
  }),
  move: Operations.operation({ fields: { from: path, to: path }, about: both, execute: (payload, job) => move(site, payload, job) }),
  delete: Operations.operation({
    repeatable: true,
    fields: { path },
    about: quoted,
    execute: ({ path }, job) => remove(site, path, job)
  })
})

const reading = (site: Site, watches: Watches): Operations.Operations => ({
  read: Operations.operation({ repeatable: true, fields: { path }, about: quoted, execute: ({ path }, job) => read(site, path, job) }),
  list: Operations.operation({
    repeatable: true,
    fields: { path: Fields.or(path, "") },
    about: quoted,
    execute: async ({ path }, job) => {
      const { target } = await site.jail.locate(path)
      const entries = await new Tree(site.jail, site.maxEntries, job.signal).entries(path, target)
      return { value: { path, entries }, bytes: 0 }
    }
  }),
  glob: Operations.operation({
    repeatable: true,
    fields: { pattern: path },
    about: ({ pattern }) => quoted({ path: pattern }),
    execute: async ({ pattern }, job) => {
      const segments = await segmentsOf(site.jail, pattern, job)
      const { target } = await site.jail.locate("")
      return { value: { paths: await new Tree(site.jail, site.maxEntries, job.signal).glob(target, segments) }, bytes: 0 }
    }
  }),
  stat: Operations.operation({
    repeatable: true,
    fields: { path: Fields.or(path, "") },
    about: quoted,
    execute: ({ path }) => statOf(site, path)
  }),
  watch: Operations.operation({
    repeatable: true,
    fields: { path: Fields.or(path, "") },
    about: quoted,
    execute: async ({ path }, { signal }) => ({ value: { path, changed: await watches.first(path, signal) }, bytes: 0 })
  })
})

const options = {
  root: Fields.or(Fields.text(4096), "files"),
  maxBytes: Fields.or(Fields.count(1, 2 ** 40), 67_108_864),
  maxEntries: Fields.or(Fields.count(1, 1_000_000), 10_000)
} satisfies Fields.For<ChannelOptions["file"]>

export default Plugin.make({
  name: "file",
  version: "0.1.0",
  provides: {
    channels: {
      file: (settings) => {
        const { maxBytes, maxEntries, root } = Fields.options("file", options, settings)
        const jail = new Jail(resolve(settings.root, root), "file")
        const site = { jail, maxBytes, maxEntries }
        return {
          provider: "file",
          hosts: ["node", "deno", "bun"],
          caps: ["stream"],
          target: jail.root,
          jobs: JOBS,
          ...Operations.channel({ ...reading(site, new Watches(jail, maxEntries)), ...writing(site) })
        }
      }
    }
  }
})
