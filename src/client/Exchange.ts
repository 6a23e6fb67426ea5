/**
 * Requests and their answers: limits of time, repetition of what is safe, and problems as errors.
 *
 * @module
 */
import type { Platform } from "./Platform.ts"
import { failed, foreign, type Problem, RequestFailed } from "./RequestFailed.ts"

/** Gives the token of a request; another one than that which the server refused, if there is one. */
export type GiveToken = (refused?: string) => string | undefined | Promise<string | undefined>

/** The target of requests. */
export interface Target {
  /** The address of the server, without a slash at its end; empty for that of the page. */
  readonly url: string
  /** The token of each request. */
  readonly token: GiveToken | undefined
  readonly platform: Platform
}

/** A request. */
export interface Ask<A> {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: NonNullable<RequestInit["body"]>
  /** Whether the same request, sent again, does nothing more. */
  readonly isSafe: boolean
  /** Reads the answer. */
  readonly read: (response: Response) => A | Promise<A>
  /** The seconds in which the answer has to be read. */
  readonly seconds?: number | undefined
  readonly abort?: AbortSignal | undefined
}

/** The most attempts of a request, and the limits of the time between two, in milliseconds. */
const ATTEMPTS = 4
const SHORTEST = 250
const LONGEST = 30_000

/** The seconds in which an answer has to be read, beside those that a request asks the server to wait. */
export const SECONDS = 30

/** The signal of a request that nothing aborts. */
export const never = new AbortController().signal

/** The milliseconds before a further attempt: twice as long each time, and up to half of it by chance. */
export const backoff = (attempt: number, { random }: Pick<Platform, "random">, longest = LONGEST): number =>
  Math.min(longest, SHORTEST * 2 ** (attempt - 1)) * (0.5 + random() / 2)

/** Whether a body is sent while it is read, so that it is sent once. */
export const isStream = (body: unknown): body is ReadableStream => body instanceof ReadableStream

/** Whether a later attempt may end otherwise. */
export const isPassing = ({ status }: RequestFailed): boolean => status === 0 || status === 429 || (status >= 500 && status !== 501)

/**
 * Sends a request, and again what is safe to repeat. Rejects with {@link RequestFailed}, or with the reason of its `abort`.
 */
export const send = async <A>(target: Target, ask: Ask<A>): Promise<A> => {
  const { abort = never } = ask
  for (let attempt = 1;; attempt++) {
    try {
      return await once(target, ask, abort)
    } catch (error) {
      const again = error instanceof RequestFailed ? pause(error, ask, attempt) : undefined
      if (again === undefined) throw error
      await target.platform.sleep(Math.max(again, backoff(attempt, target.platform)), abort)
      abort.throwIfAborted()
    }
  }
}

/**
 * The least milliseconds before a further attempt; `undefined` for none. A request that the server refused since it is full did
 * nothing, so any may be repeated whose body is still there.
 */
const pause = (error: RequestFailed, { body, isSafe }: Ask<unknown>, attempt: number): number | undefined => {
  const { after = 0, status } = error
  const isAgain = isPassing(error) && !isStream(body) && (isSafe || status === 429)
  return isAgain && attempt < ATTEMPTS && after <= LONGEST ? after : undefined
}

/** One attempt. */
const once = async <A>({ platform, token, url }: Target, ask: Ask<A>, abort: AbortSignal): Promise<A> => {
  abort.throwIfAborted()
  const { body, headers, method, path, read, seconds = SECONDS } = ask
  const late = new AbortController()
  const over = new AbortController()
  const signal = AbortSignal.any([abort, late.signal])
  void platform.sleep(seconds * 1000, over.signal).then(() => over.signal.aborted || late.abort())
  try {
    const answered = async (bearer: string | undefined): Promise<Response> => {
      abort.throwIfAborted()
      return platform.fetch(url + path, {
        method,
        // A redirected request may lose its token or its body, or bring its body to another server.
        redirect: "manual",
        headers: { ...bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }, ...headers },
        signal,
        ...body === undefined ? {} : { body },
        // Hosts refuse a stream as a body without it.
        ...isStream(body) ? { duplex: "half" } : {}
      })
    }
    const bearer = await bearerOf(token, signal)
    let response = await answered(bearer)
    if (response.status === 401 && bearer !== undefined && !isStream(body)) {
      // It may have ended before its time, such as with a rotation.
      const other = await bearerOf(token, signal, bearer)
      if (other !== undefined && other !== bearer) {
        await response.body?.cancel()
        response = await answered(other)
      }
    }
    if (!response.ok && response.status !== UNCHANGED) throw await refusal(response)
    return await read(response)
  } catch (error) {
    if (error instanceof RequestFailed) throw error
    abort.throwIfAborted()
    if (!late.signal.aborted) throw failed("server/unreachable", "The server does not answer. Check its address, and that it runs", error)
    throw failed("server/timeout", `The server gave no whole answer within ${seconds} seconds. Its work may have been done`)
  } finally {
    over.abort()
  }
}

/** The status for a request whose `if-none-match` names the value. Its answer has no body. */
export const UNCHANGED = 304

/** The token of a request, unless that ends before. A function that fails to renew it may do so later. */
const bearerOf = async (token: Target["token"], signal: AbortSignal, refused?: string): Promise<string | undefined> => {
  let stop = (): void => {}
  const ended = () =>
    new Promise<never>((_, reject) => {
      signal.addEventListener("abort", stop = () => reject(signal.reason as Error))
    })
  try {
    return token === undefined ? undefined : await Promise.race([token(refused), ended()])
  } catch (error) {
    if (error instanceof RequestFailed) throw error
    signal.throwIfAborted()
    throw failed("token/failed", "The function `token` of connect() threw an error, which is the cause of this one", error)
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

/** The failure that an answer tells. */
const refusal = async (response: Response): Promise<RequestFailed> => {
  const { headers, status, type } = response
  if (type === "opaqueredirect" || (status > 300 && status < 400)) {
    const detail = "The server sends the request on to another place. Give connect() the address of the server itself"
    return new RequestFailed({ code: "server/redirect", status: 302, detail })
  }
  const text = await response.text().catch(() => "")
  const seconds = Number(headers.get("retry-after") ?? NaN)
  const more = { location: headers.get("location"), ...seconds >= 0 ? { after: seconds * 1000 } : {} }
  return new RequestFailed(problemOf(text) ?? foreign(status).problem, more)
}

const problemOf = (text: string): Problem | undefined => {
  try {
    const problem = JSON.parse(text) as Problem | null
    return typeof problem?.code === "string" ? problem : undefined
  } catch {
    return undefined
  }
}

/** Reads the JSON of an answer. */
export const json = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    throw foreign(response.status)
  }
}

/** Reads the bytes of an answer. */
export const bytes = async (response: Response): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(await response.arrayBuffer())
