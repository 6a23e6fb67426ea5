/**
 * Requests by their method and path, to one server.
 *
 * @module
 */
import type { Bytes } from "./Contract.ts"
import { bytes, type GiveToken, isStream, json, SECONDS, send, type Target, UNCHANGED } from "./Exchange.ts"
import { follow, type FollowOptions } from "./Follow.ts"
import * as Json from "./Json.ts"
import { host, type Platform } from "./Platform.ts"
import { failed, foreign } from "./RequestFailed.ts"

/**
 * Settings of a client.
 *
 * @category models
 * @since 0.2.0
 */
export interface Settings {
  /** The address of the server, such as `https://shop.example`; that of the page unless given. */
  readonly url?: string | undefined
  /**
   * The token, or a function that gives it for each request, such as `renewed`. It is called once more with a token that the server
   * refused (401), and the request is sent again if it gives another one.
   */
  readonly token?: string | GiveToken | undefined
  /** The form of values that JSON has none for: `rich` of `systole/rich`. Without it they are refused with `value/rich`. */
  readonly rich?: Json.Rich | undefined
  /** Replaces `fetch`, time or chance. */
  readonly platform?: Partial<Platform> | undefined
}

/** Settings of one request. */
export interface CallOptions {
  /** The time for which the server may wait, such as `"10s"`, or as seconds; up to 60 s: `Prefer: wait`. */
  readonly wait?: number | string | undefined
  /** Further headers, such as `range`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The seconds in which the answer has to be read, beside `wait`; 30 unless given. */
  readonly seconds?: number | undefined
  /** Whether the same request, sent again, does nothing more: it is repeated after a failure. By its method unless given. */
  readonly isSafe?: boolean | undefined
  /** Cancels the request. */
  readonly abort?: AbortSignal | undefined
}

/** The parts of a request, whichever it is. */
export interface AnyParts {
  readonly params?: object
  readonly query?: object
  readonly body?: unknown
}

/** Leaves out the parts of a request that are all left out. */
export type Rest<P, Options> = {} extends P ? readonly [parts?: P & Options] : readonly [parts: P & Options]

/** A client whose requests are texts. */
export interface Caller {
  readonly target: Target
  readonly rich: Json.Rich | undefined
  readonly send: (key: string, parts: AnyParts & CallOptions) => Promise<unknown>
  readonly stream: (key: string, parts: AnyParts & FollowOptions) => ReturnType<typeof follow>
}

/** A name in a path. A host would resolve one of dots, and the request would be another one. */
const segment = (name: unknown): string => {
  const text = String(name)
  if (text !== "." && text !== "..") return encodeURIComponent(text).replaceAll("%3A", ":")
  throw failed("address/invalid", `"${text}" is no name in a path. Give another one`)
}

/** The path of a request with its query. A name of a path may have colons, and `*` slashes, as they are. */
const pathOf = (key: string, { params, query }: AnyParts): string => {
  const given = new Map(Object.entries(params ?? {}))
  const path = key.slice(key.indexOf(" ") + 1).split("/").map((name) => {
    if (name === "*") return String(given.get("*")).split("/").map(segment).join("/")
    return name.startsWith(":") ? segment(given.get(name.slice(1))) : name
  })
  const texts = Object.entries(query ?? {}).filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)])
  return path.join("/") + (texts.length === 0 ? "" : `?${new URLSearchParams(texts)}`)
}

const isBytes = (body: unknown): body is Bytes =>
  body instanceof Uint8Array || body instanceof ArrayBuffer || body instanceof Blob || isStream(body)

/** The answer of a request: JSON, a text, or bytes. */
const read = async (response: Response): Promise<unknown> => {
  if (response.status === UNCHANGED) return undefined
  const type = response.headers.get("content-type") ?? ""
  if (type.startsWith("text/html")) throw foreign(response.status)
  return type.includes("json") ? json(response) : type.startsWith("text/") ? response.text() : bytes(response)
}

/** The seconds of the units of a wait. */
const units: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60 }

/** The whole seconds of a wait. The header has no shorter ones. */
const secondsOf = (wait: number | string | undefined): number | undefined => {
  if (typeof wait !== "string") return wait
  const [, digits, unit = ""] = /^(\d{1,6})(ms|s|m)$/.exec(wait) ?? []
  if (digits === undefined) throw failed("query/invalid", `The wait "${wait}" is no time. Write it like "10s"`)
  return Math.ceil(Number(digits) * (units[unit] ?? 1))
}

/** Makes the caller of a server. */
export const callerOf = ({ platform, rich, token, url = "" }: Settings): Caller => {
  const target = {
    url: url.endsWith("/") ? url.slice(0, -1) : url,
    token: typeof token === "string" ? () => token : token,
    platform: { ...host, ...platform }
  }
  return {
    target,
    rich,
    send: async (key, parts) => {
      const { abort, body, headers, seconds = SECONDS } = parts
      const wait = secondsOf(parts.wait)
      const method = key.slice(0, key.indexOf(" "))
      const { isSafe = method !== "POST" } = parts
      return send(target, {
        method,
        path: pathOf(key, parts),
        isSafe,
        abort,
        read,
        seconds: seconds + (wait ?? 0),
        headers: {
          ...wait === undefined ? {} : { prefer: `wait=${wait}` },
          ...body === undefined || isBytes(body) ? {} : { "content-type": "application/json" },
          ...headers
        },
        ...body === undefined ? {} : { body: isBytes(body) ? body : Json.textOf(body) }
      })
    },
    stream: (key, parts) => follow(target, pathOf(key, parts), parts)
  }
}
