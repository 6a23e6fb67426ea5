/**
 * A content store in an R2 bucket, through its binding.
 *
 * @module
 */
import type { ContentOptions, ContentStore, Plugin } from "systole"
import * as Fields from "../channel/Fields.ts"
import * as Deadline from "../http/Deadline.ts"
import * as BucketOptions from "../s3/BucketOptions.ts"
import * as ContentFields from "./ContentFields.ts"

/** The used part of an R2 binding. */
export interface R2Bucket {
  readonly put: (key: string, bytes: Uint8Array) => Promise<unknown>
  readonly get: (key: string) => Promise<{ readonly arrayBuffer: () => Promise<ArrayBuffer> } | null>
  readonly delete: (keys: Array<string>) => Promise<void>
  readonly list: (query: { readonly prefix: string; readonly startAfter?: string; readonly limit: number }) => Promise<{
    readonly objects: ReadonlyArray<{ readonly key: string; readonly uploaded: Date }>
    readonly truncated: boolean
  }>
}

/** Tests whether a value is an R2 binding. */
const isBucket = (value: unknown): value is R2Bucket =>
  typeof value === "object" && value !== null &&
  ["put", "get", "delete", "list"].every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === "function")

const optionFields = {
  binding: Fields.guard("the name of an R2 binding", (value): value is string =>
    typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(value)),
  prefix: BucketOptions.fields.prefix,
  timeoutMs: BucketOptions.fields.timeoutMs,
  maxBytes: ContentFields.maxBytes
} satisfies Fields.For<Extract<ContentOptions["bucket"], { readonly binding: string }>>

/**
 * The content store in a bound bucket.
 *
 * @throws InvalidPlugin
 */
export const make = (settings: Plugin.ContentSettings): ContentStore => {
  const { binding, maxBytes, prefix, timeoutMs } = Fields.options("bucket", optionFields, settings)
  const bucket = settings.bindings[binding]
  if (!isBucket(bucket)) {
    const problem = `its binding "${binding}" is no R2 bucket of this Worker. Add to wrangler.jsonc: ` +
      `"r2_buckets": [{ "binding": "${binding}", "bucket_name": "NAME" }]. Other hosts have no bindings: give endpoint and bucket`
    throw Fields.refusal("bucket", settings, problem)
  }
  // A binding cannot cancel an operation, so one that hangs is left behind.
  const within = <A>(operation: () => Promise<A>) => Deadline.run(timeoutMs, operation)
  return {
    place: `the R2 bucket of the binding ${binding}`,
    maxBytes,
    put: async (key, bytes) => void await within(() => bucket.put(`${prefix}${key}`, bytes)),
    get: (key) => within(async () => {
      const object = await bucket.get(`${prefix}${key}`)
      return object === null ? undefined : new Uint8Array(await object.arrayBuffer())
    }),
    delete: (keys) => within(() => bucket.delete(keys.map((key) => `${prefix}${key}`))),
    list: (below, after) => within(async () => {
      const start = after === "" ? {} : { startAfter: `${prefix}${after}` }
      const { objects, truncated } = await bucket.list({ prefix: `${prefix}${below}`, limit: ContentFields.PAGE, ...start })
      const listed = objects.map(({ key, uploaded }) => ({ key: key.slice(prefix.length), modified: uploaded.getTime() }))
      return { objects: listed, more: truncated }
    })
  }
}
