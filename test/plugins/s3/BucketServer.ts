/**
 * A bucket in memory behind a local server, which checks each signature with its own code.
 *
 * @module
 */
import { createHash, createHmac } from "node:crypto"
import type { ServerResponse } from "node:http"
import type { LocalServer, LocalServers, Seen } from "../http/LocalServer.ts"

/** The account of the tests. */
export const account = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" }

const hmac = (key: Buffer | string, text: string): Buffer => createHmac("sha256", key).update(text).digest()
const hex = (text: string): string => createHash("sha256").update(text).digest("hex")

/** The signature of a canonical request, as the documentation of AWS describes it. */
const signatureOf = (canonical: string, { date, scope }: { readonly date: string; readonly scope: string }): string => {
  const key = scope.split("/").reduce<Buffer | string>((secret, part) => hmac(secret, part), `AWS4${account.secretAccessKey}`)
  return hmac(key as Buffer, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hex(canonical)}`).toString("hex")
}

const canonicalQuery = (query: URLSearchParams): string =>
  [...query].filter(([name]) => name !== "X-Amz-Signature").map((pair) => pair.map(encodeURIComponent).join("=")).sort().join("&")

/** The code of the refusal of a request; `undefined` for a valid one. */
const refusalOf = ({ body, headers, method, url }: Seen): string | undefined => {
  const { pathname, searchParams } = new URL(url, "http://host")
  const query = canonicalQuery(searchParams)
  const header = /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)/.exec(headers.authorization ?? "")
  const presigned = searchParams.get("X-Amz-Credential")?.replace(/^[^/]+\//, "") ?? ""
  const [, scope = presigned, names = "host", given = searchParams.get("X-Amz-Signature")] = header ?? []
  const digest = header === null ? "UNSIGNED-PAYLOAD" : String(headers["x-amz-content-sha256"])
  if (header !== null && digest !== hex(body)) return "XAmzContentSHA256Mismatch"
  const date = String(headers["x-amz-date"] ?? searchParams.get("X-Amz-Date"))
  const signed = names.split(";").map((name) => `${name}:${String(headers[name])}\n`).join("")
  const canonical = [method, pathname, query, signed, names, digest].join("\n")
  return signatureOf(canonical, { date, scope }) === given ? undefined : "SignatureDoesNotMatch"
}

/** A stored object. */
interface Stored {
  readonly body: string
  readonly type: string
}

const fail = (response: ServerResponse, status: number, code: string): void => {
  response.writeHead(status, { "content-type": "application/xml" }).end(`<Error><Code>${code}</Code></Error>`)
}

/** The objects of a page: fewer than S3 has, so that lists have several. */
const PAGE = 3

/** Answers with a page of objects, all of the same age. */
const list = (
  objects: ReadonlyMap<string, Stored>,
  { pathname, searchParams }: Pick<URL, "pathname" | "searchParams">,
  response: ServerResponse
): void => {
  const keys = [...objects.keys()].map((path) => decodeURIComponent(path.slice(pathname.length))).sort()
  const after = searchParams.get("start-after") ?? ""
  const found = keys.filter((key) => key.startsWith(searchParams.get("prefix") ?? "") && key > after)
  const rows = found.slice(0, PAGE).map((key) =>
    `<Contents><Key>${key.replaceAll("&", "&amp;")}</Key><LastModified>2013-05-24T00:00:00.000Z</LastModified><Size>1</Size></Contents>`)
  response.writeHead(200, { "content-type": "application/xml" })
  response.end(`<ListBucketResult><IsTruncated>${found.length > PAGE}</IsTruncated>${rows.join("")}</ListBucketResult>`)
}

/** Deletes the objects of a document, and answers with those that are locked. */
const deleteAll = (objects: Map<string, Stored>, { body, headers, url }: Seen, response: ServerResponse): void => {
  const { pathname } = new URL(url, "http://host")
  if (headers["content-md5"] !== createHash("md5").update(body).digest("base64")) return fail(response, 400, "BadDigest")
  const keys = [...body.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) =>
    key.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code))))
  if (keys.length === 0 || keys.length > 1000) return fail(response, 400, "MalformedXML")
  const kept = keys.filter((key) => {
    const path = `${pathname}${key.split("/").map(encodeURIComponent).join("/")}`
    if (objects.get(path)?.type === "locked") return true
    return !objects.delete(path) && key.endsWith("/unknown")
  })
  const codeOf = (key: string): string => key.endsWith("/unknown") ? "NoSuchKey" : "AccessDenied"
  const errors = kept.map((key) => `<Error><Key>${key}</Key><Code>${codeOf(key)}</Code></Error>`)
  response.writeHead(200, { "content-type": "application/xml" }).end(`<DeleteResult>${errors.join("")}</DeleteResult>`)
}

const methods: Readonly<Record<string, (objects: Map<string, Stored>, seen: Seen, response: ServerResponse) => void>> = {
  PUT: (objects, { body, headers, url }, response) => {
    objects.set(new URL(url, "http://host").pathname, { body, type: headers["content-type"] ?? "" })
    response.writeHead(200, { etag: "\"1\"" }).end()
  },
  POST: deleteAll,
  DELETE: (objects, { url }, response) => {
    objects.delete(url)
    response.writeHead(204).end()
  },
  GET: (objects, { method, url }, response) => {
    const { pathname, searchParams } = new URL(url, "http://host")
    if (searchParams.get("list-type") === "2") return list(objects, { pathname, searchParams }, response)
    const found = objects.get(pathname)
    if (found === undefined) return fail(response, 404, "NoSuchKey")
    response.writeHead(200, { "content-type": found.type, "content-length": Buffer.byteLength(found.body), etag: "\"1\"" })
    response.end(method === "HEAD" ? undefined : found.body)
  }
}

/** Starts a bucket. Its objects are shown by their paths. */
export const start = async (servers: LocalServers): Promise<LocalServer & { readonly objects: Map<string, Stored> }> => {
  const objects = new Map<string, Stored>()
  const server = await servers.http((seen, response) => {
    const refusal = refusalOf(seen)
    if (refusal !== undefined) return fail(response, 403, refusal)
    methods[seen.method === "HEAD" ? "GET" : seen.method]?.(objects, seen, response)
  })
  return { ...server, objects }
}
