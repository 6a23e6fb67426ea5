/**
 * The requests of the recorded script of HTTP.
 *
 * @module
 */

/** One request. `<name>` in its path, its headers and its body stands for a field that an earlier answer had. */
export interface Line {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Keeps fields of the answer: from `<name>`, the path of the field such as `handlings.0.value`. */
  readonly keeps: Readonly<Record<string, string>>
  /** The frames of a stream to wait for; 0 for an answer that ends. */
  readonly frames: number
}

/** The space of the script. */
export const S = "/v1/spaces/shop"

/** The rest of a request, and the use of its answer. */
interface Extra {
  readonly headers?: Readonly<Record<string, string>>
  readonly keeps?: Readonly<Record<string, string>>
  readonly frames?: number
}

const line = (
  [method, path]: readonly [method: string, path: string],
  body?: unknown,
  { frames = 0, headers = {}, keeps = {} }: Extra = {}
): Line => ({
  method,
  path,
  body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
  headers: { ...body === undefined ? {} : { "content-type": "application/json" }, ...headers },
  keeps,
  frames
})

export const get = (path: string, extra: Extra = {}): Line => line(["GET", path], undefined, extra)
export const post = (path: string, body?: unknown, extra: Extra = {}): Line => line(["POST", path], body, extra)
export const put = (path: string, body?: unknown, extra: Extra = {}): Line => line(["PUT", path], body, extra)
export const remove = (path: string, extra: Extra = {}): Line => line(["DELETE", path], undefined, extra)
export const patch = (path: string): Line => line(["PATCH", path])

/** Sends a signal and waits for its receipt. */
export const send = (body: unknown, extra: Extra = {}): Line => post(`${S}/signals`, body, { headers: { prefer: "wait=10" }, ...extra })

/** Follows a record or a cell through its first frame. */
export const follow = (path: string, headers: Readonly<Record<string, string>> = {}): Line =>
  get(path, { headers: { accept: "text/event-stream", ...headers }, frames: 1 })
