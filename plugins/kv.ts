/**
 * The channel `kv`: keys and values outside of the ledger, such as caches and tables that other programs share.
 *
 * | opcode | payload | value |
 * |---|---|---|
 * | `kv_get` | `{ key }` | `{ key, found, value }`; bytes are kept, and `{ key, found, content, bytes }` names them |
 * | `kv_put` | `{ key, value }` or `{ key, content }`, with an optional `ttl` | `{ key, bytes }` |
 * | `kv_delete` | `{ key }` | `{ key }`, also for an absent key |
 * | `kv_list` | `{ prefix, limit, cursor }`, all optional | `{ keys }`, and `cursor` if there are more |
 *
 * All are repeatable: a second execution with the same payload leaves the same state. `ttl` is in milliseconds, at least
 * 60,000, and begins anew with each execution.
 *
 * A space sees its own keys. A key and the name of its space have at most 511 bytes together. A `value` is any value of a cell
 * with at most 64 KiB of text, its key included; `content` is an address of at most 25 MiB. A page has at most 1,000 keys, in the
 * order of bytes.
 *
 * On Workers the option `namespace` is a KV namespace binding. Elsewhere the table is an SQLite file of the channel, by
 * default `<data>/<id>.kv.sqlite`; the option `file` names another one, relative to the project. KV is eventually consistent,
 * SQLite is not.
 *
 * @module
 */
import { Channel, type ChannelOptions, Document, Plugin } from "systole"
import * as Fields from "./channel/Fields.ts"
import * as Operations from "./channel/Operations.ts"
import * as NamespaceTable from "./kv/NamespaceTable.ts"
import * as SqliteTable from "./kv/SqliteTable.ts"
import type { StoredValue, Table } from "./kv/Table.ts"

/** The longest key with its space and the slash between them, in bytes. It is the limit of Workers KV. */
const KEY = 512
/** The largest content, in bytes. */
const LARGEST = 26_214_400
/** The shortest and the longest life, in milliseconds. */
const TTL = [60_000, 2 ** 43] as const
/** The most keys of a page. */
const KEYS = 1000

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const key = Fields.guard(`a text of 1 to ${KEY} bytes`, (value): value is string =>
  Fields.text(KEY).read(value) !== undefined && value !== "")

/** Checks the length of a key together with its space. */
const check = (key: string, job: Channel.Job): void => {
  const size = encoder.encode(`${job.space}/${key}`).length
  if (size > KEY) throw Fields.invalid(job, `its key has ${size} bytes with the name of the space, and the limit is ${KEY}`)
}

/** The value of a request: one of both. */
interface Given {
  readonly content: string | undefined
  readonly value: unknown
}

/** The stored form of the value of a request. */
const storedOf = async (key: string, { content, value }: Given, job: Channel.Job): Promise<StoredValue> => {
  if ((value === undefined) === (content === undefined)) throw Fields.invalid(job, "give either value or content")
  if (content === undefined) return { kind: "value", bytes: encoder.encode(encode(key, value, job)) }
  const bytes = await job.content(content)
  if (bytes === undefined) throw Channel.fail("io/absent", `the space has no content ${content}`, { errno: -2 })
  if (bytes.length > LARGEST) throw Fields.invalid(job, `its content has ${bytes.length} bytes, and the limit is ${LARGEST}`)
  return { kind: "bytes", bytes }
}

/** The text of a value. The completion of its `kv_get` has to contain it. */
const encode = (key: string, value: unknown, job: Channel.Job): string => {
  try {
    if (Operations.isInline({ key, found: true, value })) return Document.encode(value).text
  } catch (error) {
    throw Fields.invalid(job, (error as Error).message)
  }
  throw Fields.invalid(job, `its value and its key have more than ${Operations.INLINE} characters of text; give content`)
}

/** The result for a stored value. Bytes become content of the space. */
const resultOf = async (key: string, stored: StoredValue | undefined, job: Channel.Job): Promise<Channel.JobResult> => {
  if (stored === undefined) return { value: { key, found: false }, bytes: 0 }
  const bytes = stored.bytes.length
  if (stored.kind === "value") {
    return { value: { key, found: true, value: Document.read(Document.decode(decoder.decode(stored.bytes)), []) }, bytes }
  }
  const { address } = await job.keep(stored.bytes, LARGEST)
  return { value: { key, found: true, content: address, bytes }, bytes }
}

const operationsOf = (table: Table): Operations.Operations => ({
  kv_get: Operations.operation({
    repeatable: true,
    fields: { key },
    about: ({ key }) => JSON.stringify(key),
    execute: async ({ key }, job) => {
      check(key, job)
      return resultOf(key, await table.get(job.space, key), job)
    }
  }),
  kv_put: Operations.operation({
    repeatable: true,
    fields: {
      key,
      value: Fields.optional(Fields.any),
      content: Fields.optional(Fields.address),
      ttl: Fields.optional(Fields.count(...TTL))
    },
    about: ({ key }) => JSON.stringify(key),
    execute: async ({ key, ttl, ...given }, job) => {
      check(key, job)
      const stored = await storedOf(key, given, job)
      await table.put(job.space, key, { ...stored, ttl })
      return { value: { key, bytes: stored.bytes.length }, bytes: stored.bytes.length }
    }
  }),
  kv_delete: Operations.operation({
    repeatable: true,
    fields: { key },
    about: ({ key }) => JSON.stringify(key),
    execute: async ({ key }, job) => {
      check(key, job)
      await table.delete(job.space, key)
      return { value: { key }, bytes: 0 }
    }
  }),
  kv_list: Operations.operation({
    repeatable: true,
    fields: {
      prefix: Fields.or(Fields.text(KEY), ""),
      limit: Fields.or(Fields.count(1, KEYS), KEYS),
      cursor: Fields.optional(Fields.text(4 * KEY))
    },
    about: ({ prefix }) => JSON.stringify(prefix),
    execute: async (query, job) => {
      check(query.prefix, job)
      return { value: await table.list(job.space, query), bytes: 0 }
    }
  })
})

/** The provider with a clock, in milliseconds since 1970. */
export const provider = (now: () => number): Plugin.ChannelProvider => (settings) => {
  const { folder, host, id, root } = settings
  const namespaceField = Fields.guard("a KV namespace binding", NamespaceTable.isNamespace)
  const fields = {
    namespace: Fields.optional(namespaceField),
    file: Fields.optional(Fields.text(4096))
  } satisfies Fields.For<ChannelOptions["kv"]>
  const { file = `${folder}/${id}.kv.sqlite`, namespace } = Fields.options("kv", fields, settings)
  if (namespace === undefined && host === "workers") {
    throw Fields.refusal("kv", { id }, "on Workers it needs the option namespace, a KV namespace binding")
  }
  const table = namespace === undefined ? SqliteTable.make({ root, file, now }) : NamespaceTable.make(namespace)
  return {
    provider: namespace === undefined ? "sqlite" : "workers-kv",
    hosts: namespace === undefined ? ["node", "deno", "bun"] : ["node", "deno", "bun", "workers"],
    target: namespace === undefined ? file : "namespace",
    // A call of SQLite blocks the thread until the disk has it.
    shim: namespace === undefined,
    close: table.close,
    ...Operations.channel(operationsOf(table))
  }
}

export default Plugin.make({ name: "kv", version: "0.1.0", provides: { channels: { kv: provider(() => Date.now()) } } })
